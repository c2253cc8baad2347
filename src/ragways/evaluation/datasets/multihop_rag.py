"""MultiHop-RAG: questions over news articles, with the articles that hold the evidence."""

from __future__ import annotations

from pathlib import Path

from ragways.evaluation.datasets.reading import rows
from ragways.evaluation.question import Gold, Question


def questions(file: Path) -> list[Question]:
    return [
        Question(
            str(number),
            str(row["query"]),
            (str(row.get("answer", "")),),
            str(row.get("question_type", "")).removesuffix("_query"),
            tuple(Gold(title=title) for title in dict.fromkeys(str(e["title"]) for e in row.get("evidence_list", []))),
        )
        for number, row in enumerate(rows(file))
    ]
