"""A run goes on only as what it is: the same questions, index, settings; and nothing of it is lost on the way."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from ragways.core import log as jsonl
from ragways.core.errors import UsageError
from ragways.evaluation.question import Gold, Question
from ragways.evaluation.record import FILE, Record, Records, RunInfo, begin, questions_hash
from tests.apps.conftest import CORPUS, Run, home, one_line, ragways  # noqa: F401 - fixtures
from tests.fakes import write

QUESTIONS: list[dict[str, Any]] = [
    {"id": "a", "question": "Who built the harbour light?", "answers": ["Anna Brack"]},
    {"id": "b", "question": "Which ship saved the keeper?", "answers": ["Tern"],
     "evidence": [{"title": "A document that is not there"}]},
]  # fmt: skip


def put(file: Path, rows) -> str:
    file.write_text("\n".join(map(json.dumps, rows)))
    return file.name


@pytest.fixture
def indexed(ragways: Run, home: Path) -> Run:  # noqa: F811
    write(home / "docs", CORPUS)
    assert ragways("index", "docs").code == 0
    return ragways


def test_a_run_does_not_go_on_as_another(indexed: Run, home: Path):  # noqa: F811
    questions = put(home / "q.jsonl", QUESTIONS)
    run = ("eval", "run", "--paradigms", "words", "--out", "run")
    assert indexed(*run, "--questions", questions).code == 0
    before = (home / "run" / FILE).read_text()
    others = put(home / "others.jsonl", [{**QUESTIONS[0], "question": "Who burnt the harbour light?"}])
    one_line(indexed(*run, "--questions", others), 2, "is another one there")
    (home / "ragways.toml").write_text("[paradigms.words]\nk = 3\n")
    one_line(indexed(*run, "--questions", questions), 2, "words has other settings")
    (home / "ragways.toml").unlink()
    write(home / "docs", {"new.txt": "The Tern sank in 1890."})
    assert indexed("index", "docs").code == 0
    one_line(indexed(*run, "--questions", questions), 2, "another index, or the index has changed")
    assert (home / "run" / FILE).read_text() == before
    for out in ("q.jsonl", "q.jsonl/run"):
        one_line(indexed("eval", "run", "--questions", questions, "--out", out), 2, "cannot write")


def test_settings_seed_and_model_are_those_it_began_with(tmp_path: Path):
    first = begin(tmp_path, RunInfo(seed=1, model="m", variants={"naive": {"k": 10}}, guard={"copies": 1}))
    again = begin(tmp_path, RunInfo(seed=1, model="m", variants={"words": {"k": 5}}, guard={"copies": 1}))
    assert again.variants == {
        "naive": {"k": 10},
        "words": {"k": 5},
    }
    assert begin(tmp_path, RunInfo(seed=1, model="m", guard={"copies": 1})).id == first.id
    others: list[dict[str, Any]] = [
        {"seed": 2}, {"model": "n"}, {"prompts": "native"}, {"temperature": 0.3},
        {"guard": {"copies": 0}},
        {"variants": {"naive": {"k": 11}}}
    ]  # fmt: skip
    for changes in others:
        with pytest.raises(UsageError):
            begin(tmp_path, RunInfo(**{"seed": 1, "model": "m", "guard": {"copies": 1}, **changes}))


def test_the_hash_of_a_run_is_that_of_its_questions_and_gold(indexed: Run, home: Path):  # noqa: F811
    asked = [Question("a", "Who built it?", ("Anna",), gold=(Gold(key="a.md"),)), Question("b", "When?", ("1900",))]
    same = questions_hash(asked)
    assert questions_hash(reversed(asked)) == same
    assert questions_hash([*asked, *asked]) == same
    for change in ({"text": "Who?"}, {"answers": ("Bea",)}, {"gold": (Gold(key="b.md"),)}, {"id": "c"}):
        assert questions_hash([replace(asked[0], **change), asked[1]]) != same
    for count in (1, 2):  # a run that goes on with more questions
        questions = put(home / "q.jsonl", QUESTIONS[:count])
        assert indexed("eval", "run", "--questions", questions, "--paradigms", "words", "--out", "run").code == 0
        info = RunInfo.read(home / "run")
        assert info is not None
        assert info.questions == questions_hash(Records(home / "run"))


def test_lines_that_are_no_records_are_counted_and_kept(tmp_path: Path):
    records = Records(tmp_path)
    good = Record("q", "?", "", ("Paris",), "naive", 0, answer="Paris")
    records.append(good)
    wrong: list[dict[str, Any]] = [
        {"gold": None}, {"gold": "Paris"}, {"ranks": ["a"]}, {"answer": None}, {"usage": None}, {"type": None},
        {"from_the_future": 1}, {"citations": ["x"]},
    ]  # fmt: skip
    for changes in wrong:
        jsonl.append(tmp_path / FILE, {**asdict(good), **changes})
    with (tmp_path / FILE).open("a") as file:
        file.write("[" * 100_000 + "\n" + '{"question": "cut sho')
    assert list(records) == [good]
    assert records.unreadable == len(wrong) + 1, "one cut short by a kill is not among them"
    records.append(good)
    assert list(records) == [good]
    assert "cut sho" not in (tmp_path / FILE).read_text()
    assert "from_the_future" in (tmp_path / FILE).read_text()
