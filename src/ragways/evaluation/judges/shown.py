"""The texts of a record as judges see them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ragways.core.types import content_hash
from ragways.evaluation.normal import unmarked
from ragways.evaluation.record import Record

_SHOWN = ("title", "date", "text")
"""What a passage is made of."""


def mark(record: Record) -> str:
    """A name for all that judges see of a record: one whose answer, evidence or gold is another has another."""
    seen = {
        "question": [record.text, record.type.casefold()],
        "answer": [record.answer, record.abstained],
        "gold": [list(record.gold), wanted_texts(record)],
        "evidence": [[str(piece.get(name, "")) for name in _SHOWN] for piece in record.evidence],
        "cited": [[citation.get("sentence"), citation.get("quote")] for citation in record.citations],
    }
    # Half a character is written to the file as another: the name is that of what will be read again.
    return content_hash(json.dumps(seen, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8"))[:16]


def said(record: Record) -> str:
    """The answer without the marks of its citations; its lines stay lines."""
    return "\n".join(filter(None, map(unmarked, record.answer.splitlines())))


def passages(record: Record) -> list[str]:
    """Pieces of evidence in their order, each under its title, as they were shown to the model that answered."""
    return [_passage(piece) for piece in record.evidence]


def evidence(record: Record) -> str:
    return "\n\n".join(passages(record))


def found_texts(record: Record) -> list[str]:
    """What was found, in the words of the documents alone."""
    return [text for piece in record.evidence if (text := str(piece.get("text", "")).strip())]


def wanted_texts(record: Record) -> list[str]:
    """The gold evidence in words, where the data set has its words and not its titles alone."""
    found = (str(gold.get("quote") or gold.get("text") or "").strip() for gold in record.wanted)
    return list(dict.fromkeys(filter(None, found)))


@lru_cache(maxsize=8192)
def sentences(text: str) -> tuple[str, ...]:
    """Sentences of a text; those without a letter or digit say nothing and are left out."""
    from ragways.corpus.structure import sentence_spans

    return tuple(
        text[start:end] for start, end in sentence_spans(text) if any(sign.isalnum() for sign in text[start:end])
    )


def _passage(piece: Mapping[str, Any]) -> str:
    date = f" ({piece['date']})" if piece.get("date") else ""
    return f"{piece.get('title', '')}{date}\n{piece.get('text', '')}".strip()
