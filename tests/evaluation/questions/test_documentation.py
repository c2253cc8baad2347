"""Documentation and source code give questions without a model: each rule, what it refuses, and whole sets."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ragways.core.types import ABSTENTION
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.question import holds, plain_words
from ragways.evaluation.questions.documentation import KINDS, drafter, of
from ragways.evaluation.questions.documentation_rules import RULES, Line, code_name
from ragways.evaluation.questions.draft import AMBIGUOUS, LEAK, PASSED, NothingToAsk
from ragways.evaluation.questions.source import QuestionSource
from ragways.evaluation.questions.symbols import CodeBlock, code_statements
from ragways.evaluation.questions.verify import rule_fault
from ragways.index.open import Index
from tests.evaluation.questions.fakes import ModelByTask, indexed, made, resources

SETTINGS = """# Settings of the pump

## MAX_PRESSURE

Default: 12 bar

The pressure at which the relief valve opens.

Added in version 3.2:

## Pump.restart

Returns the number of seconds until the motor turns again.

## QUIET_HOURS

Default: None

## What is a dry run?

A dry run is a start of the motor without water in the chamber.

## Why is the log empty?

There are several things to look at.
"""
GUIDE = """# Operating guide

A relief valve is a valve that opens by itself when the pressure grows too high.

To read the pressure from a script, use the gauge_value() function. It can be used to do this.

The programmable logic controller (PLC) keeps a log. The maximum number of pumps is 16 per station.

The quiet_mode option was deprecated in version 4.1.

