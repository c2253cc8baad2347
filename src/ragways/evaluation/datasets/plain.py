"""A set of one's own: a line a question, `{"question", "answers", "type", "evidence": [{"title", "quote"}]}`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragways.evaluation.datasets.reading import rows
from ragways.evaluation.question import Gold, Question


def questions(file: Path) -> list[Question]:
    return [_question(row, number) for number, row in enumerate(rows(file))]


def _question(row: dict[str, Any], number: int) -> Question:
    answers = row.get("answers", row.get("answer", []))
    gold = (
        Gold(title=str(e.get("title", "")), quote=str(e.get("quote", "")))
        if isinstance(e, dict)
        else Gold(quote=str(e))
        for e in row.get("evidence", [])
    )
    return Question(
        str(row.get("id", number)),
        str(row["question"]),
        tuple(map(str, answers)) if isinstance(answers, list) else (str(answers),),
        str(row.get("type", "")),
        tuple(gold),
    )
