"""Progress as an event: the core reports, an app shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` units of `stage`; total 0 is unknown."""

    stage: str
    done: int
    total: int = 0
    note: str = ""


ProgressCallback = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Show nothing."""
