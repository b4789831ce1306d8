"""`%load_ext adk_nb`: the line magic `%adk`, for looking at stored runs without a line of Python.

There is no `%%adk_node`: a function that a cell defines is a node already, and stays one when it moves to a file.
"""

from __future__ import annotations

import argparse
import shlex
from typing import Any, NoReturn

from adk_nb.errors import ConfigurationError
from adk_nb.notebook.running.open_run import open_run
from adk_nb.notebook.running.runs import runs

_USE = "%adk runs [--status STATUS] [--root NAME] [--limit N], or %adk open SESSION [ROOT] [--run INVOCATION]"


class _Arguments(argparse.ArgumentParser):
    """A parser whose error is a sentence, not the end of the kernel."""

    def error(self, message: str) -> NoReturn:
        raise ConfigurationError(f"%adk can't be read: {message}; write {_USE}.")


def _arguments() -> _Arguments:
    parser = _Arguments(prog="%adk", add_help=False)
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("runs", add_help=False)
    listing.add_argument("--status")
    listing.add_argument("--root")
    listing.add_argument("--limit", type=int, default=20)
    opening = verbs.add_parser("open", add_help=False)
    opening.add_argument("session")
    opening.add_argument("root", nargs="?")
    opening.add_argument("--run")
    return parser


def adk(line: str, names: dict[str, Any]) -> Any:
    """Do what the line of an `%adk` magic asks: list stored runs, or open one.

    Args:
        line: `runs` or `open SESSION [ROOT]`, with their options.
        names: The notebook's variables, among which ROOT is found: the workflow or agent that goes on with the run.

    Returns:
        The runs as a DataFrame, or the `Run`; `one = %adk open SESSION ROOT` keeps it.

    Raises:
        ConfigurationError: the line can't be read, or ROOT isn't defined.

    Example:
        >>> adk("shut", {})
        Traceback (most recent call last):
        ...
        adk_nb.errors...ConfigurationError: %adk can't be read: ... write %adk runs ...
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ConfigurationError(f"%adk can't be read: {str(error).lower()}; write {_USE}.") from None
    asked = _arguments().parse_args(words)
    if asked.verb == "runs":
        return runs(status=asked.status, root=asked.root, limit=asked.limit)
    if asked.root is not None and asked.root not in names:
        raise ConfigurationError(
            f"%adk open was asked to go on with {asked.root!r}, and this notebook has no variable of that name; run "
            f"the cell that defines it, or leave it out to look at the run."
        )
    root = None if asked.root is None else names[asked.root]
    return open_run(asked.session, root, invocation_id=asked.run)


def load_ipython_extension(shell: Any) -> None:
    """Give a notebook the magic `%adk`; IPython calls this for `%load_ext adk_nb`."""

    def magic(line: str) -> Any:
        return adk(line, shell.user_ns)

    magic.__doc__ = f"List stored runs or open one: {_USE}."
    shell.register_magic_function(magic, "line", "adk")
