"""Every question with all its answers, what they rest on, and what was said of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragways.core.plain import to_plain
from ragways.evaluation.question import Gold
from ragways.evaluation.record import EvidenceItem, Record
from ragways.evaluation.score import Scored

EVIDENCE = 2000
"""Characters shown of a piece of evidence."""
ANSWER = 20_000
ALL_EVIDENCE = 24_000_000
"""Characters of all pieces together: past that each is cut shorter, so that a report can still be opened."""
LEAST = 200
_DETAIL = 600
_DETAILS = 40
_DEEP = 4
_USAGE = ("calls", "input", "output", "reasoning", "usd", "evidence")


def questions_data(rows: Sequence[Scored]) -> dict[str, Any]:
    """`questions`, whose answers name their evidence by its place in `pieces`; each piece stands there once."""
    pieces = Pieces()
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        record = row.record
        question = found.setdefault(record.question, {
            "id": record.question, "text": cut(record.text, ANSWER), "type": record.type,
            "gold": [cut(gold, ANSWER) for gold in record.gold], "wanted": [_wanted(gold) for gold in record.wanted],
            "answers": [],
        })  # fmt: skip
        question["answers"].append(_answer(row, pieces))
    length = pieces.length
    return {"questions": list(found.values()), "pieces": pieces.data(length), "evidence_cut_at": length}


class Pieces:
    """Pieces of evidence, each once, however many answers rest on it."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], int] = {}
        self._pieces: list[EvidenceItem] = []

    def place(self, piece: EvidenceItem) -> int:
        key = piece.id, piece.text
        if key not in self._places:
            self._places[key] = len(self._pieces)
            self._pieces.append(piece)
        return self._places[key]

    @property
    def length(self) -> int:
        """So many characters of each can be shown."""
        return EVIDENCE if not self._pieces else max(LEAST, min(EVIDENCE, ALL_EVIDENCE // len(self._pieces)))

    def data(self, length: int) -> list[dict[str, Any]]:
        return [
            {name: value for name in ("id", "kind", "title", "date") if (value := getattr(piece, name))}
            | {"text": cut(piece.text, length)}
            for piece in self._pieces
        ]


def cut(text: str, length: int) -> str:
    """The beginning, and how much is not shown."""
    return text if len(text) <= length else f"{text[:length]}… ({len(text) - length:,} more characters)"


def _answer(row: Scored, pieces: Pieces) -> dict[str, Any]:
    record = row.record
    said: dict[str, Any] = {
        "paradigm": record.paradigm,
        "repeat": record.repeat,
        "answer": cut(record.answer, ANSWER),
        "values": {name: _round(score.value) for name, score in row.values.items() if score.value is not None},
        "seconds": round(record.seconds, 3),
    }
    more: dict[str, Any] = {
        "why": {} if record.error else {name: one.why for name, one in row.values.items() if one.value is None},
        "details": _details(row),
        "error": cut(record.error, EVIDENCE),
        "abstained": record.abstained,
        "way": record.way,
        "ranks": list(record.ranks),
        "evidence": [[pieces.place(one), _round(one.score)] for one in record.evidence],
        "cited": _cited(record),
        "usage": {name: _round(value) for name in _USAGE if (value := getattr(record.usage, name))},
        "tools": record.tools,
    }
    return said | {name: value for name, value in more.items() if value}


def _wanted(gold: Gold) -> dict[str, Any]:
    return {name: _plain(text) for name, text in to_plain(gold).items() if text}


def _details(row: Scored) -> list[dict[str, Any]]:
    """What judges said, once for all metrics that came of it."""
    found: list[tuple[list[str], Mapping[str, Any]]] = []
    for name, score in row.values.items():
        if score.details and found and found[-1][1] == score.details:
            found[-1][0].append(name)
        elif score.details:
            found.append(([name], score.details))
    return [{"metrics": names, "said": _plain(details)} for names, details in found]


def _cited(record: Record) -> list[int]:
    """Numbers of the evidence, from 1, that the answer rests on."""
    named = {citation.piece for citation in record.citations}
    return [number for number, piece in enumerate(record.evidence, start=1) if piece.id in named]


def _round(value: object) -> float | None:
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else round(value, 4)


def _plain(value: object, deep: int = 0) -> Any:  # noqa: ANN401
    """What a judge left behind, within bounds: it may hold whatever a model said."""
    if isinstance(value, str):
        return cut(value, _DETAIL)
    if deep == _DEEP:
        return "…"
    if isinstance(value, Mapping):
        kept = {cut(str(key), 80): _plain(item, deep + 1) for key, item in list(value.items())[:_DETAILS]}
        return kept | ({"…": f"{len(value) - _DETAILS:,} more"} if len(value) > _DETAILS else {})
    if isinstance(value, list | tuple):
        shown = [_plain(item, deep + 1) for item in value[:_DETAILS]]
        return shown + ([f"… {len(value) - _DETAILS:,} more"] if len(value) > _DETAILS else [])
    return _round(value) if isinstance(value, float) else value
