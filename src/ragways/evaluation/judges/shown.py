"""The texts of a record as judges see them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ragways.evaluation.normal import unmarked
from ragways.evaluation.record import Record


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
