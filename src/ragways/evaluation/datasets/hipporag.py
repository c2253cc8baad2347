"""MuSiQue, HotpotQA and 2WikiMultihopQA as HippoRAG lays them out, and questions that name gold chunks by id.

`{"id" or "_id", "question", "answer", "answer_aliases"}` with the gold evidence as `paragraphs` of which some have
`is_supporting` (MuSiQue), as `supporting_facts: [[title, sentence], …]` (HotpotQA, 2Wiki) or as
`gold_support_chunk_ids`.
"""

from __future__ import annotations

import re
from pathlib import Path

from ragways.evaluation.datasets.reading import Row, answers, rows, words
from ragways.evaluation.question import Gold, Question


def questions(file: Path) -> list[Question]:
    return [_question(row, number) for number, row in enumerate(rows(file))]


def _question(row: Row, number: int) -> Question:
    said = answers(row.get("answer"), row.get("answer_aliases") or [])
    id = words(row.get("id") or row.get("_id") or number)
    kind = words(row.get("type") or row.get("hop_type")) or _hops(id)
    return Question(id, words(row["question"]), said, kind, tuple(_gold(row)))


def _hops(id: str) -> str:
    """MuSiQue says in a question's id how many hops it takes: `3hop1__…`."""
    found = re.match(r"[2-9]hop(?=\d?__)", id)
    return found[0] if found else ""


def _gold(row: Row) -> list[Gold]:
    if "gold_support_chunk_ids" in row:
        return [Gold(key=words(id)) for id in row["gold_support_chunk_ids"]]
    if any("is_supporting" in paragraph for paragraph in row.get("paragraphs", [])):
        return [
            Gold(
                title=words(paragraph["title"]),
                text=words(paragraph.get("paragraph_text", paragraph.get("text"))),
            )
            for paragraph in row["paragraphs"]
            if paragraph.get("is_supporting")
        ]
    titles = dict.fromkeys(words(title) for title, _ in row.get("supporting_facts", []))
    return [Gold(title=title) for title in titles]
