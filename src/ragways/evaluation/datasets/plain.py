"""A set of one's own: a line a question, `{"question", "answers", "type", "evidence": [{"title", "quote"}]}`.

Of a piece of evidence, `key` names its document and `id` its chunk where they are known; `provenance` says what a
generated question was made from. Nothing of a set that ragways wrote is lost in reading it. An empty answer is none;
that a question has no answer is said by its type, `null`, or by the answer "Insufficient information".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ragways.evaluation.datasets.reading import answers, rows, words
from ragways.evaluation.question import Gold, Question

_FIELDS = ("title", "text", "key", "quote", "id", "statement")


def row(question: Question) -> dict[str, Any]:
    """A question as a line of this layout, with nothing left out."""
    said: dict[str, Any] = {
        "id": question.id,
        "question": question.text,
        "answers": list(question.answers),
        "type": question.type,
        "evidence": [{name: value for name, value in asdict(gold).items() if value} for gold in question.gold],
    }
    return said | ({"provenance": dict(question.provenance)} if question.provenance else {})


def questions(file: Path) -> list[Question]:
    return [_question(row, number) for number, row in enumerate(rows(file))]


def _question(row: dict[str, Any], number: int) -> Question:
    name = row.get("id")
    provenance = row.get("provenance", {})
    return Question(
        words(number if name is None else name),
        words(row["question"]),
        answers(row.get("answers")) or answers(row.get("answer")),
        words(row.get("type")),
        tuple(map(_gold, row.get("evidence") or ())),
        provenance if isinstance(provenance, Mapping) else {},
    )


def _gold(evidence: object) -> Gold:
    if not isinstance(evidence, Mapping):
        return Gold(quote=str(evidence))
    return Gold(**{name: words(evidence.get(name)) for name in _FIELDS})
