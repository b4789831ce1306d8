"""A PostgreSQL server for the tests of this folder, started once when the first test asks for it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from make import find_postgres


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Path]:
    """Start a server that only listens in a folder of its own, and stop it at the end; the folder."""
    folder = Path(tempfile.mkdtemp(prefix="adk_nb_pg"))  # short: the system allows 107 characters for a socket
    user: dict[str, Any] = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        names = {one.pw_name: one for one in pwd.getpwall()}
        entry = names.get("postgres") or names["nobody"]
        user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        os.chown(folder, entry.pw_uid, entry.pw_gid)
    try:
        data = folder / "data"
        setup: list[str | Path] = [
            program("initdb"),
            "-D",
            data,
            "-U",
            "tester",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
        ]
        subprocess.run(setup, check=True, stdout=subprocess.PIPE, cwd=folder, **user)
        settings = {"fsync": "off", "unix_socket_directories": folder, "listen_addresses": "", "max_connections": 60}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [program("postgres"), "-D", data, *options], stdout=log, stderr=log, cwd=folder, **user
            )
        try:
            wait: list[str | Path] = [program("pg_isready"), "-h", folder, "-t", "1"]
            while subprocess.run(wait, stdout=subprocess.DEVNULL).returncode:
                assert server.poll() is None, (folder / "log").read_text()
            yield folder
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: nobody needs what it holds
            server.wait(timeout=30)
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def postgres_url(postgres_server: Path) -> str:
    """Return the address of an empty place: a user whose tables go to a schema of its own."""
    name = f"test_{uuid.uuid4().hex}"
    commands = ["-c", f"CREATE ROLE {name} LOGIN", "-c", f"CREATE SCHEMA AUTHORIZATION {name}"]
    psql: list[str | Path] = [program("psql"), "-h", postgres_server, "-U", "tester", "-q", "-d", "postgres"]
    subprocess.run([*psql, *commands], check=True)
    return f"postgresql://{name}@/postgres?host={postgres_server}"


def program(name: str) -> str:
    """Return where a program of PostgreSQL is."""
    found = find_postgres(name)
    if found is None:
        pytest.fail(f"needs PostgreSQL's {name}: install postgresql, or leave these tests out with -m 'not postgres'")
    return found
