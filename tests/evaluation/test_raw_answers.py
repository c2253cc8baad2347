"""Figures are computed on what the model wrote: the same words score the same, however they came."""

from __future__ import annotations

import json
from pathlib import Path

from ragways.evaluation.record import Records
from ragways.testing import LoopbackServer
from tests.apps.conftest import Run, home, ragways  # noqa: F401 - fixtures
from tests.fakes import write

WORDS = {
    "Where is the guide?": "https://docs.example.com/guide?a=1&b=2",
    "What type does items return?": "Map<String, Item>",
    "Which site has the tide tables?": "www.tides.example/tables",
}
TEXT = "The guide is at https://docs.example.com/guide?a=1&b=2. items returns Map<String, Item>. "


def test_a_paradigm_and_an_import_of_the_same_words_score_the_same(ragways: Run, home: Path):  # noqa: F811
    write(home / "docs", {"guide.txt": TEXT + "The site www.tides.example/tables has the tide tables."})
    assert ragways("index", "docs").code == 0
    questions = [
        {"id": str(n), "question": text, "answer": answer, "type": "factual"}
        for n, (text, answer) in enumerate(WORDS.items(), start=1)
    ]
    write(home, {"questions.jsonl": "".join(json.dumps(one) + "\n" for one in questions)})

    def reply(body) -> str:
        question = body["messages"][-1]["content"].rpartition("Question: ")[2].strip()
        return f"{WORDS[question]} [1]"

    files = ["--questions", "questions.jsonl", "--index", ".ragways"]
    with LoopbackServer(reply) as server:
        write(home, {"ragways.toml": f"[model]\nbase_url = '{server.base_url}'\nname = 'loop'\n"})
        done = ragways("eval", "run", *files, "--paradigms", "words", "--out", "own")
    assert done.code == 0, done.err
    records = sorted(Records(home / "own"), key=lambda record: record.question)
    assert [record.answer for record in records] == [f"{answer} [1]" for answer in WORDS.values()]
    rows = [{"id": record.question, "answer": record.answer} for record in records]
    write(home, {"theirs.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})
    done = ragways(
        "eval", "import", "theirs.jsonl", "--questions", "questions.jsonl", "--name", "theirs", "--out", "in"
    )
    assert done.code == 0, done.err
    means = [ragways("eval", "score", run, "--json").data[0]["metrics"]["f1"]["mean"] for run in ("own", "in")]
    assert means == [1.0, 1.0]
