"""QuALITY (v1.0.1, the files `htmlstripped`): long articles, questions with four options each.

A line is what one writer asked about one article, so that an article stands on two lines: `{"article_id",
"set_unique_id", "title", "article", …, "questions": [{"question", "question_unique_id", "options", "gold_label" (from
1), "writer_label", "difficult" (0 or 1)}]}`. The test part has no labels. The answer is the text of the gold option;
the question is asked without its options, which is how it is asked of a corpus.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragways.evaluation.datasets.reading import Row, answers, rows, words
from ragways.evaluation.question import Gold, Question


def questions(file: Path) -> list[Question]:
    return [
        Question(
            words(asked.get("question_unique_id")) or f"{line['article_id']}-{number}",
            words(asked["question"]),
            answers(_gold_option(asked)),
            _type(asked),
            (Gold(title=words(line.get("title")), key=words(line["article_id"])),),
        )
        for line in rows(file)
        for number, asked in enumerate(line["questions"], start=1)
    ]


def corpus(file: Path) -> Iterator[Row]:
    """Every article once."""
    seen: set[str] = set()
    for line in rows(file):
        id = words(line["article_id"])
        if id not in seen:
            seen.add(id)
            facts = {name: words(line.get(name)) for name in ("author", "url", "source", "topic")}
            yield {"id": id, "title": words(line.get("title")), "text": words(line["article"]), **facts}


def _gold_option(asked: Row) -> str:
    if asked.get("gold_label") is None:
        return ""
    options, label = asked["options"], int(asked["gold_label"])
    if not 1 <= label <= len(options):
        raise ValueError(f"gold_label {label} of {len(options)} options")
    return words(options[label - 1])


def _type(asked: Row) -> str:
    """`hard`: most readers in a hurry were wrong."""
    return "" if asked.get("difficult") is None else "hard" if int(asked["difficult"]) else "easy"
