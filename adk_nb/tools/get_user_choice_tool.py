"""`get_user_choice`: a tool by which a model lets the person choose one of several options."""

from __future__ import annotations

from adk_nb.tools.long_running_tool import LongRunningFunctionTool


def _get_user_choice(options: list[str]) -> None:
    """Show the user some options and wait until one of them is chosen."""


_get_user_choice.__name__ = "get_user_choice"

get_user_choice = LongRunningFunctionTool(_get_user_choice)
get_user_choice_tool = get_user_choice
