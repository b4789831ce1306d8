"""Who looks at this process: a notebook with a person, a notebook run by a program, or nobody."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, Literal

FrontEnd = Literal["none", "static", "live", "isolated"]
"""`none`: no notebook. `static`: a notebook that a program runs, so nobody clicks. `live`: widgets and outputs share a
page. `isolated`: outputs are kept apart from widgets, see `isolates_outputs`."""


def front_end() -> FrontEnd:
    """Return who looks on, as far as a kernel can know.

    `ADK_NB_HEADLESS=1` says that nobody does, `ADK_NB_HEADLESS=0` that somebody does. Otherwise a request that may not
    ask for input, as nbclient, nbconvert and papermill send them, means that a program runs the notebook.
    """
    shell = _shell()
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return "none"
    said = os.environ.get("ADK_NB_HEADLESS", "")
    if said not in ("", "0") or (said == "" and not _may_ask(kernel)):
        return "static"
    return "isolated" if isolates_outputs() else "live"


def isolates_outputs() -> bool:
    """Say whether the host keeps outputs apart from widgets, so that only a widget's view can reach the kernel.

    Colab puts each output into a frame of its own, and VS Code loads its widget manager with the first widget view;
    both as documented, not measured here.
    """
    return "google.colab" in sys.modules or "__vsc_ipynb_file__" in getattr(_shell(), "user_ns", ())


def cell_count() -> int | None:
    """Return the number of the cell that runs, `None` outside a notebook."""
    shell = _shell()
    return None if shell is None else int(shell.execution_count)


def at_cell_end(act: Callable[[], None]) -> Callable[[], None]:
    """Do something at the end of each cell, while what is displayed still belongs to that cell.

    Returns:
        What ends this.
    """
    shell = _shell()
    if shell is None:
        return lambda: None

    def ended(_result: object) -> None:
        act()

    shell.events.register("post_run_cell", ended)
    return functools.partial(shell.events.unregister, "post_run_cell", ended)


def _shell() -> Any:
    # A script that never loaded IPython doesn't load it for this.
    module = sys.modules.get("IPython.core.getipython")
    return None if module is None else module.get_ipython()


def _may_ask(kernel: Any) -> bool:
    get_parent = getattr(kernel, "get_parent", None)
    parent = get_parent() if callable(get_parent) else {}
    content = parent.get("content", {}) if isinstance(parent, dict) else {}
    return bool(content.get("allow_stdin", True))
