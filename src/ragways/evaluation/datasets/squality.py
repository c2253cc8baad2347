"""SQuALITY (v1.3): short stories, five questions each, four summaries written by people as answers.

A line is a story: `{"metadata": {"passage_id", …}, "document", "questions": [{"question_text", "question_number",
"responses": [{"response_text"}]}]}`. Every story is asked for its plot in the same words, which says nothing once the
stories are one corpus; so the story's title, which is the first line of its text, is added to each question.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragways.evaluation.datasets.reading import Row, answers, rows, words
from ragways.evaluation.question import Gold, Question


def questions(file: Path) -> list[Question]:
    return [
        Question(
            f"{line['metadata']['passage_id']}-{asked['question_number']}",
            f"{words(asked['question_text']).strip()} (in “{_title(line)}”)",
            answers([words(response["response_text"]).strip() for response in asked.get("responses") or []]),
            "plot" if int(asked["question_number"]) == 1 else "detail",
            (Gold(title=_title(line), key=words(line["metadata"]["passage_id"])),),
        )
        for line in rows(file)
        for asked in line["questions"]
    ]


def corpus(file: Path) -> Iterator[Row]:
    """Every story once."""
    seen: set[str] = set()
    for line in rows(file):
        id = words(line["metadata"]["passage_id"])
        if id not in seen:
            seen.add(id)
            yield {"id": id, "title": _title(line), "text": words(line["document"])}


def _title(line: Row) -> str:
    return next((text.strip() for text in words(line["document"]).split("\n") if text.strip()), "")
