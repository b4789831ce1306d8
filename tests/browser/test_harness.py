"""What the fixtures of this folder promise, shown on plain ipywidgets."""

from __future__ import annotations

from tests.browser.conftest import OpenNotebook
from tests.browser.lab import Host

BUTTON = [
    "import ipykernel, ipywidgets as w\n"
    "text, button, label = w.Text(description='Name'), w.Button(description='Greet'), w.Label('nobody')\n"
    "def greet(_):\n    label.value = f'hello {text.value}'\n"
    "button.on_click(greet)",
    "w.VBox([text, button, label])",
    "print('kernel', ipykernel.__version__)",
]


def test_click_reaches_the_kernel(open_notebook: OpenNotebook, host: Host) -> None:
    """A click after the cell has ended reaches its callback and what that sets is shown, on both kernels."""
    nb = open_notebook(BUTTON, host)
    nb.run_all()
    nb.wait_text("kernel 6.29." if host.kernel == "ipykernel6" else "kernel 7.", cell=2)
    nb.wait_text("nobody", cell=1)
    nb.fill("Name", "Ada")
    nb.click("Greet")
    nb.wait_text("hello Ada", cell=1)
    nb.assert_clean()


def test_every_kind_of_field(open_notebook: OpenNotebook) -> None:
    """Fields are found by label, in a box of several, and what is set there arrives in the kernel."""
    nb = open_notebook(
        [
            "import ipywidgets as w\n"
            "fields = [w.Text(description='Name'), w.IntText(description='Age'), w.Textarea(description='Note'),\n"
            "          w.Dropdown(description='Kind', options=['a', 'b']), w.Checkbox(False, description='Sure'),\n"
            "          w.IntSlider(description='Size', max=50), w.Text(placeholder='City')]\n"
            "w.VBox(fields)"
        ]
    )
    nb.run_all()
    nb.fill("Name", "Ada")
    nb.fill("Age", 36)
    nb.fill("Note", "two\nlines")
    nb.choose("Kind", "b")
    nb.tick("Sure")
    nb.slide("Size", 7)
    nb.fill("City", "London")
    assert nb.run_code("[f.value for f in fields]") == "['Ada', 36, 'two\\nlines', 'b', True, 7, 'London']"
    nb.assert_clean()


def test_themes_and_screenshots(open_notebook: OpenNotebook) -> None:
    """Lab can be switched to dark and back, and a screenshot of either can be kept."""
    nb = open_notebook(BUTTON)
    nb.run_all()
    for theme in ("dark", "light"):
        nb.theme(theme)
        assert nb.screenshot(f"harness-{theme}").stat().st_size > 10_000
    assert nb.screenshot("harness-cell", cell=1).exists()


def test_errors_are_seen(open_notebook: OpenNotebook) -> None:
    """A cell that raises stops the rest, and its error can be read."""
    nb = open_notebook(["print('before')", "1 / 0", "print('after')"])
    nb.run_all()
    assert nb.errors() == ["ZeroDivisionError: division by zero"]
    assert nb.text(0).strip() == "before"
    assert nb.text(2) == ""


def test_saved_notebook_reopens(open_notebook: OpenNotebook) -> None:
    """A saved notebook holds its outputs and shows them again when its page is loaded anew; its kernel runs on."""
    nb = open_notebook(["x = 41", "print('saved', x)"])
    nb.run_all()
    assert nb.save().cells[1].outputs[0].text == "saved 41\n"
    nb.reopen()
    nb.wait_text("saved 41", cell=1)
    assert nb.run_code("print(x + 1)").strip() == "42"
    nb.restart_kernel()
    assert "NameError" in nb.run_code("x")
