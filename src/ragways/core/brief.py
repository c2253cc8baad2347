"""Values in a few words, as a trace shows what goes into a step and what comes out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass

from ragways.core.text import counted, shortened
from ragways.core.types import Answer, Evidence, Hit, Hits, Query

LONGEST = 200
"""Characters of one input or output: people read a trace, and every record holds one."""


def brief(value: object) -> str:
    """A value in a few words. Other than nouns of `core` are shown by their property `brief`, or by their fields."""
    match value:
        case Query():
            text = value.text
        case Hits():
            text = _listed(value.items)
        case Evidence():
            text = f"{_listed(value.items)} ({value.tokens:,} tokens)"
        case Answer():
            text = value.text
        case _:
            text = getattr(value, "brief", "") or _fields(value)
    return shortened(text[: 4 * LONGEST], LONGEST)


def _listed(hits: Sequence[Hit]) -> str:
    # Titles of the first few only: a list may be long, and steps are timed.
    titles = list(dict.fromkeys(hit.piece.title or hit.piece.id for hit in hits[:12]))
    return counted(len(hits), "piece", things=titles)


def _fields(value: object) -> str:
    """The reply of a task: `low Ness Light; high built`."""
    if not is_dataclass(value):
        return str(value)
    shown = ((field.name, _plain(getattr(value, field.name))) for field in fields(value))
    return "; ".join(f"{name} {text}" for name, text in shown if text)


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_plain(each) for each in value[:5]) + (" …" if len(value) > 5 else "")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _fields(value) if is_dataclass(value) else str(value)
