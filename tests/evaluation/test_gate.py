"""The gate must not pass where nothing was shown: an empty run, what is gone, what is unscored, other questions."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from defusedxml.ElementTree import fromstring

from ragways.core.errors import UsageError
from ragways.evaluation.gate import GateResult, Margin, Requirement, compare_margins, no_worse, unlike
from ragways.evaluation.question import Gold
from ragways.evaluation.record import FILE, AnswerUsage, Record, Records
from ragways.evaluation.score import score_records, with_values
from ragways.evaluation.statistics.values import Value
from tests.apps.conftest import Run, home, one_line, ragways  # noqa: F401 - fixtures

Checked = tuple[dict[str, list[Value]], dict[str, list[Value]]]


def answer(question: int, paradigm: str = "naive", right: bool = True, **changes: Any) -> Record:
    base: dict[str, Any] = {
        "question": f"q{question}", "text": f"Who built light {question}?", "type": "factual", "gold": ("Anna Brack",),
        "paradigm": paradigm, "repeat": 0, "answer": "Anna Brack" if right else "Nobody",
        "usage": AnswerUsage(calls=0, input=0, output=0),
    }  # fmt: skip
    return Record(**{**base, **changes})


def write(folder: Path, *records: Record) -> None:
    for record in records:
        Records(folder).append(record)


def test_a_run_without_a_record_does_not_pass(ragways: Run, home: Path):  # noqa: F811
    (home / "empty").mkdir()
    (home / "empty" / FILE).write_text("")
    write(home / "run", answer(1))
    one_line(ragways("eval", "gate", "empty"), 2, "empty holds no record")
    one_line(ragways("eval", "gate", "empty", "--require", "accuracy>=0.5"), 2, "empty holds no record")
    one_line(ragways("eval", "gate", "run", "--no-worse-than", "empty"), 2, "the earlier run holds no record")
    assert ragways("eval", "gate", "run").code == 0


def test_what_the_earlier_run_has_must_still_be_there(ragways: Run, home: Path):  # noqa: F811
    write(home / "before", *(answer(n, name) for n in range(20) for name in ("naive", "words")))
    write(home / "after", *(answer(n, name, gold=()) for n in range(20) for name in ("naive", "new")))
    said = ragways("eval", "gate", "after", "--no-worse-than", "before")
    assert said.code == 1
    assert "words: it is not in this run" in said.out
    assert "new" not in said.out, "what is new is no miss"
    assert "naive: other questions than in the earlier run (20 with other gold)" in said.out


def rights(n: int, wrong: int, paradigm: str = "naive", start: int = 0, **changes: Any) -> list[Record]:
    """So many answers, of which some are wrong."""
    return [answer(at, paradigm, not start <= at < start + wrong, **changes) for at in range(n)]


def checks(now: list[Record], before: list[Record], **options: Any) -> dict[str, str]:
    found = no_worse(list(with_values(now)), list(with_values(before)), **options)
    return {check.name: check.outcome for check in found}


def test_only_a_fall_past_the_margin_fails_and_chance_does_not():
    before = rights(200, 60)
    assert checks(rights(200, 60), before, margins={"accuracy": 0.0}) == {"accuracy no worse": "passed"}
    assert checks(rights(200, 80), before, margins={"accuracy": 0.0}) == {"accuracy no worse": "failed"}
    # A fall of 10 points is shown, one of more than 9 is not: that margin is too fine for so many questions.
    assert checks(rights(200, 80), before, margins={"accuracy": 0.09}) == {"accuracy no worse by 0.09": "undecided"}
    assert checks(rights(200, 80), before, margins={"accuracy": 0.05}) == {"accuracy no worse by 0.05": "failed"}
    assert checks(rights(200, 64), before, margins={"accuracy": 0.1}) == {"accuracy no worse by 0.1": "passed"}
    assert checks(rights(200, 40), before, margins={"accuracy": 0.0}) == {"accuracy no worse": "passed"}
    assert "failed" in checks(rights(200, 80), before).values(), "all metrics, where none is chosen"


def test_without_a_margin_it_says_beyond_what_nothing_changed():
    # As many answers came out otherwise, a few more of them wrong: that is chance.
    now, before = rights(200, 64, start=10), rights(200, 60)
    (found,) = no_worse(list(with_values(now)), list(with_values(before)), margins={"accuracy": 0.0})
    assert found.outcome == "passed"
    assert found.words.startswith("accuracy went from 0.700 to 0.680, no change beyond 0.0")
    assert float(found.words.rpartition(" ")[2]) == pytest.approx(0.06, abs=0.02)
    assert "no change beyond" in str(GateResult((found,)))


def test_less_can_be_better():
    refused = [answer(at, gold=("Insufficient information",), abstained=True, answer="") for at in range(50)]
    made_up = [answer(at, gold=("Insufficient information",), answer="Someone") for at in range(50)]
    assert checks(made_up, refused, margins={"hallucinated": 0.0}) == {"hallucinated no worse": "failed"}
    assert checks(refused, made_up, margins={"hallucinated": 0.0}) == {"hallucinated no worse": "passed"}


def test_what_now_fails_is_wrong():
    before = rights(100, 25)
    same = [answer(at, error="down") if at < 25 else answer(at) for at in range(100)]
    assert checks(same, before, margins={"accuracy": 0.05}) == {"accuracy no worse by 0.05": "passed"}
    more = [answer(at, error="down") if at < 40 else answer(at) for at in range(100)]
    assert checks(more, before, margins={"accuracy": 0.0}) == {"accuracy no worse": "failed"}
    every = [answer(at, error="down") for at in range(100)]
    found = no_worse(list(with_values(every)), list(with_values(before)), margins={"accuracy": 0.0})
    assert [(one.outcome, one.words) for one in found] == [("failed", "accuracy was 0.750 and is now unscored")]


def test_too_few_questions_and_other_ones_do_not_pass(ragways: Run, home: Path):  # noqa: F811
    write(home / "before", *(answer(n, right=n > 1) for n in range(4)), answer(0, "words"))
    write(home / "after", *(answer(n) for n in range(3)), answer(0, "words", text="Who built the tower?"))
    said = ragways("eval", "gate", "after", "--no-worse-than", "before")
    assert said.code == 1
    assert "naive: other questions than in the earlier run (1 gone), so that the two cannot be compared" in said.out
    assert "words: other questions than in the earlier run (1 with another text)" in said.out
    write(home / "after", answer(3))
    few = ragways("eval", "gate", "after", "--no-worse-than", "before")
    assert "naive: 4 questions are too few to compare with the earlier run: 20 are needed" in few.out
    assert "naive" not in ragways("eval", "gate", "after", "--no-worse-than", "before", "--least", "4").out
    assert unlike([answer(1), answer(2)], [answer(1, wanted=(Gold(key="a.md"),))]) == {
        "naive": "other questions than in the earlier run (1 new, 1 with other gold), "
        "so that the two cannot be compared"
    }


def test_options_and_junit(ragways: Run, home: Path):  # noqa: F811
    used = AnswerUsage(calls=1, input=90, output=10, usd=0.002, spent=0.001)
    write(home / "before", *rights(100, 20, usage=used))
    write(home / "after", *rights(100, 24, start=3, usage=used, seconds=1.5))
    metrics = ("--metric", "accuracy=0.05", "--metric", "f1=0.2")
    gate = ("eval", "gate", "after", "--no-worse-than", "before", *metrics)
    assert ragways(*gate).code == 0
    strict = ragways(*gate, "--strict", "--junit", "gate.xml")
    assert strict.code == 1
    assert "naive: accuracy went from 0.800 to 0.760" in strict.out
    suite = fromstring((home / "gate.xml").read_text())
    assert [(one.get("classname"), one.get("name"), [part.tag for part in one]) for one in suite] == [
        ("naive", "answers", []), ("naive", "accuracy no worse by 0.05", ["failure"]),
        ("naive", "f1 no worse by 0.2", []),
    ]  # fmt: skip
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert ragways(*gate, "--junit", "gate.xml").code == 0
    assert [part.tag for one in fromstring((home / "gate.xml").read_text()) for part in one] == ["skipped"]
    limits = ("tokens<=100", "usd<=0.002", "seconds<2", "naive:spent<0.11")
    assert ragways("eval", "gate", "after", *(part for one in limits for part in ("--require", one))).code == 0
    dear = ragways("eval", "gate", "after", "--require", "tokens<=99", "--require", "spent<0.1")
    assert dear.out.startswith("not passed: naive: tokens is 100, required <= 99; naive: spent is 0.1,")
    one_line(ragways(*gate, "--metric", "f1=x"), 2, "has no margin of 0 or more")
    one_line(ragways(*gate, "--metric", "acuracy"), 2, "did you mean accuracy")


def drawn(chance: np.random.Generator, differ: float, drop: float) -> Checked:
    """Values of 200 questions before and now: some come out otherwise each time, and some more are wrong."""
    apart = chance.random(200)
    now, before = (apart < differ / 2), (apart > 1 - differ / 2 - drop)
    same = np.where(now | before, 0.0, chance.random(200) < 0.6)
    return {f"q{at}": [float(one)] for at, one in enumerate(now + same)}, {
        f"q{at}": [float(one)] for at, one in enumerate(before + same)
    }


@pytest.mark.parametrize("metrics", [1, 6])
def test_alarms_are_seldom_false_and_a_fall_of_ten_points_is_caught(metrics: int):
    false = caught = 0
    for trial in range(60 if metrics > 1 else 150):
        chance = np.random.default_rng(trial)
        margins = [Margin("naive", f"m{at}") for at in range(metrics)]
        false += any(one.outcome == "failed" for one in compare_margins({m: drawn(chance, 0.2, 0.0) for m in margins}))
        caught += any(one.outcome == "failed" for one in compare_margins({m: drawn(chance, 0.1, 0.1) for m in margins}))
    assert false / (trial + 1) <= 0.085, "0.05, and what so few trials may add"
    assert caught / (trial + 1) >= 0.93


# The plug-in of pytest


def test_a_test_reads_a_gate(tmp_path: Path):
    write(tmp_path / "before", *rights(60, 0))
    write(tmp_path / "after", *rights(60, 20))
    (tmp_path / "test_it.py").write_text(
        "def test_good(ragways_gate):\n"
        "    assert ragways_gate('before', require=['accuracy>=0.9'], no_worse_than='before').passed\n"
        "def test_bad(ragways_gate):\n"
        "    ragways_gate('after', no_worse_than='before', metrics={'accuracy': 0.05})\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "ragways.apps.pytest_plugin", "."],
        cwd=tmp_path, env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert "1 failed, 1 passed" in run.stdout, run.stdout + run.stderr
    assert "naive: accuracy went from 1.000 to 0.667" in run.stdout


def test_the_plug_in_is_announced_and_light():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"ragways": "ragways.apps.pytest_plugin"}
    code = "import sys, ragways.apps.pytest_plugin as _; print({'numpy', 'ragways.evaluation'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


# What is required


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("naive[k=20]:accuracy>=0.8", Requirement("naive[k=20]", "accuracy", ">=", 0.8)),
        ("naive[k=20,least=0.4]: recall@5 < 1", Requirement("naive[k=20,least=0.4]", "recall@5", "<", 1.0)),
        ("crag-fine>-0.2", Requirement("", "crag-fine", ">", -0.2)),
        ("crag-fine <= +.5", Requirement("", "crag-fine", "<=", 0.5)),
        ("iterative (Iterative (Naive)):f1>=.1", Requirement("iterative (Iterative (Naive))", "f1", ">=", 0.1)),
        ("a run/naive:f1>=1.", Requirement("a run/naive", "f1", ">=", 1.0)),
    ],
)
def test_paradigms_with_settings_and_values_below_0_can_be_named(text: str, expected: Requirement):
    assert Requirement.parse(text) == expected


@pytest.mark.parametrize("text", ["accuracy>=1.2.3", "accuracy>=", "accuracy>=-", ">=0.5", "naive:>=1", "accuracy==1"])
def test_what_is_no_requirement(text: str):
    with pytest.raises(UsageError, match="not a requirement"):
        Requirement.parse(text)


def test_a_paradigm_that_is_not_there_is_named_with_what_was_meant():
    rows = score_records(with_values(rights(10, 5, "naive[k=20]", usage=AnswerUsage())))
    found = Requirement.parse("naive[k=20]:accuracy>=0.6").checks(rows)
    assert [(one.paradigm, one.outcome, one.words) for one in found] == [
        ("naive[k=20]", "failed", "accuracy is 0.500, required >= 0.6")
    ]
    unknown = Requirement.parse("tokens<=5").checks(rows)
    assert [one.words for one in unknown] == ["tokens is unscored"], "what no record tells is not cheap"
    with pytest.raises(UsageError, match=r"no paradigm 'naive\[k=2\]'") as error:
        Requirement.parse("naive[k=2]:accuracy>=0.6").checks(rows)
    assert "naive[k=20]" in error.value.cure
