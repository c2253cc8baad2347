"""Questions over 2Wiki passages with gold titles, as files of systems' results hold them.

`{"question", "answer", "evidence": [title found, …], "ground_truth": [gold title, …]}`. What the system found is read
by `ragways eval import`.
"""

from __future__ import annotations

from pathlib import Path

from ragways.evaluation.datasets.reading import rows, words
from ragways.evaluation.question import Gold, Question


def questions(file: Path) -> list[Question]:
    """`answer` is what the system said, not the right one: these files do not hold that."""
    return [
        Question(
            words(row.get("id", number)),
            words(row["question"]),
            gold=tuple(Gold(title=title) for title in dict.fromkeys(map(words, row["ground_truth"]))),
        )
        for number, row in enumerate(rows(file))
    ]
