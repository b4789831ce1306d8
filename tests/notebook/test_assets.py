"""The front end's modules, as one script that every output carries."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from adk_nb.notebook import assets
from adk_nb.notebook.assets import script

MODULES = Path(assets.__file__).parent / "static" / "run"


def test_modules_become_one() -> None:
    """A module with imports comes with all that it needs, each once and before its use; nothing is left to fetch."""
    text = script("run/main")
    assert not re.search(r"^import\b", text, re.MULTILINE)
    assert text.count("export default") == 1
    assert text.index("function html(") < text.index("class RunView") < text.index("export default")


def test_names_of_joined_modules_differ() -> None:
    """No two modules of one script have the same name at their top, where one would take the other's place."""
    declared = re.compile(r"^(?:export )?(?:async )?(?:class|function|const|let) (\w+)", re.MULTILINE)
    names = Counter(
        name for path in MODULES.glob("*.js") for name in declared.findall(path.read_text(encoding="utf-8"))
    )
    assert [name for name, count in names.items() if count > 1] == []
