"""A judgement is of one answer: where that is replaced, or was not there yet, nothing that was said before stands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.plain import from_plain, to_plain
from ragways.evaluation.judges import JUDGES
from ragways.evaluation.judges.judge import fingerprint
from ragways.evaluation.judging import FILE, Judgement, Judgements, JudgingSummary
from ragways.evaluation.record import FILE as RECORDS
from ragways.evaluation.record import Record, Records
from ragways.evaluation.score import with_values
from ragways.models import task as prompts
from ragways.testing.scripted import ScriptedModel
from tests.evaluation.judges.resources import PIECES, agreeable, record
from tests.evaluation.judges.test_judging import judged

WRONG: Mapping[str, object] = {"why": "", "verdict": "incorrect"}


def values(folder: Path, one: Record, metric: str = "judged-correct") -> tuple[float | None, str]:
    (found,) = with_values([one], Judgements(folder).latest())
    return found.values[metric].value, found.values[metric].why


def without_mark(folder: Path) -> None:
    """The lines as older versions wrote them."""
    rows = [json.loads(line) for line in (folder / FILE).read_text().splitlines()]
    for row in rows:
        row["made"].pop("of", None)
    (folder / FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))


OTHERS: Mapping[str, Mapping[str, Any]] = {
    "answer": {"answer": "Bo Lund built it.", "citations": ()},
    "evidence": {"evidence": PIECES[:1], "citations": ()},
    "gold": {"gold": ("Bo Lund",)},
    "question": {"text": "Who paid for Ness Light?"},
    "abstention": {"abstained": True},
}


@pytest.mark.parametrize("changes", OTHERS.values(), ids=list(OTHERS))
def test_another_answer_is_not_judged_until_it_is_judged_again(changes: Mapping[str, Any], tmp_path: Path):
    before, now = record(), record(**changes)
    judged(tmp_path, "correct support", agreeable(judge_correct=WRONG), [before])
    assert values(tmp_path, before) == (0, "")
    assert values(tmp_path, now) == (None, "not judged")
    assert values(tmp_path, now, "support-soft")[0] is None
    model = agreeable()
    tally = judged(tmp_path, "correct support", model, [now])
    assert tally.metrics["judged-correct"].scored == 1
    if not now.abstained:  # which is settled by rule
        assert len(model.calls) == 1
        assert values(tmp_path, now) == (1, "")
    again = agreeable()
    assert judged(tmp_path, "correct support", again, [now]).metrics == {}
    assert not again.calls


def test_without_a_model_what_was_said_of_another_answer_does_not_stand(tmp_path: Path):
    now = record(answer="Bo Lund built it.")
    judged(tmp_path, "correct", agreeable(), [record()])
    judged(tmp_path, "correct", None, [now])
    assert values(tmp_path, now) == (None, "no judge")


def test_unscored_for_the_same_reason_is_written_of_the_new_answer(tmp_path: Path):
    for one in (record(abstained=True), record(abstained=True, answer="I do not know.")):
        judged(tmp_path, "faithfulness", agreeable(), [one])
        assert values(tmp_path, one, "faithfulness") == (None, "abstained")
    held = (tmp_path / FILE).read_bytes()
    judged(tmp_path, "faithfulness", agreeable(), [one])
    assert (tmp_path / FILE).read_bytes() == held


def test_nothing_is_said_of_a_record_that_failed(tmp_path: Path):
    failed = record(answer="", error="the endpoint is down")
    model = agreeable()
    judged(tmp_path, "correct support", model, [failed])
    assert not model.calls
    assert not (tmp_path / FILE).exists()
    metrics = [*JUDGES["correct"].metrics[:1], *JUDGES["support"].metrics]
    tally = JudgingSummary.of([failed, record(question="q2")], Judgements(tmp_path).latest(), metrics)
    assert tally.metrics["judged-correct"].unscored == {"failed": 1, "not judged": 1}
    judged(tmp_path, "correct support", model, [record()])
    assert values(tmp_path, record()) == (1, "")
    assert values(tmp_path, failed) == (None, "failed")


def test_failed_as_older_versions_wrote_it_does_not_last(tmp_path: Path):
    Judgements(tmp_path).append(Judgement("q1", "naive", 0, "correct", "judged-correct", None, "failed"))
    assert values(tmp_path, record()) == (None, "not judged")
    judged(tmp_path, "correct", agreeable(), [record()])
    assert values(tmp_path, record()) == (1, "")


def test_older_lines_are_read_and_judged_again_where_there_is_a_judge(tmp_path: Path):
    judged(tmp_path, "correct", agreeable(judge_correct=WRONG), [record()])
    without_mark(tmp_path)
    assert values(tmp_path, record()) == (0, "")
    judged(tmp_path, "correct", None, [record()])
    assert values(tmp_path, record()) == (0, "")
    judged(tmp_path, "correct", agreeable(), [record()])
    assert values(tmp_path, record()) == (1, "")


def test_another_prompt_is_another_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    by_rule = record(question="q2", abstained=True, answer="", citations=())
    judged(tmp_path, "correct faithfulness support", agreeable(judge_correct=WRONG), [record(), by_rule])
    real = prompts._load

    def changed(name: str) -> prompts.Prompt:
        return replace(real(name), hash="other") if name == "judge-correct" else real(name)

    monkeypatch.setattr(prompts, "_load", changed)
    with ScriptedModel([{"why": "", "verdict": "correct"}], name="judge-1") as model:
        judged(tmp_path, "correct faithfulness support", model, [record(), by_rule])
    assert len(model.calls) == 1  # not what a rule settled, nor what other prompts were asked for
    assert values(tmp_path, record()) == (1, "")


@given(st.text(st.characters(), max_size=20), st.text(st.characters(), max_size=20))
def test_the_mark_is_that_of_what_is_read_again(tmp_path_factory: pytest.TempPathFactory, answer: str, gold: str):
    one = record(answer=answer + "\ud83d", gold=(gold,))
    folder = tmp_path_factory.mktemp("run")
    Records(folder).append(one)
    assert [fingerprint(read) for read in Records(folder)] == [fingerprint(one)]


def test_a_run_from_before_explanations_is_read_and_its_judgements_hold(tmp_path: Path):
    one = record()
    row = {name: value for name, value in to_plain(one).items() if name != "explanation"}
    (tmp_path / RECORDS).write_text(json.dumps(row) + "\n")
    assert list(Records(tmp_path)) == [one]
    assert fingerprint(one) == "d26bc4ddc5431232", "as the version before wrote it"
    assert fingerprint(record(explanation="Because.")) != fingerprint(one)


def test_the_mark_knows_a_border_and_not_what_no_judge_sees():
    one = record()
    assert fingerprint(record(gold=("a", "b"))) != fingerprint(record(gold=("ab",)))
    assert fingerprint(record(evidence=())) != fingerprint(record(evidence=({"text": ""},)))
    unseen = {"paradigm": "words", "repeat": 3, "seconds": 9.0, "made": {"model": "other"}, "ranks": (2,)}
    assert fingerprint(record(**unseen)) == fingerprint(one)
    assert fingerprint(record(evidence=tuple({**piece, "score": 9.0} for piece in PIECES))) == fingerprint(one)
    assert fingerprint(from_plain(Record, asdict(one))) == fingerprint(one)
