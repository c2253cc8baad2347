"""GraphRAG-Bench: one long text, and questions of four kinds.

`{"id", "source", "question", "answer", "question_type", "evidence": [statement, …]}`. The statements are in a model's
words: of 5,923 about the medical text 29 stand in it as they are. They are looked for by their words, and some three in
ten are then found nowhere, so recall on this set stays below .7 and serves to compare ways with each other alone.
"""

from __future__ import annotations

from pathlib import Path

from ragways.evaluation.datasets.reading import answers, rows, words
from ragways.evaluation.question import Gold, Question


def questions(file: Path) -> list[Question]:
    return [
        Question(
            words(row.get("id", number)),
            words(row["question"]),
            answers(row.get("answer")),
            words(row.get("question_type")),
            tuple(
                Gold(statement=text) for text in dict.fromkeys(map(words, row.get("evidence") or ())) if text.strip()
            ),
        )
        for number, row in enumerate(rows(file))
    ]
