"""What holds for every test: no key of the person who runs it, and no silent skip of what needs a program."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from make import find_chromium

# A key in the environment would make tests ask a real model. Kernels that tests start inherit this environment.
for _name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "ADK_NB_SESSIONS"):
    os.environ.pop(_name, None)

# Rules are about values; how fast a busy machine draws and checks them is none.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run browser tests last: they are the slow ones, and the quick ones say sooner what broke."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail, and never skip, a test whose program is missing."""
    if item.get_closest_marker("exe") and shutil.which("dot") is None:
        pytest.fail("needs Graphviz' dot: install graphviz, or leave these tests out with -m 'not exe'", pytrace=False)
    if item.get_closest_marker("browser") and find_chromium() is None:
        pytest.fail("needs Chromium: install it, or leave these tests out with -m 'not browser'", pytrace=False)


@pytest.fixture(autouse=True)
def no_model_is_left_switched_on() -> Iterator[None]:
    """Whatever a test, or a document's block, made all agents ask ends with it."""
    yield
    use = sys.modules.get("adk_nb.models.use")
    if use is not None:
        use.use_model(None)
