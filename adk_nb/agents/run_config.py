"""ADK's place for `RunConfig`."""

from adk_nb.workflow.run_config import RunConfig, ToolThreadPoolConfig

__all__ = ["RunConfig", "ToolThreadPoolConfig"]
