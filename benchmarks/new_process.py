"""A new process that goes on with a run which another one began, and prints the CPU milliseconds it took.

The import of the engine and the building of the graph aren't counted, but opening the store and everything else is.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import sys
import time
from pathlib import Path

from benchmarks.case import Case, Resumable


async def go_on(case: Case, size: int, directory: Path, waiting: str) -> float:
    """Answer the run that waits, and return how many CPU seconds that took."""
    async with case(size, directory) as work:
        assert isinstance(work, Resumable)  # only such cases come here
        started_s = time.process_time()
        outcome = await work.go_on(waiting)
        used_s = time.process_time() - started_s
    if outcome.output != size:
        raise RuntimeError(f"output {size} was expected, {outcome.output!r} came")
    return used_s


def main() -> None:
    """Go on with the run named on the command line and print the time."""
    module, case, size, directory, waiting = sys.argv[1:]
    logging.disable(logging.WARNING)
    build = importlib.import_module(module).CASES[case]
    print(asyncio.run(go_on(build, int(size), Path(directory), waiting)) * 1e3)


if __name__ == "__main__":
    main()
