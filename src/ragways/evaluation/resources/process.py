"""What this process and its children use right now: CPU seconds and resident memory. Standard library alone."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

_PROC = Path("/proc")
_MOST = 256
"""Descendants looked at; a program that starts more is not measured by watching it."""


def used() -> tuple[float, int]:
    """CPU seconds since the start, and bytes of memory.

    On Linux children that still run are counted too, those that ended by the seconds they took. Elsewhere memory is
    the largest it has been since the start, as that is all the system tells without further packages.
    """
    times = os.times()
    seconds = time.process_time() + times.children_user + times.children_system
    own = _resident("self")
    if own is None:
        return seconds, _largest()
    others = _descendants()
    return seconds + sum(map(_seconds, others)), own + sum(_resident(str(child)) or 0 for child in others)


def _descendants() -> list[int]:
    found: list[int] = []
    todo = [os.getpid()]
    while todo and len(found) < _MOST:
        here = todo.pop()
        for file in _PROC.glob(f"{here}/task/*/children"):
            try:
                children = [int(child) for child in file.read_text().split()]
            except (OSError, ValueError):
                continue
            found += children
            todo += children
    return found[:_MOST]


def _resident(process: str) -> int | None:
    try:
        return int((_PROC / process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def _seconds(process: int) -> float:
    """Of a child that runs, with those of its own that ended."""
    try:
        # The name, in brackets, may hold anything; what comes after it does not.
        fields = (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


def _largest() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
