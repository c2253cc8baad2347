"""The table of aspects that a duel is scored by; the rubric of each stands in the prompt `duel-score`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Aspect:
    """Scored from 0 to 5."""

    name: str
    question: str


ASPECTS = (
    Aspect("comprehensiveness", "does it treat all that the question asks for?"),
    Aspect("relevance", "does what it says belong to this question?"),
    Aspect("empowerment", "can the reader understand and judge the matter after reading it?"),
    Aspect("directness", "does it say plainly what was asked?"),
)
"""In the order in which points are kept in a line."""
