"""Support, estimated, as metrics: what they say of an answer, and that no verdict rests on them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ragways.core.errors import UsageError
from ragways.evaluation.gate import gate, no_worse
from ragways.evaluation.judges import JUDGES
from ragways.evaluation.judges.judge import fingerprint
from ragways.evaluation.judging import Judgement, JudgementOrigin, Judgements, judge, usable_judges
from ragways.evaluation.labels import VERDICTS
from ragways.evaluation.metric import deciding
from ragways.evaluation.metrics import METRICS
from ragways.evaluation.record import Record, Records, Score
from ragways.evaluation.record import Run as EvaluationRun
from ragways.evaluation.report import TELLING, compare_runs
from ragways.evaluation.score import scored
from ragways.reading import support
from tests.apps.conftest import Run, home, one_line, ragways  # noqa: F401 - fixtures
from tests.evaluation.judges.resources import PIECES, record, resources
from tests.evaluation.judges.resources import scored as judged_by
from tests.evaluation.report.made import as_markdown, figures, made_report, notes_of, rows_of

ADVISORY = [metric for metric in METRICS.values() if metric.advisory]
every_advisory = pytest.mark.parametrize("metric", ADVISORY, ids=str)


def values(one: Record) -> dict[str, Score]:
    return dict(judged_by("support-estimated", one))


def test_an_answer_borne_out_is_above_one_that_is_not():
    held = values(record())
    wrong = values(record(answer="Ness Light was built by Ida Berg in 1921. [1] She was born in Oslo. [2]"))
    for name in held:
        high, low = held[name].value, wrong[name].value
        assert high is not None
        assert low is not None
        assert 0 <= low < 0.5 < high <= 1, name


def test_what_is_cited_counts_with_the_title_of_its_piece():
    """A quote that names its subject by a pronoun alone is borne out by the title above it."""
    piece = {**PIECES[0], "text": "It was built in 1912 by Ada Holm."}
    quote = {
        "sentence": 0,
        "piece": piece["id"],
        "document": "article:1",
        "start": 0,
        "end": 33,
        "quote": piece["text"],
    }
    one = record(answer="Ness Light was built by Ada Holm. [1]", evidence=(piece,), citations=(quote,))
    (row,) = values(one)["citation-support-estimated"].details["claims"]
    assert (row["words"], row["facts"]) == (1.0, 1.0)


def test_details_say_by_what_it_was_estimated():
    found = values(record())
    for score in found.values():
        assert score.details["estimated by"] == "words and names alone"
        assert [row["reader"] for row in score.details["claims"]] == [None, None]


def test_what_was_estimated_in_another_way_is_estimated_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    by, held, use = JUDGES["support-estimated"], Judgements(tmp_path), resources()
    asyncio.run(judge(use, [record()], [by], held))
    lines = held.path.read_text()
    asyncio.run(judge(use, [record()], [by], held))
    assert held.path.read_text() == lines
    changed = {**support.WEIGHTS, "without the reader": {"always": 0.0, "words": 1.0, "missing": -1.0}}
    monkeypatch.setattr(support, "WEIGHTS", changed)
    asyncio.run(judge(use, [record()], [by], held))
    assert held.path.read_text().count("\n") == 2 * lines.count("\n")


def test_it_needs_no_model_and_is_held_against_people():
    assert JUDGES["support-estimated"] in usable_judges(resources())
    assert all(VERDICTS["supported"].measured_by(metric) for metric in ADVISORY)


# --- No verdict -----------------------------------------------------------------------------------------------------


def test_what_is_estimated_is_advisory_and_called_what_it_is():
    assert [str(metric) for metric in ADVISORY] == ["support-estimated", "citation-support-estimated"]
    for metric in METRICS.values():
        assert (metric.family == "estimated") == metric.advisory == metric.name.endswith("-estimated")
    assert all(metric.summary.startswith("support, estimated (weak, decides nothing)") for metric in ADVISORY)
    assert not set(TELLING) & {metric.name for metric in ADVISORY}


@every_advisory
def test_whoever_asks_for_a_verdict_is_refused(metric, tmp_path: Path):
    write(tmp_path / "run", lambda paradigm, at: 0.5)
    asked: list[Callable[[], object]] = [
        lambda: deciding(metric),
        lambda: gate(tmp_path / "run", require=[f"{metric}>=0.1"]),
        lambda: gate(tmp_path / "run", no_worse_than=tmp_path / "run", metrics={metric.name: 0.0}),
        lambda: no_worse(*[scored(EvaluationRun(tmp_path / "run"))] * 2, margins={metric.name: 0.0}),
        lambda: compare_runs([EvaluationRun(tmp_path / "run")], metric),
    ]
    for ask in asked:
        with pytest.raises(UsageError, match="too weak for a verdict") as refused:
            ask()
        assert "eval agreement" in (refused.value.cure or "")
    assert deciding(METRICS["faithfulness"]) is METRICS["faithfulness"]


def test_the_commands_refuse_it_in_a_line(ragways: Run, home: Path):  # noqa: F811
    write(home / "run", lambda paradigm, at: 0.5)
    said = "support-estimated is an estimate, too weak for a verdict"
    one_line(ragways("eval", "gate", "run", "--require", "Support-Estimated >= 0.1"), 2, said)
    one_line(ragways("eval", "gate", "run", "--no-worse-than", "run", "--metric", "support-estimated=0.1"), 2, said)
    one_line(ragways("eval", "compare", "run", "--metric", "support-estimated"), 2, said)
    assert "support-estimated" in ragways("eval", "score", "run").out


def test_a_fall_of_the_estimate_alone_fails_no_gate(tmp_path: Path):
    write(tmp_path / "before", lambda paradigm, at: 0.9)
    write(tmp_path / "now", lambda paradigm, at: 0.1)
    found = gate(tmp_path / "now", no_worse_than=tmp_path / "before")
    assert found.passed
    assert not any("estimated" in check.name for check in found.checks)
    assert len(found.checks) > 4, "the other metrics are compared"


def test_a_report_shows_the_estimate_and_decides_nothing_by_it(tmp_path: Path):
    """Two paradigms that differ in the estimate alone, as far as two can."""
    write(tmp_path, lambda paradigm, at: 0.9 if paradigm == "fused" else 0.1)
    data = made_report([tmp_path])
    means = {name: row["mean"] for name, row in figures(data, "support-estimated").items()}
    assert means == pytest.approx({"naive": 0.1, "fused": 0.9})
    assert "support, estimated (weak, decides nothing)" in as_markdown([tmp_path])
    decided = {row["metric"] for row in (*rows_of(data, "figures"), *rows_of(data, "comparisons"))}
    assert "f1" in decided
    assert not decided & {metric.name for metric in ADVISORY}
    assert not any("support" in note for note in (*notes_of(data, "runs"), *notes_of(data, "comparisons")))
    assert [one["advisory"] for one in rows_of(data, "metrics") if one["name"] == "support-estimated"] == [True]


def write(folder: Path, value: Callable[[str, int], float]) -> None:
    """A run of two paradigms whose answers are alike, with estimates of this value."""
    for paradigm in ("naive", "fused"):
        for at in range(24):
            one = replace(record(question=f"q{at}"), paradigm=paradigm)
            Records(folder).append(one)
            for metric in ADVISORY:
                made = JudgementOrigin(by="words and names", of=fingerprint(one))
                Judgements(folder).append(
                    Judgement(f"q{at}", paradigm, 0, "support-estimated", metric.name, value(paradigm, at), made=made)
                )
