"""The tasks of making a question set: write questions on given material, and check what was written.

Without a model, questions come from templates over facts (evaluation/questions), which is not a thing of one call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from ragways.models.task import Task
from ragways.tasks.shown import Passages, shown, task

_SHOWN = re.compile(
    r"\b(?:the|this|these|that|each|given|provided|above) (?:\w+ )?"
    r"(?:passages?|texts?|documents?|contexts?|excerpts?|paragraphs?|articles?)\b",
    re.IGNORECASE,
)
LONGEST = 600
"""Characters of a question."""


@dataclass(frozen=True, slots=True)
class PassagesInput:
    """The passages to write about."""

    passages: Passages


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question that can be understood alone, and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class CitingQuestion:
    """As `Asked`, with the numbers of the passages that the answer rests on."""

    # `Asked` is the old name of `WrittenQuestion`: a docstring is part of the schema, and so of the keys of replies.

    question: str
    answer: str
    passages: tuple[int, ...]


Citing = TypeVar("Citing", "CitingQuestion", "SummaryQuestion")


class _WithPassages(Protocol):
    @property
    def passages(self) -> Passages: ...


def _complaint(question: str, answer: str) -> str | None:
    """Why a question cannot be used: empty, endless, or about a text that nobody will see."""
    if not question.strip() or not answer.strip():
        return "the question and the answer must not be empty"
    if len(question) > LONGEST:
        return f"the question has more than {LONGEST} characters"
    if _SHOWN.search(question):
        return "the question speaks of a text that the reader will not see; it must be understood alone"
    return None


def _check_written(reply: WrittenQuestion, _: PassagesInput) -> str | None:
    return _complaint(reply.question, reply.answer)


def _keep_citing(reply: Citing, given: _WithPassages) -> Citing:
    shown = range(1, len(given.passages) + 1)
    return replace(reply, passages=tuple(number for number in reply.passages if number in shown))


def _check_citing(reply: CitingQuestion, given: _WithPassages) -> str | None:
    if not reply.passages:
        return f"name at least one passage that the answer rests on; they are numbered 1 to {len(given.passages)}"
    return _complaint(reply.question, reply.answer)


QUESTION_FACTUAL: Task[PassagesInput, WrittenQuestion] = task(
    "question factual", WrittenQuestion, 512, _check_written, temperature=0.7
)
"""Write a question that one passage answers."""


@dataclass(frozen=True, slots=True)
class ReasoningInput:
    """Documents in a chain; `bridges` are the entities that join each with the next."""

    passages: Passages
    bridges: Sequence[str]


def _render_reasoning(given: ReasoningInput) -> Mapping[str, object]:
    bridges = "\n".join(f"{n} to {n + 1}: {name}" for n, name in enumerate(given.bridges, start=1))
    return {**shown(given), "count": len(given.passages), "bridges": bridges}


def _check_reasoning(reply: WrittenQuestion, given: ReasoningInput) -> str | None:
    for number, name in enumerate(given.bridges, start=1):
        if name.casefold() in reply.question.casefold():
            return f"the question names bridge {number}, which it should describe instead"
    return _complaint(reply.question, reply.answer)


QUESTION_REASONING: Task[ReasoningInput, WrittenQuestion] = task(
    "question reasoning", WrittenQuestion, 768, _check_reasoning, temperature=0.7, render=_render_reasoning
)
"""Write a question that only a chain of documents answers."""


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """The name of an entity, and documents that may speak of it."""

    entity: str
    passages: Passages


@dataclass(frozen=True, slots=True)
class SummaryQuestion:
    """`same` is false, and the rest empty, where the documents speak of several entities of that name."""

    same: bool
    question: str = ""
    answer: str = ""
    passages: tuple[int, ...] = ()


def _check_summary(reply: SummaryQuestion, given: SummaryInput) -> str | None:
    if not reply.same:
        return None
    if len(set(reply.passages)) < 2:
        shown = len(given.passages)
        return f"the answer must draw on at least two of the passages, which are numbered 1 to {shown}"
    if given.entity.casefold() not in reply.question.casefold():
        return "the question must hold the name of the entity"
    return _complaint(reply.question, reply.answer)


QUESTION_SUMMARY: Task[SummaryInput, SummaryQuestion] = task(
    "question summary", SummaryQuestion, 1024, _check_summary, keep=_keep_citing, temperature=0.7
)
"""Write a question whose answer draws on several documents about one entity, if they mean the same one."""

LEVELS = {
    "node": "one entity: ask about what it is, does or is known for",
    "edge": "one relation between two entities: ask what joins them, why, or to what effect",
    "subgraph": "a part of a knowledge graph: ask what only the whole of it shows, such as a pattern, a course of "
    "events or the part that several entities play together",
}


@dataclass(frozen=True, slots=True)
class StructureInput:
    """A part of the graph in words, with the text behind it; `level` is a key of `LEVELS`."""

    level: str
    structure: str
    summary: str
    passages: Passages


QUESTION_STRUCTURE: Task[StructureInput, CitingQuestion] = task(
    "question structure",
    CitingQuestion,
    768,
    _check_citing,
    keep=_keep_citing,
    temperature=0.7,
    words={"level": LEVELS, "summary": {"": "(none)"}},
)
"""Write a question about an entity, a relation or a stretch of the graph, with the text behind it."""

QUESTION_DIGEST: Task[PassagesInput, str] = task("question digest", str, 512)
"""The text behind a stretch of the graph in a few sentences, which the question is then written with."""

EVOLUTIONS = {
    "reasoning": "it must take several steps of thought, each resting on a stated fact",
    "multi-context": "it must need facts of at least two of the passages at once",
    "comparative": "it must compare two or more things, such as which came first or how they differ",
}


@dataclass(frozen=True, slots=True)
class EvolvedInput:
    """A question to make harder; `how` is a key of `EVOLUTIONS`."""

    question: str
    answer: str
    how: str
    passages: Passages


QUESTION_CONTEXT: Task[PassagesInput, CitingQuestion] = task(
    "question context", CitingQuestion, 768, _check_citing, keep=_keep_citing, temperature=0.7
)
"""Write a question on a group of passages."""
QUESTION_EVOLVED: Task[EvolvedInput, CitingQuestion] = task(
    "question evolved",
    CitingQuestion,
    768,
    _check_citing,
    keep=_keep_citing,
    temperature=0.7,
    words={"how": EVOLUTIONS},
)
"""Make a question harder in one way."""

CHANGES = {
    "swapped": "ask the same of the other entity named below instead, of which nothing of the sort is said",
    "removed": "ask for a property of what the passage speaks of that one would expect to be known, and that it does "
    "not state",
    "moved": "give the question a date or year, other than the true one, at which what it asks about did not happen",
}


@dataclass(frozen=True, slots=True)
class UnanswerableInput:
    """`change` is a key of `CHANGES`; `other` is the entity to ask about instead, if any."""

    passages: Passages
    change: str
    other: str


@dataclass(frozen=True, slots=True)
class UnanswerableQuestion:
    question: str


def _check_unanswerable(reply: UnanswerableQuestion, given: UnanswerableInput) -> str | None:
    if given.other and given.other.casefold() not in reply.question.casefold():
        return "the question must hold the name of the other entity"
    return _complaint(reply.question, "none")


QUESTION_UNANSWERABLE: Task[UnanswerableInput, UnanswerableQuestion] = task(
    "question unanswerable",
    UnanswerableQuestion,
    384,
    _check_unanswerable,
    temperature=0.7,
    words={"change": CHANGES, "other": {"": "(none)"}},
)
"""Write a question that looks as if a passage answered it, and is not answered anywhere."""


@dataclass(frozen=True, slots=True)
class GroundedInput:
    """A written question, and the passages to answer it from."""

    question: str
    passages: Passages


@dataclass(frozen=True, slots=True)
class ClosedInput:
    """A written question, to be answered from memory."""

    question: str


@dataclass(frozen=True, slots=True)
class SameInput:
    """Two answers to a question."""

    question: str
    expected: str
    given: str


@dataclass(frozen=True, slots=True)
class SameAnswer:
    same: bool


QUESTION_GROUNDED: Task[GroundedInput, str] = task("question grounded", str, 512)
QUESTION_CLOSED: Task[ClosedInput, str] = task("question closed", str, 256)
QUESTION_SAME: Task[SameInput, SameAnswer] = task("question same", SameAnswer, 64)
