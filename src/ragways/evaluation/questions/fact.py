"""A fact: what a sentence, a box or a relation says of a subject."""

from __future__ import annotations

from dataclasses import dataclass

from ragways.evaluation.questions.names import forms
from ragways.evaluation.questions.relations import Wording
from ragways.evaluation.questions.subjects import Subject, Subjects

LONGEST = 60
"""Characters of an answer: what is longer is a description, not a value."""


@dataclass(frozen=True, slots=True)
class Fact:
    """`quote` states it in chunk `chunk`; `leads_to` is the document about its value, where there is one."""

    subject: Subject
    wording: Wording
    value: str
    quote: str
    chunk: str
    date: str = ""
    leads_to: str = ""
    by: str = "sentence"

    @property
    def id(self) -> str:
        return f"{self.subject.id} {self.wording.name}: {self.value}"

    @property
    def document(self) -> str:
        """The document that states it, which may be another than the one about its subject."""
        return ":".join(self.chunk.split(":")[:2])

    @property
    def answers(self) -> tuple[str, ...]:
        """The value in every form that would be right; of a place, its own name alone will do."""
        first = self.value.split(",")[0]
        short = (first,) if self.wording.sort == "place" and first != self.value else ()
        return (*forms(self.value), *short)


def leads_to(value: str, wording: Wording, subjects: Subjects, of: str) -> str:
    """The document about a value: never where a place could be one of many of its name."""
    if wording.sort in ("date",) or not wording.describe:
        return ""
    parts = value.split(",") if wording.sort == "place" else [value]
    names = (",".join(parts[:count]) for count in range(len(parts), 0, -1))
    found = next((subject for name in names if (subject := subjects.named(name)) is not None), None)
    if found is None or (wording.sort == "person" and found.kind in ("place", "work", "event", "species")):
        return ""
    return "" if found.id == of or (wording.sort == "place" and found.kind not in ("place", "")) else found.id
