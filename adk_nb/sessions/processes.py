"""Which process holds a session, and whether it still lives."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from functools import lru_cache


@lru_cache(maxsize=1)
def _own(pid: int) -> tuple[str, int, str]:
    return platform.node(), pid, start_of(pid) or ""


def this_process() -> tuple[str, int, str]:
    """Return what names this process for good: host, process id and when it started."""
    return _own(os.getpid())  # by pid, so that a forked child has its own


def is_alive(host: str, pid: int, start: str) -> bool:
    """Say whether a process may still be there; on another host it can't be known, so it may."""
    if host != platform.node():
        return True
    now = start_of(pid)
    return now is not None and now == start


def start_of(pid: int) -> str | None:
    """Return when a process of this host started, in the system's own form; `None` when there is no such process.

    A process id alone isn't enough: systems give them out again.
    """
    if sys.platform == "win32":
        return _start_on_windows(pid)
    if sys.platform == "linux":
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] == "Z" else fields[19]
    shown = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return shown.stdout.strip() or None


def _start_on_windows(pid: int) -> str | None:
    if sys.platform != "win32":
        return None
    import ctypes  # only Windows has what is used of it

    kernel = ctypes.WinDLL("kernel32")
    kernel.OpenProcess.restype = ctypes.c_void_p
    process = ctypes.c_void_p(kernel.OpenProcess(0x1000, False, pid))  # may ask for its times, and no more
    if not process:
        return None
    try:
        times = [ctypes.c_ulonglong() for _ in range(4)]
        is_known = kernel.GetProcessTimes(process, *(ctypes.byref(time) for time in times))
        return str(times[0].value) if is_known and times[1].value == 0 else None
    finally:
        kernel.CloseHandle(process)
