"""A question with what is known of its answer, whatever data set it comes from, and how answers are compared."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ragways.core.language import apart
from ragways.core.markdown import MARKS
from ragways.core.types import Piece, title_name

_NOT_WORDS = re.compile(r"\W+")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_MARKS = re.compile(MARKS)
_OTHER = re.compile(r"[^\w\s]")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Gold:
    """Evidence that must be found: a whole document, by key, title or text, or a quote wherever it stands.

    `statement` is the evidence in other words than its own: a piece that has most of these words has the evidence.
    `id` is the chunk that it came from. It names that text in the index it was made on alone, so it counts only where
    nothing else is given.
    """

    title: str = ""
    text: str = ""
    key: str = ""
    quote: str = ""
    id: str = ""
    statement: str = ""

    @property
    def is_passage(self) -> bool:
        """Whether a passage of its own is looked for, rather than a document."""
        return bool(self.statement or self.quote or (self.id and not (self.key or self.title or self.text)))


@dataclass(frozen=True, slots=True)
class Question:
    """`answers` are all accepted ones; no gold evidence means that none is known.

    `provenance` is what a generated one was made from.
    """

    id: str
    text: str
    answers: tuple[str, ...] = ()
    type: str = ""
    gold: tuple[Gold, ...] = field(default=())
    provenance: Mapping[str, object] = field(default_factory=dict, hash=False)


_TEXTS = frozenset({"summary", "node", "edge", "subgraph"})
_CONTEXTS = frozenset({"intra_document", "theme_based", "sequential_multi_hop", "native", "heading", "entry"})
_LONG = 12
"""Words of an answer from which on it is a text."""


def text_gold(type: str, answers: Sequence[str]) -> bool:
    """Whether a generated question asks for a text, which no answer repeats word for word: it is scored by coverage.

    Its kind says so; on a context, where a model may answer by a name or in sentences, the length of the gold does.
    """
    long = bool(answers) and all(len(answer.split()) > _LONG for answer in answers)
    return type in _TEXTS or (type in _CONTEXTS and long)


def plain_words(text: str) -> str:
    """A text as quotes are compared: words alone, lower-case."""
    return _NOT_WORDS.sub(" ", text.casefold()).strip()


def holds(piece: Piece, gold: Gold) -> bool:
    """Does this piece show the quote (in that document, where one is named)?"""
    if gold.title and title_name(gold.title) != title_name(piece.title):
        return False
    return plain_words(gold.quote) in plain_words(piece.text)


# Answers as they are compared


@lru_cache(maxsize=4096)
def normal(text: str) -> str:
    """Lower case, without articles, punctuation and the marks of citations; characters of scripts without spaces stand
    apart.
    """
    return " ".join(_ARTICLES.sub(" ", _words(text)).split())


@lru_cache(maxsize=4096)
def squad_normal(text: str) -> str:
    """As SQuAD's own scorer has it, after NFC and without the marks of citations: lower case, ASCII punctuation taken
    out ("U.S." is "us"), then the articles.
    """
    return " ".join(_ARTICLES.sub(" ", _squad_words(text)).split())


def compared(answer: str, gold: str, form: Callable[[str], str] = normal) -> tuple[str, str]:
    """Both as they are compared, in this normal form.

    A gold answer of which nothing would be left ("A", the first of four options; "+") keeps its articles
    or, where it is a sign alone, all there is, and so does the answer that is compared with it.
    """
    for each in (form, _squad_words if form is squad_normal else _words, _spaced):
        if wanted := each(gold):
            return each(answer), wanted
    return form(answer), gold.casefold().strip()  # the mark of a citation, which no answer is


def _words(text: str) -> str:
    return " ".join(apart(_OTHER.sub(" ", _MARKS.sub(" ", composed(text).casefold()))).split())


def _squad_words(text: str) -> str:
    return " ".join(_MARKS.sub(" ", composed(text).lower()).translate(_NO_PUNCTUATION).split())


def _spaced(text: str) -> str:
    return " ".join(_MARKS.sub(" ", composed(text).casefold()).split())


def composed(text: str) -> str:
    """NFC: an accent is one sign with its letter, however it was typed."""
    return unicodedata.normalize("NFC", text)


def without_gold(questions: Sequence[Question]) -> bool:
    """Whether nothing could be scored: a sign that the file has another layout than the one it was read by."""
    return not any(question.answers or question.gold for question in questions)
