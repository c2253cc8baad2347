"""Each layout is read as it lies; gold is found in the index; a wrong file is an error that helps."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from ragways.core.errors import UsageError
from ragways.evaluation.datasets import DATASETS, load_questions
from ragways.evaluation.question import Gold

ROWS: dict[str, list[dict[str, object]]] = {
    "hipporag": [
        {"id": "m1", "question": "Who?", "answer": "Brack", "answer_aliases": ["A. Brack"], "paragraphs": [
            {"title": "A", "paragraph_text": "yes", "is_supporting": True},
            {"title": "B", "paragraph_text": "no", "is_supporting": False}]},
        {"_id": "h1", "question": "Where?", "answer": "Here", "type": "bridge",
         "supporting_facts": [["A", 0], ["A", 2], ["C", 1]]},
        {"id": "d1", "question": "When?", "answer": "1801", "hop_type": "bridge", "gold_support_chunk_ids": ["c1"]},
    ],
    "multihop-rag": [{"query": "Which?", "answer": "yes", "question_type": "comparison_query",
                      "evidence_list": [{"title": "A", "fact": "x"}, {"title": "A", "fact": "y"}]}],
    "graphrag-bench": [{"id": "g1", "question": "What?", "answer": "This", "question_type": "Fact Retrieval",
                        "evidence": ["A sentence."]}],
    "2wiki-results": [{"question": "When?", "answer": "", "evidence": ["A"], "ground_truth": ["A", "B"]}],
    "plain": [{"id": "q1", "question": "Who?", "answers": ["Brack"], "type": "factual",
               "evidence": [{"title": "A", "quote": "built by Brack"}]}],
}  # fmt: skip

GOLD = {
    "hipporag": [(Gold(title="A", text="yes"),), (Gold(title="A"), Gold(title="C")), (Gold(key="c1"),)],
    "multihop-rag": [(Gold(title="A"),)],
    "graphrag-bench": [(Gold(quote="A sentence."),)],
    "2wiki-results": [(Gold(title="A"), Gold(title="B"))],
    "plain": [(Gold(title="A", quote="built by Brack"),)],
}


@pytest.mark.parametrize("name", list(DATASETS))
@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".jsonl"])
def test_every_layout_is_read(tmp_path: Path, name: str, suffix: str):
    rows = ROWS[name]
    text = "\n".join(map(json.dumps, rows)) if suffix == ".jsonl" else json.dumps(rows)
    file = tmp_path / f"questions{suffix}"
    file.write_bytes(gzip.compress(text.encode()) if suffix.endswith(".gz") else text.encode())
    questions = load_questions(name, file)
    assert [question.gold for question in questions] == GOLD[name]
    assert all(question.text for question in questions)


@pytest.mark.parametrize("name", list(DATASETS))
@pytest.mark.parametrize("content", [b"", b"{}", b"[1, 2]", b"[{}]", b"\xff\xfe", b"[{'a': 1}]"])
def test_a_wrong_file_is_an_error_that_helps(tmp_path: Path, name: str, content: bytes):
    file = tmp_path / "questions.json"
    file.write_bytes(content)
    with pytest.raises(UsageError):
        load_questions(name, file)
    with pytest.raises(UsageError, match="cannot read"):
        load_questions(name, tmp_path / "nowhere.json")
