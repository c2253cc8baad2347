"""The tasks of a duel between two answers to one question.

The judge scores both, aspect by aspect, or first says what only one of them says and scores that alone. An answer can
be written again from its evidence in so many words, so that both are equally long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Literal

from ragways.models.task import Task

POINTS_LIMIT = 5


@dataclass(frozen=True, slots=True)
class DuelInput:
    """A question and two answers, in the order in which they are shown."""

    question: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class DuelDifferentialInput:
    """A question, and the statements that only the first answer makes, and only the second."""

    question: str
    first: Sequence[str]
    second: Sequence[str]


@dataclass(frozen=True, slots=True)
class AspectPoints:
    """0 to 5 each, by the rubric in the prompt."""

    __pydantic_config__: ClassVar = {"title": "Points"}  # its name in the schema, which cache keys hold

    comprehensiveness: int
    relevance: int
    empowerment: int
    directness: int

    def values(self) -> tuple[int, ...]:
        return self.comprehensiveness, self.relevance, self.empowerment, self.directness


ASPECTS: tuple[str, ...] = tuple(field.name for field in fields(AspectPoints))


@dataclass(frozen=True, slots=True)
class BothPoints:
    """Of the answer that stood first, and of the other. `why` comes before them: points follow from it."""

    why: str
    first: AspectPoints
    second: AspectPoints


def _check_points(reply: BothPoints, _: object) -> str | None:
    for name, points in (("first", reply.first), ("second", reply.second)):
        for aspect, value in zip(ASPECTS, points.values(), strict=True):
            if not 0 <= value <= POINTS_LIMIT:
                return f"{name}.{aspect} is {value}; points go from 0 to {POINTS_LIMIT}"
    return None


def _render_statements(given: DuelDifferentialInput) -> Mapping[str, object]:
    return {"question": given.question, "first": _list(given.first), "second": _list(given.second)}


def _list(statements: Sequence[str]) -> str:
    return "\n".join(f"- {statement}" for statement in statements) or "(nothing)"


# A rule that scored answers would be a metric of its own, not a stand-in for a judge: there is no way without a model.
DUEL_SCORE: Task[DuelInput, BothPoints] = Task(
    "duel score", prompt="duel-score", reply=BothPoints, check=_check_points, temperature=0.7, max_output=512
)
DUEL_DIFFERENTIAL: Task[DuelDifferentialInput, BothPoints] = Task(
    "duel differential",
    prompt="duel-differential",
    reply=BothPoints,
    check=_check_points,
    render=_render_statements,
    temperature=0.7,
    max_output=512,
)


@dataclass(frozen=True, slots=True)
class Differences:
    """Statements that only the first answer makes, and only the second."""

    first: tuple[str, ...]
    second: tuple[str, ...]


DUEL_DIFFERENCE: Task[DuelInput, Differences] = Task(
    "duel difference", prompt="duel-difference", reply=Differences, temperature=0.7, max_output=2048, whole=True
)


@dataclass(frozen=True, slots=True)
class DuelAnswerInput:
    """Titles and texts of the passages to answer from, and how many words to write."""

    question: str
    passages: Sequence[tuple[str, str]]
    words: int


@dataclass(frozen=True, slots=True)
class Rewritten:
    """`answered` is false when the passages do not hold the answer."""

    answered: bool
    answer: str


def _render_answer(given: DuelAnswerInput) -> Mapping[str, object]:
    shown = "\n\n".join(f"[{n}] {title}\n{text}" for n, (title, text) in enumerate(given.passages, start=1))
    return {"question": given.question, "passages": shown, "words": given.words}


def _check_answer(reply: Rewritten, _: DuelAnswerInput) -> str | None:
    return "`answered` is true, but there is no answer" if reply.answered and not reply.answer.strip() else None


# Without a model there is nobody to ask for a longer answer; the caller appends text instead, or leaves the pair out.
DUEL_ANSWER = Task(
    "duel answer",
    prompt="duel-answer",
    reply=Rewritten,
    render=_render_answer,
    check=_check_answer,
    temperature=0.7,
    max_output=4096,
)


Side = Literal["first", "second"]


@dataclass(frozen=True, slots=True)
class ForcedChoice:
    """The better answer for each aspect, and overall."""

    comprehensiveness: Side
    diversity: Side
    empowerment: Side
    directness: Side
    winner: Side


# How answers were compared before: in one order, and one of them must win. It shows what that is worth.
DUEL_FORCED: Task[DuelInput, ForcedChoice] = Task(
    "duel forced", prompt="duel-forced", reply=ForcedChoice, temperature=0.7, max_output=256
)