* flow_limit - Sets the largest flow in litres per minute. Defaults to 40.
* name - The name to show.
"""
CODE = '''"""Pressure."""

MAX_RETRIES = 7


class Gauge(Instrument):
    """A device that measures the pressure in one pipe."""

    def read(self, unit: str = "bar", retries: int = MAX_RETRIES) -> float:
        """Return the pressure at this moment. Slow."""
        if unit not in UNITS:
            raise UnknownUnit(unit)
        return self._read(unit)

    @property
    def serial(self) -> str:
        return self._serial


def reset(gauge: Gauge) -> None:
    """Clear the counters of a gauge and start it again."""
    gauge.clear()
'''
TWICE = {
    "one.md": "# Boiler\n\n## Tank.size\n\nThe default is 20 litres.\n\nThe cold water header (CWH) fills it.\n",
    "two.md": "# Heater\n\n## Tank.size\n\nThe default is 30 litres.\n\nThe central warm hub (CWH) heats it.\n",
}
EXPECTED = {
    ("setting", "What is the default value of MAX_PRESSURE?", "12 bar"),
    ("setting", "What is MAX_PRESSURE?", "The pressure at which the relief valve opens"),
    ("version", "In which version was MAX_PRESSURE added?", "3.2"),
    ("setting", "What does Pump.restart return?", "the number of seconds until the motor turns again"),
    ("setting", "What is the default value of QUIET_HOURS?", "None"),
    ("faq", "What is a dry run?", "A dry run is a start of the motor without water in the chamber."),
    ("definition", "What is a relief valve?", "a valve that opens by itself when the pressure grows too high"),
    ("purpose", "What can be used to read the pressure from a script?", "gauge_value() function"),
    ("definition", "What does PLC stand for?", "programmable logic controller"),
    ("limit", "What is the maximum number of pumps?", "16"),
    ("version", "In which version was the quiet_mode option (Operating guide) deprecated?", "4.1"),
    ("setting", "What does flow_limit (Operating guide) set?", "the largest flow in litres per minute"),
    ("setting", "What is the default value of flow_limit (Operating guide)?", "40"),
    ("symbol", "What is the value of MAX_RETRIES in corpus/gauge.py?", "7"),
    ("symbol", "Which class does Gauge in corpus/gauge.py inherit from?", "Instrument"),
    ("symbol", "What is Gauge in corpus/gauge.py?", "A device that measures the pressure in one pipe"),
    ("symbol", "What is the default value of the parameter unit of Gauge.read() in corpus/gauge.py?", "bar"),
    ("symbol", "What type does Gauge.read() in corpus/gauge.py return?", "float"),
    ("symbol", "Which exception does Gauge.read() in corpus/gauge.py raise?", "UnknownUnit"),
    ("symbol", "Of what type is Gauge.serial in corpus/gauge.py?", "str"),
    ("symbol", "What does reset() in corpus/gauge.py do?", "Clear the counters of a gauge and start it again"),
}


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory):
    texts = {"settings.md": SETTINGS, "guide.md": GUIDE, "gauge.py": CODE}
    index = indexed(tmp_path_factory.mktemp("manual"), texts, frozenset({"vectors"}))
    yield index
    index.close()


def test_what_documentation_and_code_say_is_asked_with_its_answer_and_place(manual: Index):
    found = made(manual, kinds=KINDS, count=12, seed=1)
    said = {(q.type, q.text, q.answers[0]) for q in found.questions}
    assert said == EXPECTED
    assert set(KINDS) == {kind for kind, _, _ in said}
    gold_index = GoldIndex(manual)
    for question in found.questions:
        [gold] = question.gold
        piece = manual.pieces([gold.id])[gold.id]
        assert holds(piece, gold)
        assert gold_index.documents(gold) == {piece.document}
        assert plain_words(question.answers[0]) in plain_words(piece.text)
        assert question.answers != (ABSTENTION,)
    for kind in KINDS:
        assert found.counts[kind][PASSED] == len([q for q in found.questions if q.type == kind])


def test_the_same_question_with_two_answers_is_ambiguous(tmp_path: Path):
    index = indexed(tmp_path, TWICE, frozenset({"vectors"}))
    found = made(index, kinds=["setting", "definition"], count=3)
    assert found.questions == ()
    assert set(found.counts["setting"]) == set(found.counts["definition"]) == {AMBIGUOUS}
    index.close()


def test_what_names_its_answer_is_left_out(tmp_path: Path):
    text = "# Flags\n\n## use_bar\n\nDefault: flags\n\n## use_foot\n\nDefault: metre\n"
    index = indexed(tmp_path, {"flags.md": text}, frozenset({"vectors"}))
    source = QuestionSource(resources(index))
    documentation = of(source)
    drafts = [documentation.draft(source, said) for said in documentation.statements["setting"]["default"]]
    assert [rule_fault(draft, source) for draft in drafts] == [LEAK, ""]
    index.close()


def test_kinds_of_documentation_are_made_where_there_is_some_and_no_model(demo: Index, manual: Index):
    prose = made(demo, count=1)
    assert not set(prose.counts) & set(KINDS)
    # By a model's side they are made when asked for, and the model has to answer them.
    model = ModelByTask({"question_grounded": "7", "question_closed": ABSTENTION, "question_same": {"same": False}})
    asked = made(manual, model, kinds=["symbol"], count=1, seed=1)
    assert [q.provenance["way"] for q in asked.questions] == ["model"]
    assert asked.questions[0].answers == ("7",)


def test_code_alone_that_says_nothing_is_said_in_one_line(tmp_path: Path):
    index = indexed(tmp_path, {"a.py": "x = 1\n" * 30, "b.py": "print(2)\n" * 30}, frozenset({"vectors"}))
    found = made(index, count=2)
    assert found.questions == ()
    [why] = [note for note in found.notes if "set a model" in note]
    assert why.startswith(
        "no questions: without a model, the rules find no more that is stated plainly in 2 code documents;"
    )
    assert "docs/models.md" in why
    assert "write your own" in why
    source = QuestionSource(resources(index))
    with pytest.raises(NothingToAsk):
        drafter("symbol")(source, Random(1))
    index.close()


def test_comments_of_other_languages_describe_their_symbols():
    go = "// Put stores a value under a key.\nfunc (s *Store) Put(key string) error {\n}"
    java = "/**\n * Closes all pumps of the station.\n * @param x\n */\npublic void closeAll() {\n}"
    assert not list(code_statements("a.go", [CodeBlock("Store.Put", "func Put() {}", 0)]))
    for file, name, text, wanted in (
        ("a.go", "Store.Put", go, "stores a value under a key"),
        ("a.java", "Station.closeAll", java, "Closes all pumps of the station"),
    ):
        [said] = list(code_statements(file, [CodeBlock(name, text, 5)]))
        assert (said.question, said.answer) == (f"What does {name} in {file} do?", wanted)
        assert plain_words(wanted) in plain_words(text[said.start - 5 : said.end - 5])


@pytest.mark.parametrize(
    "words",
    [
        "The server is a program that waits for requests of its clients.",  # which one?
        "This is a valve that opens by itself under pressure.",
        "A good idea is a test that runs before each change of the code.",
        "To do this, use gauge_value().",
        "Use gauge_value() to read it before the following step.",
        "Use a hammer to open the lid of the pressure chamber.",  # anything may open a lid
        "The maximum is 16.",
        "It was added in version 3.2.",
        "Some entirely different words (PLC) stand before the letters.",
        "By default, the pump is on.",
    ],
)
def test_a_sentence_that_points_elsewhere_is_no_material(words: str):
    line = Line(words, 0, len(words))
    assert [rule(line) for _, _, rule in RULES] == [None] * len(RULES)


@pytest.mark.parametrize("name", ["max_connections", "HttpRequest.path", "--reload", "read()", "WebSocketState"])
def test_names_of_code(name: str):
    assert code_name(name)


@pytest.mark.parametrize("name", ["port", "name", "Default", "foo_bar", "MyModel", "VERSION", "-x", "two words", ""])
def test_words_that_could_mean_anything_are_no_names(name: str):
    assert not code_name(name)


def test_hostile_lines_take_no_time_to_speak_of():
    """Rules are tried on any sentence: what nearly fits must not be tried in every way."""
    for words in ("Use " + "a b " * 5000, "The maximum " + "x " * 5000 + "is", "A " * 4000 + "(AAA)", "x" * 60_000):
        line = Line(words, 0, len(words), "max_size", 0, True, words)
        assert all(rule(line) is None for _, _, rule in RULES)


def test_the_same_seed_gives_the_same_questions(manual: Index):
    sets = [made(manual, kinds=["symbol", "setting"], count=2, seed=seed).questions for seed in (3, 3, 4)]
    assert sets[0] == sets[1] != sets[2]
