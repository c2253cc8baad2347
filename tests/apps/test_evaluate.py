"""`ragways eval retrieval` on the bundled questions and on a small set in another layout."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ragways.evaluation.record import Records
from tests.apps.conftest import Run, one_line


def test_on_a_small_corpus(ragways: Run, home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RAGWAYS_CACHE", str(home / "cache"))
    corpus = [{"title": "Tern", "text": "The Tern was built by Anna Brack."},
              {"title": "Brack", "text": "Anna Brack was born in Port Averne."},
              {"title": "Market", "text": "Fish is sold on Monday."}]  # fmt: skip
    questions = [
        {"id": "1", "question": "Who built the Tern?", "answer": "Anna Brack", "supporting_facts": [["Tern", 0]]},
        {"id": "2", "question": "When is fish sold?", "answer": "Monday", "supporting_facts": [["Market", 0]]},
        {"id": "3", "question": "Who sells?", "answer": "nobody", "supporting_facts": []},
        {"id": "4", "question": "Where is the Gull?", "answer": "", "supporting_facts": [["Gull", 0]]},
    ]
    (home / "corpus.json").write_text(json.dumps(corpus))
    (home / "questions.json").write_text(json.dumps(questions))
    files = ["--corpus", "corpus.json", "--questions", "questions.json"]
    arguments = ["eval", "retrieval", "--format", "hipporag", *files]
    data = ragways(*arguments, "--paradigms", "words,naive", "--json").data
    words = data["paradigms"][0]
    assert words["paradigm"] == "words"
    assert words["questions"] == 4
    assert words["unscored"] == 1
    assert words["gold_not_in_index"] == 1
    assert words["metrics"]["recall@2"]["n"] == 3
    assert words["metrics"]["recall@2"]["mean"] == pytest.approx(2 / 3)
    assert words["metrics"]["recall@2"]["low"] <= 2 / 3 <= words["metrics"]["recall@2"]["high"]
    shown = ragways(*arguments, "--paradigms", "words")
    assert "unscored: 1 question without gold" in " ".join(shown.out.split())
    (kept,) = (home / "cache" / "evaluation").glob("*/index.sqlite")
    with closing(sqlite3.connect(kept)) as db:  # as an older version left it in the cache
        db.execute("UPDATE meta SET value = '0' WHERE key = 'version'")
        db.commit()
    again = ragways(*arguments, "--paradigms", "words,naive", "--json")
    assert again.code == 0, again.err
    assert again.data["paradigms"][0]["metrics"] == words["metrics"]
    one_line(ragways(*arguments[:3], "hippo", *arguments[4:]), 2, "did you mean hipporag?")
    one_line(ragways(*arguments, "--paradigms", "wrods"), 2, "did you mean words?")


def test_the_bundled_data_set_by_its_name(ragways: Run, home: Path):
    done = ragways(
        "eval", "run", "--dataset", "demo", "--paradigms", "words,words[k=3]", "--limit", "2", "--out", "run"
    )
    assert done.code == 0, done.err
    records = list(Records(home / "run"))
    assert {record.paradigm for record in records} == {"words", "words[k=3]"}
    assert all(len(record.evidence) <= 3 for record in records if record.paradigm == "words[k=3]")
    assert {record.settings["k"] for record in records} == {10, 3}
    one_line(ragways("eval", "run", "--out", "x"), 2, "--dataset NAME")
    one_line(ragways("eval", "run", "--dataset", "musique", "--out", "x"), 2, "--data FOLDER")
    one_line(
        ragways("eval", "run", "--dataset", "demo", "--paradigms", "words[k=3", "--out", "x"), 2, "closing bracket"
    )
