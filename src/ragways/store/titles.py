"""Titles by their letters, so that one is found by a name that is written otherwise."""

from __future__ import annotations

import math
import unicodedata

from ragways.core.types import title_name

LONGEST = 200
"""Characters of a title that are compared."""
_RUN = 3


def letters(title: str) -> str:
    """A title as its letters are compared, without marks and capitals. Spaces around it make runs of its borders, so
    that one of two letters has some, too.
    """
    name = title_name(title.replace("\0", " "))[:LONGEST]
    if not name.isascii():
        decomposed = unicodedata.normalize("NFKD", name)
        name = "".join(sign for sign in decomposed if not unicodedata.combining(sign))[:LONGEST]
    return f"  {name} "


def query_of(name: str, length: int = _RUN) -> str:
    """The query of SQLite's full-text search for titles that share so many letters in a row with this name. Fewer of
    them share four than three, so that is quicker.
    """
    stretches = '" OR "'.join(stretch.replace('"', '""') for stretch in sorted(_runs(letters(name), length)))
    return f'"{stretches}"' if stretches else ""


def likeness(one: str, other: str) -> float:
    """How like the letters of two names are (`letters`): the cosine of their runs of three, 1 where they are equal."""
    runs, others = _runs(one, _RUN), _runs(other, _RUN)
    return len(runs & others) / math.sqrt(len(runs) * len(others))


def _runs(text: str, length: int) -> set[str]:
    return {text[at : at + length] for at in range(len(text) - length + 1)}
