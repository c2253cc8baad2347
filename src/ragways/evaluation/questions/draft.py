"""A question before it is verified, with the text that supports it."""

from __future__ import annotations

from dataclasses import dataclass

from ragways.core.types import ABSTENTION

NULL = "null"
"""The type of questions that the corpus does not answer."""
Absent = tuple[tuple[str, tuple[str, ...]], ...]
"""Names, each with beginnings of words that must not stand in a document with it."""


@dataclass(frozen=True, slots=True)
class Support:
    """A chunk that a question rests on; `quote` is the sentence in it, the whole chunk where it is empty."""

    chunk: str
    document: str
    key: str
    title: str
    text: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """`names` are those that the question gives away, `path` what it was made from, `absent` what nothing may say.

    `checked` are facts that have to be the only ones of their kind, `choice` says that the question itself lists the
    answers, `parts` that the answer is made of the quotes and stands in none of them as a whole.
    """

    text: str
    answers: tuple[str, ...]
    support: tuple[Support, ...] = ()
    type: str = ""
    names: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    absent: Absent = ()
    choice: bool = False
    parts: bool = False
    multi_hop: bool = False
    note: str = ""

    @property
    def unanswerable(self) -> bool:
        return self.type == NULL


def null(text: str, **more: object) -> Draft:
    """A question to which the answer is that there is none."""
    return Draft(text, (ABSTENTION,), type=NULL, **more)  # type: ignore[arg-type]


class Nothing(Exception):
    """Why no question was drafted, in the words of the counts."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
