"""How likely passages are evidence for a question, by the reader: several are read together, each in the others' light.

A passage that says nothing of the question by itself is evidence where it goes on from another one that does; so the
reader sees them side by side. What it says of a passage is a logit (`models/reader.py`), one thing among those by which
`fused` orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragways.core.errors import MissingPart, StoreFailed
from ragways.core.language import language
from ragways.core.trace import current_span
from ragways.core.types import Piece
from ragways.models.reader import READER_LANGUAGE
from ragways.reading.windows import windows
from ragways.retrieval.resources import Resources

TOGETHER: Final = 6
"""Passages read in one pass."""
SIZE: Final = 260
"""Characters of each: six of them and a question fill what the reader takes in."""
FEW: Final = 3
PASS: Final = 100
"""CPU milliseconds that a pass of six takes; one of three takes half."""


def affordable(milliseconds: float) -> int:
    """How many passages can be read in so many CPU milliseconds."""
    if milliseconds < PASS:
        return FEW if milliseconds >= PASS / 2 else 0
    return TOGETHER * int(milliseconds // PASS)


async def evidence_logits(use: Resources, question: str, pieces: Sequence[Piece]) -> list[float] | None:
    """For each piece the logit of being evidence; None where there is no reader, or none for this language."""
    if use.reader is None or language(question) not in ("", READER_LANGUAGE):
        return None
    shown = windows(question, [(piece.title, _sentences(use, piece)) for piece in pieces], SIZE)
    groups = [shown[begin : begin + TOGETHER] for begin in range(0, len(shown), TOGETHER)]
    try:
        readings = await use.reader.read(question, [[window.shown for window in group] for group in groups], most=1)
    except (MissingPart, StoreFailed) as error:  # the answer tells it, too
        current_span().details["not read"] = str(error)
        return None
    found = {
        window.passage: logit
        for group, reading in zip(groups, readings, strict=True)
        for window, logit in zip(group, reading.evidence, strict=True)
    }
    lowest = min(found.values(), default=0.0)
    return [found.get(number, lowest) for number in range(len(pieces))]


def _sentences(use: Resources, piece: Piece) -> list[str]:
    spans = use.index.sentences(piece)
    return [piece.text[start - piece.start : end - piece.start] for start, end in spans] or [piece.text]
