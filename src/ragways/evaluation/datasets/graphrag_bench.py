"""GraphRAG-Bench: one long text, and questions with the sentences that hold the evidence."""

from __future__ import annotations

from pathlib import Path

from ragways.evaluation.datasets.reading import rows
from ragways.evaluation.question import Gold, Question


def questions(file: Path) -> list[Question]:
    return [
        Question(
            str(row.get("id", number)),
            str(row["question"]),
            (str(row.get("answer", "")),),
            str(row.get("question_type", "")),
            tuple(Gold(quote=str(quote)) for quote in dict.fromkeys(row.get("evidence") or []) if str(quote).strip()),
        )
        for number, row in enumerate(rows(file))
    ]
