"""MuSiQue, HotpotQA and 2WikiMultihopQA as HippoRAG lays them out, and questions that name gold chunks by id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragways.evaluation.datasets.reading import rows
from ragways.evaluation.question import Gold, Question


def questions(file: Path) -> list[Question]:
    return [_question(row, number) for number, row in enumerate(rows(file))]


def _question(row: dict[str, Any], number: int) -> Question:
    answers = [str(row.get("answer", "")), *map(str, row.get("answer_aliases", []) or [])]
    kind = str(row.get("type") or row.get("hop_type") or "")
    id = str(row.get("id") or row.get("_id") or number)
    return Question(id, str(row["question"]), tuple(filter(None, answers)), kind, tuple(_gold(row)))


def _gold(row: dict[str, Any]) -> list[Gold]:
    if "gold_support_chunk_ids" in row:
        return [Gold(key=str(id)) for id in row["gold_support_chunk_ids"]]
    if any("is_supporting" in paragraph for paragraph in row.get("paragraphs", [])):
        return [
            Gold(title=str(paragraph["title"]), text=str(paragraph.get("paragraph_text", paragraph.get("text", ""))))
            for paragraph in row["paragraphs"]
            if paragraph.get("is_supporting")
        ]
    titles = dict.fromkeys(str(title) for title, _ in row.get("supporting_facts", []))
    return [Gold(title=title) for title in titles]
