"""A model that says the same again and again: seen while it writes, so that it can be stopped.

Small models fall into a loop and write until their limit. A text is in one when its last 1,200 characters are copies of
one unit of at most 300, so four or more. Rules of dashes, dots and spaces may be long: a unit holds a letter.
"""

from __future__ import annotations

import re

TAIL = 1200
"""Characters at the end of a text that are looked at."""
LONGEST_UNIT = 300
STEP = 300
"""New characters between two looks."""
_END = re.compile(r"(?<=[.!?:…。])\s+|\n+")


class RepeatsItself(Exception):
    """The model repeats itself: nothing more of its reply is wanted."""


class RepeatWatch:
    """Takes a text piece by piece, and raises `RepeatsItself` where it has begun to repeat itself."""

    def __init__(self) -> None:
        self.repeats = False
        self._pieces: list[str] = []
        self._tail = ""
        self._new = 0

    @property
    def text(self) -> str:
        """All that was written."""
        return "".join(self._pieces)

    def take(self, piece: str) -> None:
        self._pieces.append(piece)
        self._tail = (self._tail + piece)[-TAIL:]
        self._new += len(piece)
        if self._new >= STEP:
            self._new = 0
            self.repeats = unit_at_end(self._tail) > 0
        if self.repeats:
            raise RepeatsItself


def unit_at_end(text: str) -> int:
    """Length of the shortest unit that the end of a text is copies of; 0 where there is none."""
    tail, at = text[-TAIL:], 0
    if len(tail) < TAIL:
        return 0
    while (at := tail.find(tail[:-LONGEST_UNIT], at + 1)) > 0:
        if tail[at:] == tail[:-at]:
            return at if any(map(str.isalpha, tail[:at])) else 0
    return 0


def cut_to_one_copy(text: str) -> str:
    """The text up to the end of the first copy of the unit that it ends with; all of it where it ends with none."""
    unit, start = unit_at_end(text), len(text) - TAIL
    if not unit:
        return text
    while start > 0 and text[start - 1] == text[start - 1 + unit]:
        start -= 1
    # Where what comes before ends as the unit does, the copies seem to begin inside a sentence.
    if start > 0 and not text[start - 1].isspace() and (end := _END.search(text, start, start + unit)):
        start = end.end()
    return text[: start + unit]
