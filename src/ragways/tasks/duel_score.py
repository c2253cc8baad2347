"""Score two answers to one question, aspect by aspect; or only what each says that the other does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from ragways.models.task import Task

MOST = 5


@dataclass(frozen=True, slots=True)
class Points:
    """0 to 5 each, by the rubric in the prompt."""

    comprehensiveness: int
    relevance: int
    empowerment: int
    directness: int

    def values(self) -> tuple[int, ...]:
        return self.comprehensiveness, self.relevance, self.empowerment, self.directness


ASPECTS: tuple[str, ...] = tuple(field.name for field in fields(Points))


@dataclass(frozen=True, slots=True)
class BothPoints:
    """Of the answer that stood first, and of the other."""

    first: Points
    second: Points


def _check(reply: BothPoints, _: Mapping[str, object]) -> str | None:
    for name, points in (("first", reply.first), ("second", reply.second)):
        for aspect, value in zip(ASPECTS, points.values(), strict=True):
            if not 0 <= value <= MOST:
                return f"{name}.{aspect} is {value}; points go from 0 to {MOST}"
    return None


def _lists(question: str, first: Sequence[str], second: Sequence[str]) -> Mapping[str, object]:
    return {"question": question, "first": _list(first), "second": _list(second)}


def _list(statements: Sequence[str]) -> str:
    return "\n".join(f"- {statement}" for statement in statements) or "(nothing)"


# A rule that scored answers would be a metric of its own, not a stand-in for a judge: there is no way without a model.
DUEL_SCORE = Task("duel score", prompt="duel-score", reply=BothPoints, check=_check, temperature=0.7, max_output=256)
DUEL_DIFFERENTIAL = Task(
    "duel differential",
    prompt="duel-differential",
    reply=BothPoints,
    check=_check,
    render=_lists,
    temperature=0.7,
    max_output=256,
)
