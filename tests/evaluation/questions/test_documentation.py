"""Documentation gives questions without a model: entries, terms and headings, what is refused, and whole sets."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ragways.core.types import ABSTENTION
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.question import holds, plain_words
from ragways.evaluation.questions.entries import KINDS, drafter
from ragways.evaluation.questions.source import AMBIGUOUS, PASSED, NothingToAsk, QuestionSource
from ragways.index.open import Index
from tests.evaluation.questions.fakes import ModelByTask, indexed, made, resources

SETTINGS = """# Settings of the pump

## MAX_PRESSURE

The pressure at which the relief valve opens.

Default: 12 bar

Added in version 3.2:

## Pump.restart

Returns the number of seconds until the motor turns again.

## Why is the log empty?

There are several things to look at.

## What is a dry run?

A dry run is a start of the motor without water in the chamber.

## What is the purpose of a dry run?

The purpose of a dry run is that a crack in the wheel is heard.

## Cold weather

In cold weather the pump has to be emptied before night, because ice in the chamber breaks the wheel.
Cold water alone does not.
"""
GUIDE = """# Operating guide

The programmable logic controller (PLC) keeps a log.

* flow_limit - Sets the largest flow in litres per minute.
* name - The name to show.

| option | default | what it does | seen |
|---|---|---|---|
| drain | 40 | A valve at the bottom of the chamber | no |

```text
pump run

  --hours <int>   Hours that the motor may
                  turn in a day. [default: 6]
  --help          Show this message.
```

## Valves

A relief valve is a valve that opens by itself when the pressure grows too high.

A good idea is a test that runs before each change of the code.
"""
TWICE = {
    "one.md": "# Boiler\n\n## Tank.size\n\nDefault: 20\n\nThe cold water header (CWH) fills it.\n",
    "two.md": "# Heater\n\n## Tank.size\n\nDefault: 30\n\nThe central warm hub (CWH) heats it.\n",
}
EXPECTED = {
    ("entry", "What is MAX_PRESSURE?", "The pressure at which the relief valve opens"),
    ("setting", "What is the default value of MAX_PRESSURE?", "12 bar"),
    ("setting", "In which version was MAX_PRESSURE added?", "3.2"),
    ("entry", "How is Pump.restart described?", "Returns the number of seconds until the motor turns again"),
    ("definition", "What is a dry run?", "a start of the motor without water in the chamber"),
    ("heading", "What is the purpose of a dry run?", "The purpose of a dry run is that a crack in the wheel is heard."),
    ("heading", "What does “Settings of the pump” say about “Cold weather”?",
     "In cold weather the pump has to be emptied before night, because ice in the chamber breaks the wheel. Cold water "
     "alone does not."),
    ("definition", "What does PLC stand for?", "programmable logic controller"),
    ("entry", "How is flow_limit (Operating guide) described?", "Sets the largest flow in litres per minute"),
    ("setting", "What is the default value of drain (Operating guide)?", "40"),
    ("entry", "What is drain (Operating guide)?", "A valve at the bottom of the chamber"),
    ("entry", "How is --hours (Operating guide) described?", "Hours that the motor may turn in a day"),
    ("setting", "What is the default value of --hours (Operating guide)?", "6"),
    ("definition", "What is a relief valve?", "a valve that opens by itself when the pressure grows too high"),
}  # fmt: skip


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory):
    texts = {"settings.md": SETTINGS, "guide.md": GUIDE, "gauge.py": "x = 1\n" * 30}
    index = indexed(tmp_path_factory.mktemp("manual"), texts, frozenset({"vectors"}))
    yield index
    index.close()


def test_documentation_gives_questions_with_answer_and_place(manual: Index):
    found = made(manual, kinds=KINDS, count=12, seed=1)
    assert {(q.type, q.text, q.answers[0]) for q in found.questions} == EXPECTED
    gold_index = GoldIndex(manual)
    for question in found.questions:
        [gold] = question.gold
        piece = manual.pieces([gold.id])[gold.id]
        assert holds(piece, gold)
        assert gold_index.documents(gold) == {piece.document}
        assert plain_words(question.answers[0]) in plain_words(piece.text)
    for kind in KINDS:
        assert found.counts[kind][PASSED] == len([q for q in found.questions if q.type == kind])


def test_the_same_question_with_two_answers_is_ambiguous(tmp_path: Path):
    index = indexed(tmp_path, TWICE, frozenset({"vectors"}))
    found = made(index, kinds=["setting", "definition"], count=3)
    assert found.questions == ()
    assert set(found.counts["setting"]) == set(found.counts["definition"]) == {AMBIGUOUS}
    index.close()


def test_a_fact_in_two_documents_has_both_as_evidence(tmp_path: Path):
    texts = {name: text.replace("30", "20") for name, text in TWICE.items()}
    index = indexed(tmp_path, texts, frozenset({"vectors"}))
    [found] = made(index, kinds=["setting"], count=3).questions
    assert found.answers == ("20",)
    assert sorted(gold.key for gold in found.gold) == ["corpus/one.md", "corpus/two.md"]
    assert all("Default: 20" in gold.quote for gold in found.gold)
    index.close()


def test_kinds_of_documentation_are_made_where_there_is_some_and_no_model(demo: Index, manual: Index):
    assert not set(made(demo, count=1).counts) & (set(KINDS) - {"definition"})
    # By a model's side they are made when asked for, and the model has to answer them.
    model = ModelByTask({"question_grounded": "3.2", "question_closed": ABSTENTION, "question_same": {"same": True}})
    asked = made(manual, model, kinds=["setting"], count=1, seed=1)
    assert [q.provenance["way"] for q in asked.questions] == ["model"]


def test_a_real_documentation_folder_gives_thirty_questions(tmp_path: Path):
    docs = Path(__file__).parents[3] / "docs"
    texts = {name: (docs / name).read_text(encoding="utf-8") for name in ("cli.md", "routing.md", "paradigms.md")}
    index = indexed(tmp_path, texts, frozenset({"words", "vectors"}))
    found = made(index, count=20)
    assert len(found.questions) >= 30
    index.close()


def test_code_alone_gives_one_note(tmp_path: Path):
    index = indexed(tmp_path, {"a.py": "x = 1\n" * 30, "b.py": "print(2)\n" * 30}, frozenset({"vectors"}))
    found = made(index, count=2)
    assert found.questions == ()
    [why] = [note for note in found.notes if "set a model" in note]
    assert why.startswith(
        "no questions: without a model, the rules find no more that is stated plainly in 2 code documents;"
    )
    assert "docs/models.md" in why
    assert "write your own" in why
    with pytest.raises(NothingToAsk):
        drafter("entry")(QuestionSource(resources(index)), Random(1))
    index.close()


def test_hostile_lines_take_no_time_to_speak_of(tmp_path: Path):
    """Patterns are tried on any line: what nearly fits must not be tried in every way."""
    lines = ("Use " + "a b " * 3000, "A " * 3000 + "(AAA)", "x" * 30_000, "--a " + "<" * 9000, "a | " * 3000)
    index = indexed(tmp_path, {"a.md": "# Notes\n\n" + "\n\n".join(lines)}, frozenset({"vectors"}))
    assert made(index, kinds=KINDS, count=1).questions == ()
    index.close()
