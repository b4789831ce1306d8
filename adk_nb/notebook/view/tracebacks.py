"""An exception's traceback as a person wants it: their own lines, the last one last, and the whole of it on request."""

from __future__ import annotations

import site
import sysconfig
import traceback
from pathlib import Path

_OURS = str(Path(__file__).resolve().parents[2])
_FOREIGN = tuple({sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def short_traceback(error: BaseException) -> str:
    """Return the frames that lie in a person's own code, the last one last; the error itself stands above it.

    Libraries' frames and ours are left out; without any own frame there is nothing to say, and the text is empty.
    """
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own(frame.filename)]
    if not own:
        return ""
    return "\n".join(line for frame in own[-6:] for line in _frame_lines(frame))


def full_traceback(error: BaseException, limit: int = 20_000) -> str:
    """Return the whole traceback, causes included; of a very long one the end."""
    text = "".join(traceback.format_exception(error))
    return text if len(text) <= limit else "…" + text[-limit:]


def is_own(filename: str) -> bool:
    """Say whether a file is the person's: not Python's, not a package's, not ours.

    Example:
        >>> is_own("/tmp/ipykernel_42/123.py"), is_own(traceback.__file__), is_own("<frozen importlib>")
        (True, False, False)
    """
    if filename.startswith("<") and not filename.startswith(("<ipython", "<stdin", "<string", "<doctest")):
        return False
    packages = (*_FOREIGN, *site.getsitepackages(), _OURS)
    return not filename.startswith(packages)


def _frame_lines(frame: traceback.FrameSummary) -> list[str]:
    is_cell = "ipykernel_" in frame.filename or frame.filename.startswith("<ipython")
    where = "notebook cell" if is_cell else frame.filename
    return [f"{where}, line {frame.lineno}, in {frame.name}", *([f"    {frame.line}"] if frame.line else [])]
