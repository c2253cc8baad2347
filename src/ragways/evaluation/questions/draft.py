"""A question before it is verified, with the text that supports it, and why it may be left out."""

from __future__ import annotations

from dataclasses import dataclass

from ragways.core.types import ABSTENTION

# Why a draft did not become a question. Counts of a generated set are by these, `passed` first.

PASSED = "passed"
NO_MATERIAL = "nothing to ask"
UNREADABLE = "unreadable reply"
OTHER_ENTITY = "another entity"
NOT_GROUNDED = "not grounded"
SHORTCUT = "shortcut"
LEAK = "answer in the question"
BY_HEART = "known by heart"
AMBIGUOUS = "ambiguous"
ANSWERABLE = "answerable"
REPEATED = "repeated"

REASONS: dict[str, str] = {
    PASSED: "verified",
    NO_MATERIAL: "what was drawn from the corpus holds nothing to ask about",
    UNREADABLE: "the model gave no usable reply, even on another try",
    OTHER_ENTITY: "the documents do not mean the same entity",
    NOT_GROUNDED: "the answer does not follow from the supporting text alone",
    SHORTCUT: "a part of its evidence suffices where all of it should be needed",
    LEAK: "the answer stands in the question",
    BY_HEART: "the model answers it with the book closed",
    AMBIGUOUS: "another answer is as right",
    ANSWERABLE: "it should have no answer, and the corpus may hold one",
    REPEATED: "the same question was made before",
}

NULL = "null"
"""The type of questions that the corpus does not answer."""
Absent = tuple[tuple[str, tuple[str, ...]], ...]
"""Names, each with beginnings of words that must not stand in a document with it."""


@dataclass(frozen=True, slots=True)
class SupportingChunk:
    """A chunk that a question rests on; `quote` is the sentence in it, the whole chunk where it is empty."""

    chunk: str
    document: str
    key: str
    title: str
    text: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """`names` are those in the question, `path` is what it was made from, `absent` what no document may state.

    `checked` are facts that have to be the only ones of their kind, `choice` says that the question itself lists the
    answers, `multi_hop` that all of the support is needed, `parts` that the answer is made of the quotes and stands in
    none of them as a whole.
    """

    text: str
    answers: tuple[str, ...]
    support: tuple[SupportingChunk, ...] = ()
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


def null(text: str, **more: object) -> QuestionDraft:
    """A question to which the answer is that there is none."""
    return QuestionDraft(text, (ABSTENTION,), type=NULL, **more)  # type: ignore[arg-type]


class NothingToAsk(Exception):
    """Why no question was drafted, in the words of the counts."""

    def __init__(self, reason: str = NO_MATERIAL) -> None:
        super().__init__(reason)
        self.reason = reason
