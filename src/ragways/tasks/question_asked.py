"""What a model replies when it has written a question, and what no such question may be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_SHOWN = re.compile(
    r"\b(?:the|this|these|that|each|given|provided|above) (?:\w+ )?"
    r"(?:passages?|texts?|documents?|contexts?|excerpts?|paragraphs?|articles?)\b",
    re.IGNORECASE,
)
LONGEST = 600
Passages = Sequence[tuple[str, str]]
"""Titles and texts; the first has number 1."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that can be understood alone, and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class AskedOf:
    """As `Asked`, with the numbers of the passages that the answer rests on."""

    question: str
    answer: str
    passages: tuple[int, ...]


def numbered(passages: Passages) -> str:
    return "\n\n".join(f"[{n}] {title}\n{text}" for n, (title, text) in enumerate(passages, start=1))


def complaint(question: str, answer: str) -> str | None:
    """Why a question cannot be used: empty, endless, or about a text that nobody will see."""
    if not question.strip() or not answer.strip():
        return "the question and the answer must not be empty"
    if len(question) > LONGEST:
        return f"the question has more than {LONGEST} characters"
    if _SHOWN.search(question):
        return "the question speaks of a text that the reader will not see; it must be understood alone"
    return None


def check_asked(reply: Asked, variables: Mapping[str, object]) -> str | None:  # noqa: ARG001
    return complaint(reply.question, reply.answer)


def check_asked_of(reply: AskedOf, variables: Mapping[str, object]) -> str | None:
    passages = variables["passages"]
    shown = len(passages) if isinstance(passages, Sequence) else 0
    if not reply.passages:
        return "name at least one passage that the answer rests on"
    wrong = next((number for number in reply.passages if not 1 <= number <= shown), None)
    if wrong is not None:
        return f"there is no passage {wrong}; passages are numbered 1 to {shown}"
    return complaint(reply.question, reply.answer)
