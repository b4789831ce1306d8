"""Where adk_nb differs and is wrong: what is still to be mended. It is empty when the work is done."""

from __future__ import annotations

from tests.parity.differences.difference import Difference

KNOWN_BUGS: list[Difference] = []
