"""MultiHop-RAG: questions over news articles, with the articles that hold the evidence.

`{"query", "answer", "question_type": "inference_query", "evidence_list": [{"title", "url", "fact", …}]}`.
"""

from __future__ import annotations

from pathlib import Path

from ragways.evaluation.datasets.reading import answers, rows, words
from ragways.evaluation.question import Gold, Question


def questions(file: Path) -> list[Question]:
    return [
        Question(
            words(row.get("id", number)),
            words(row["query"]),
            answers(row.get("answer")),
            words(row.get("question_type")).removesuffix("_query"),
            tuple(
                Gold(title=title) for title in dict.fromkeys(words(e["title"]) for e in row.get("evidence_list") or [])
            ),
        )
        for number, row in enumerate(rows(file))
    ]
