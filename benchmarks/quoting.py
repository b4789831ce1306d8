"""Write all files that tell what was measured, the README's quotation among them."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.results import Results
from benchmarks.table import markdown, quoted

BEGIN, END = "<!-- Written by python -m benchmarks.run. -->", "<!-- End of what it wrote. -->"


def write(results: Results, directory: Path, readme: Path | None) -> None:
    """Write `results.json` and `results.md` into a directory, and the quoted rows into a README."""
    results.save(directory)
    (directory / "results.md").write_text(markdown(results), encoding="utf-8")
    if readme is not None:
        readme.write_text(with_quotation(readme.read_text(encoding="utf-8"), quoted(results)), encoding="utf-8")


def with_quotation(text: str, table: str) -> str:
    """Return a document with a table in place of the one that it quotes.

    Raises:
        ValueError: the document has no place for it.
    """
    found = re.search(f"{re.escape(BEGIN)}\n.*?{re.escape(END)}", text, re.DOTALL)
    if found is None:
        raise ValueError(f"The document has no place for the table: write {BEGIN!r} and {END!r} around it.")
    return f"{text[: found.start()]}{BEGIN}\n\n{table}\n{END}{text[found.end() :]}"
