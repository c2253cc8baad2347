"""A question with what is known of its answer, whatever data set it comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ragways.core.types import Piece, title_name

_NOT_WORDS = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class Gold:
    """Evidence that must be found: a whole document, by key, title or text, or a quote wherever it stands."""

    title: str = ""
    text: str = ""
    key: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """`answers` are all accepted ones; no gold evidence means that none is known."""

    id: str
    text: str
    answers: tuple[str, ...] = ()
    type: str = ""
    gold: tuple[Gold, ...] = field(default=())


def plain_words(text: str) -> str:
    """A text as quotes are compared: words alone, lower-case."""
    return _NOT_WORDS.sub(" ", text.casefold()).strip()


def holds(piece: Piece, gold: Gold) -> bool:
    """Does this piece show the quote (in that document, where one is named)?"""
    if gold.title and title_name(gold.title) != title_name(piece.title):
        return False
    return plain_words(gold.quote) in plain_words(piece.text)
