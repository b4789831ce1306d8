"""A fresh process that imports one engine, runs one case of one node, and prints the CPU milliseconds it took.

The clock starts before anything is imported, so this file imports nothing heavier than an engine would anyway.
"""

import time

STARTED_S = time.process_time()

import asyncio  # noqa: E402
import importlib  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402


async def first_run(module: str, case: str, directory: Path) -> None:
    """Import the engine and run the case once."""
    build = importlib.import_module(module).CASES[case]
    async with build(1, directory) as run:
        outcome = await run()
    if outcome.output != 1:
        raise RuntimeError(f"{module} {case}: output 1 was expected, {outcome.output!r} came")


def main() -> None:
    """Run the case named on the command line and print its CPU time."""
    module, case = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(first_run(module, case, Path(directory)))
        print((time.process_time() - STARTED_S) * 1e3)


if __name__ == "__main__":
    main()
