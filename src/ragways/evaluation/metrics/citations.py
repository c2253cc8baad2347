"""Whether citations are real: the quote stands, word for word, in the piece of evidence that it is said to come from.

A triplet or a report is our own wording, and what it rests on is not in the record; citations of those are left out.
"""

from __future__ import annotations

from ragways.evaluation.metric import Metric
from ragways.evaluation.record import Record

_VERBATIM = ("chunk", "sentence", "paragraph", "section", "article")


def _valid(record: Record) -> float | None:
    pieces = {piece["id"]: piece for piece in record.evidence}
    traced = [_stands(citation, pieces.get(citation["piece"])) for citation in record.citations]
    known = [one for one in traced if one is not None]
    return sum(known) / len(known) if known else None


def _stands(citation: dict[str, object], piece: dict[str, object] | None) -> bool | None:
    """None where it cannot be told; a piece that was not among the evidence is none to cite."""
    if piece is None:
        return False
    if piece.get("kind", "chunk") not in _VERBATIM:
        return None
    quote = _plain(citation["quote"])
    return bool(quote) and quote in _plain(piece["text"])


def _plain(text: object) -> str:
    return " ".join(str(text).split())


CITATIONS = (
    Metric("citations-valid", "exact", "citations whose quote stands in the evidence they name", ("citations",),
           of=_valid),
)  # fmt: skip
