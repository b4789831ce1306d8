"""Run a graph of nodes."""

from adk_nb.errors import NodeTimeoutError
from adk_nb.workflow.build import node
from adk_nb.workflow.functions import FunctionNode
from adk_nb.workflow.graph import Edge
from adk_nb.workflow.limits import Limits
from adk_nb.workflow.nodes import DEFAULT_ROUTE, START, BaseNode, JoinNode
from adk_nb.workflow.parallel import Node
from adk_nb.workflow.retry import RetryConfig
from adk_nb.workflow.workflow import Workflow

__all__ = [
    "DEFAULT_ROUTE",
    "START",
    "BaseNode",
    "Edge",
    "FunctionNode",
    "JoinNode",
    "Limits",
    "Node",
    "NodeTimeoutError",
    "RetryConfig",
    "Workflow",
    "node",
]
