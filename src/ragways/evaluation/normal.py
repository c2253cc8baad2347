"""Answers as they are compared."""

from __future__ import annotations

import re
from functools import lru_cache

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_MARKS = re.compile(r"\[\d+\]")
_OTHER = re.compile(r"[^\w\s]")


@lru_cache(maxsize=4096)
def normal(text: str) -> str:
    """Lower case, without articles, punctuation and the marks of citations."""
    return " ".join(_ARTICLES.sub(" ", _words(text)).split())


def compared(said: str, gold: str) -> tuple[str, str]:
    """Both as they are compared. A gold answer of which nothing would be left ("A", the first of four options; "+")
    keeps its articles or, where it is a sign alone, all there is, and so does the answer held against it.
    """
    for form in (normal, _words, _spaced):
        if wanted := form(gold):
            return form(said), wanted
    return normal(said), gold.casefold().strip()  # the mark of a citation, which no answer is


def _words(text: str) -> str:
    return " ".join(_OTHER.sub(" ", _MARKS.sub(" ", text.casefold())).split())


def _spaced(text: str) -> str:
    return " ".join(_MARKS.sub(" ", text.casefold()).split())


def unmarked(text: str) -> str:
    """An answer without the marks of its citations."""
    return " ".join(_MARKS.sub(" ", text).split())
