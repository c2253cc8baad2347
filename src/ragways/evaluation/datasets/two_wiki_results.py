"""Questions over 2Wiki passages with gold titles, as files of systems' results hold them."""

from __future__ import annotations

from pathlib import Path

from ragways.evaluation.datasets.reading import rows
from ragways.evaluation.question import Gold, Question


def questions(file: Path) -> list[Question]:
    return [
        Question(
            str(number),
            str(row["question"]),
            (str(row["answer"]),) if row.get("answer") else (),
            gold=tuple(Gold(title=title) for title in dict.fromkeys(map(str, row["ground_truth"]))),
        )
        for number, row in enumerate(rows(file))
    ]
