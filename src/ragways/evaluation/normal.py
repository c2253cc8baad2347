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
    text = _OTHER.sub(" ", _MARKS.sub(" ", text.casefold()))
    return " ".join(_ARTICLES.sub(" ", text).split())


def unmarked(text: str) -> str:
    """An answer without the marks of its citations."""
    return " ".join(_MARKS.sub(" ", text).split())
