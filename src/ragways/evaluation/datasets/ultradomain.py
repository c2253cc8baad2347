"""UltraDomain: college textbooks and other long texts by domain, a question and its whole context on each line.

`{"input", "answers", "context", "length", "context_id", "_id", "label", "meta": {"title", …}}`, a file a domain
(`agriculture.jsonl`, `cs.jsonl`, `legal.jsonl`, `mix.jsonl`). The data itself was not at hand: `input` and `context`
are as the code of those who use it reads them, the other fields are taken where they are there. Contexts that are
equal are one document, named by a hash of the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragways.core.types import content_hash
from ragways.evaluation.datasets.reading import Row, answers, rows, words
from ragways.evaluation.question import Gold, Question


def questions(file: Path) -> list[Question]:
    return [
        Question(
            words(row.get("_id") or row.get("id") or number),
            words(row["input"]),
            answers(row.get("answers", row.get("answer"))),
            words(row.get("label") or row.get("dataset")),
            (Gold(title=_title(row), key=_id(row)),),
        )
        for number, row in enumerate(rows(file))
    ]


def corpus(file: Path) -> Iterator[Row]:
    """Every context once."""
    seen: set[str] = set()
    for row in rows(file):
        if (id := _id(row)) not in seen:
            seen.add(id)
            yield {"id": id, "title": _title(row), "text": words(row["context"]), "category": words(row.get("label"))}


def _id(row: Row) -> str:
    return content_hash(words(row["context"]))[:16]


def _title(row: Row) -> str:
    meta = row.get("meta")
    return (words(meta.get("title")) if isinstance(meta, dict) else "") or _id(row)
