#!/usr/bin/env python3
"""Set up this checkout and use it, with nothing but Python installed.

python3 make.py lab              opens JupyterLab on the first notebook
python3 make.py lab --headless   runs that notebook without a browser and prints what it shows
python3 make.py test             format, lint, types and all tests, browser tests included

The first call makes `.venv` beside this file; later ones reuse it until `pyproject.toml` changes. Only the standard
library is imported, and the syntax is that of Python 3.6, so that an old Python can still say which one is needed.
"""

import argparse
import glob
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent
FIRST_NOTEBOOK = ROOT / "notebooks" / "01_support_inbox.ipynb"
TESTED = ((3, 11), (3, 12), (3, 13))
VENV = ROOT / ".venv"
OLD_KERNEL_VENV = ROOT / ".venv-ipykernel6"
OLD_KERNEL = "ipykernel==6.29.5"
CHROMIUM_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
POSTGRES_PROGRAMS = "/usr/lib/postgresql/*/bin"
CHECKS = (
    ("format", ["ruff", "format", "--check", "."], "python3 make.py format"),
    ("lint", ["ruff", "check", "."], "the lines above"),
    ("types", ["mypy"], "the lines above"),
)


class Unable(Exception):
    """What could not be done and what to do about it, in one sentence."""


def say(text: str) -> None:
    """Print at once, so that lines stay in order with those of the programs started."""
    print(text, flush=True)


def run(command: "list[str]", **options: object) -> int:
    """Run a program in the checkout with a clean Python path; its exit code."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    env.update(options)  # type: ignore[arg-type]  # every option is a variable's text
    return subprocess.run(command, cwd=str(ROOT), env=env).returncode


def python_of(venv: pathlib.Path) -> pathlib.Path:
    """Where a virtual environment keeps its Python."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def probe(python: str) -> "tuple[int, int, bool] | None":
    """Major and minor version of a Python and whether it can make environments; None if it does not start."""
    code = "import sys, importlib.util as u; print(*sys.version_info[:2], int(u.find_spec('ensurepip') is not None))"
    try:
        done = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = done.stdout.split()
    if done.returncode or len(words) != 3:
        return None
    return int(words[0]), int(words[1]), words[2] == b"1"


def candidates() -> "list[str]":
    """Pythons worth a try: this one, those on the PATH, pyenv's."""
    named = [shutil.which("python%d.%d" % version) for version in reversed(TESTED)]
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    kept = [sorted(glob.glob("%s/versions/%d.%d.*/bin/python" % ((pyenv, *v)))) for v in reversed(TESTED)]
    return [sys.executable] + [path for path in named if path] + [path for paths in kept for path in reversed(paths)]


def find_python(wanted: "str | None") -> str:
    """A Python of a tested version that can make environments; adds Debian's `venv` package if need be."""
    paths = [wanted] if wanted else candidates()
    found = [(path, probe(path)) for path in paths]
    fitting = [(path, facts) for path, facts in found if facts and facts[:2] in TESTED]
    newer = [(path, facts) for path, facts in found if facts and facts[:2] > TESTED[-1]]
    if newer and not fitting:
        say("Python %d.%d is newer than those the tests run on (3.11 to 3.13); trying it." % newer[0][1][:2])
        fitting = newer
    if not fitting:
        seen = ", ".join(sorted({"%d.%d" % facts[:2] for _, facts in found if facts})) or "none"
        raise Unable(
            "Python 3.11, 3.12 or 3.13 is needed and was not found (found: %s); install one, or name it with "
            "--python PATH." % seen
        )
    path, facts = fitting[0]
    if not facts[2]:
        path, facts = with_ensurepip(fitting)
    return path


