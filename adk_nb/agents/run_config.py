"""ADK's place for `RunConfig`."""

from adk_nb.workflow.run_config import RunConfig, StreamingMode, ToolThreadPoolConfig

__all__ = ["RunConfig", "StreamingMode", "ToolThreadPoolConfig"]
