"""What each of two answers says that the other does not."""

from __future__ import annotations

from dataclasses import dataclass

from ragways.models.task import Task


@dataclass(frozen=True, slots=True)
class Differences:
    """Statements that only the first answer makes, and only the second."""

    first: tuple[str, ...]
    second: tuple[str, ...]


DUEL_DIFFERENCE = Task("duel difference", prompt="duel-difference", reply=Differences, temperature=0.7, max_output=2048)