def with_ensurepip(fitting: "list[tuple[str, tuple[int, int, bool]]]") -> "tuple[str, tuple[int, int, bool]]":
    """The first of the Pythons after installing its `venv` module; else the first other one that has it."""
    path, facts = fitting[0]
    package = "python%d.%d-venv" % facts[:2]
    if install_system_packages([package]):
        again = probe(path)
        if again and again[2]:
            return path, again
    for other, other_facts in fitting[1:]:
        if other_facts[2]:
            return other, other_facts
    raise Unable(
        "%s has no `venv` module; install it (Debian, Ubuntu: apt-get install %s) and run this again." % (path, package)
    )


def install_system_packages(packages: "list[str]") -> bool:
    """Install Debian packages as root or through sudo; False where that can't be done."""
    if not shutil.which("apt-get"):
        return False
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not is_root and not shutil.which("sudo"):
        return False
    say("Installing %s from the system's packages" % ", ".join(packages))
    apt = ([] if is_root else ["sudo"]) + ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    # A failed update is no reason to stop: an old list may still name a package that can be had.
    subprocess.run([*apt, "update"])
    install = [*apt, "install", "-y", "--no-install-recommends", *packages]
    return subprocess.run(install, stdout=subprocess.DEVNULL).returncode == 0


def fingerprint(*parts: str) -> str:
    """Changes when an environment must be brought up to date."""
    text = "\n".join((*parts, str(ROOT), (ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    return hashlib.sha256(text.encode()).hexdigest()


def set_up(venv: pathlib.Path, extra: str, requirements: "list[str]", wanted: "str | None") -> pathlib.Path:
    """Make or update an environment that holds this checkout, editable; its Python.

    One that is there keeps its Python, unless another version is named.
    """
    inside = python_of(venv)
    present = probe(str(inside))
    python = find_python(wanted) if wanted or not present else str(inside)
    if present and present[:2] != (probe(python) or present)[:2]:
        present = None
    stamps = [venv / ("%s.stamp" % name) for name in {extra, "dev"}]
    current = fingerprint(*requirements)
    if present and any(stamp.exists() and stamp.read_text() == current for stamp in stamps):
        return inside
    say("Setting up %s (some minutes the first time)" % venv.name)
    if not present and run([python, "-m", "venv", "--clear", str(venv)]):
        raise Unable("%s could not make an environment in %s (see above)." % (python, venv))
    pip = [str(inside), "-m", "pip", "--disable-pip-version-check", "install", "-qq", "--no-input"]
    checkout = "%s[%s]" % (ROOT, extra) if extra else str(ROOT)
    if run([*pip, "--editable", checkout, *requirements]):
        raise Unable("pip could not install what pyproject.toml asks for (see above).")
    (venv / ("%s.stamp" % (extra or "plain"))).write_text(current)
    return inside


def find_chromium() -> "str | None":
    """The Chromium or Chrome of this machine; ADK_NB_CHROMIUM names another one."""
    named = os.environ.get("ADK_NB_CHROMIUM")
    if named:
        return shutil.which(named)
    for program in CHROMIUM_PROGRAMS:
        path = shutil.which(program)
        if path:
            return path
    return MAC_CHROME if os.path.exists(MAC_CHROME) else None


def find_postgres(program: str) -> "str | None":
    """A program of PostgreSQL's server, which Debian keeps off the PATH; of several versions the newest."""
    installed = glob.glob("%s/%s" % (POSTGRES_PROGRAMS, program))
    return shutil.which(program) or max(installed, key=lambda path: (len(path), path), default=None)


def add_test_programs() -> None:
    """Install what tests need from outside Python; a missing program is an error, never a skipped test."""
    missing = []
    if not find_chromium():
        missing += ["chromium", "fonts-dejavu"]
    if not shutil.which("dot"):
        missing += ["graphviz"]
    if not find_postgres("initdb"):
        missing += ["postgresql"]
    if missing:
        install_system_packages(missing)
    if not find_chromium():
        raise Unable(
            "The browser tests need Chromium and it was not found (looked for %s); install it, name it in "
            "ADK_NB_CHROMIUM, or leave those tests out with --fast." % ", ".join(CHROMIUM_PROGRAMS)
        )
    if not shutil.which("dot"):
        raise Unable(
            "Some tests need Graphviz' `dot` and it was not found; install graphviz, or leave those tests "
            "out with --fast."
        )
    if not find_postgres("initdb"):
        raise Unable(
            "Some tests start a PostgreSQL server and its `initdb` was not found; install postgresql, or leave those "
            "tests out with --fast."
        )


def lab(options: argparse.Namespace, rest: "list[str]") -> int:
    """Open JupyterLab on a notebook, or run it without a browser and print what it shows."""
    notebook = pathlib.Path(options.notebook).resolve()
    if not notebook.exists():
        raise Unable("There is no notebook %s; allowed is the path of an .ipynb file." % notebook)
    python = str(set_up(VENV, "lab", [], options.python))
    if options.headless:
        return run([python, str(ROOT / "scripts" / "outcome.py"), str(notebook)])
    command = [python, "-m", "jupyterlab", "--ServerApp.root_dir=%s" % notebook.parent]
    # As the default address the notebook is also in the link that Jupyter prints where it can't open a browser.
    command += ["--LabApp.default_url=/lab/tree/%s" % urllib.parse.quote(notebook.name)]
    command += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    say("Opening %s in JupyterLab; stop it with Ctrl+C here" % notebook.name)
    try:
        return run(command + rest, JUPYTER_PREFER_ENV_PATH="1")
    except KeyboardInterrupt:
        return 0


def test(options: argparse.Namespace, rest: "list[str]") -> int:
    """Run format, lint, types and pytest; with arguments of pytest's own, pytest alone."""
    inside = str(set_up(VENV, "dev", [], options.python))
    # A file of tests stays in one process, which shares its servers and browser among them.
    chosen = rest or ["-n", str(min(4, os.cpu_count() or 1)), "--dist", "loadfile"]
    if options.fast:
        chosen = ["-m", "not browser and not exe and not postgres and not slow", *chosen]
    else:
        set_up(OLD_KERNEL_VENV, "", [OLD_KERNEL], options.python or inside)
        add_test_programs()
    failed = []
    for name, command, remedy in () if rest else CHECKS:
        say("== %s" % name)
        if run([inside, "-m", *command]):
            failed.append("%s failed; see %s." % (name, remedy))
    code = run([inside, "-m", "pytest", *chosen], JUPYTER_PREFER_ENV_PATH="1")
    for line in failed:
        say(line)
    return code or len(failed)


def tidy(options: argparse.Namespace, rest: "list[str]") -> int:
    """Format the code and mend what the linter can."""
    inside = str(set_up(VENV, "dev", [], options.python))
    return run([inside, "-m", "ruff", "check", "--fix", ".", *rest]) | run([inside, "-m", "ruff", "format", "."])


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", metavar="lab | test | format")
    for name, action in (("lab", lab), ("test", test), ("format", tidy)):
        verb = verbs.add_parser(name, help=(action.__doc__ or "").splitlines()[0], description=action.__doc__)
        verb.set_defaults(action=action)
        verb.add_argument("--python", metavar="PATH", help="the Python to make the environment with (3.11 to 3.13)")
        if name == "lab":
            verb.add_argument("notebook", nargs="?", default=str(FIRST_NOTEBOOK), help="default: the first notebook")
            verb.add_argument("--headless", action="store_true", help="no browser: run it and print what it shows")
        if name == "test":
            verb.add_argument(
                "--fast", action="store_true", help="leave out tests marked browser, exe, postgres or slow"
            )
    return parser


def main() -> int:
    """Do what the command line asks."""
    parser = arguments()
    options, rest = parser.parse_known_args()
    if not options.verb:
        parser.print_help()
        return 2
    try:
        code = options.action(options, rest)
    except Unable as problem:
        say("make.py: %s" % problem)
        return 1
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
