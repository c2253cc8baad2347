"""The table of comparisons: verdicts by corrected p, and counts that add up whatever is missing."""

from __future__ import annotations

import json
import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.errors import UsageError
from ragways.core.plain import to_plain
from ragways.evaluation.record import Record, Score
from ragways.evaluation.statistics.comparison import compare_all
from ragways.evaluation.statistics.inference import holm
from ragways.evaluation.statistics.values import FAILED, Value, averaged, count, gather

VALUE = st.one_of(
    st.none(),
    st.sampled_from([0.0, 0.5, 1.0, float("nan")]),
    st.builds(Score, st.none(), st.sampled_from(["no gold", "unreadable", FAILED])),
)
VALUES = st.dictionaries(st.sampled_from("abcdefgh"), st.lists(VALUE, max_size=3))


def answers(rate: float, n: int = 200, seed: int = 0) -> dict[str, list[Value]]:
    chance = Random(seed)
    return {f"q{at}": [float(chance.random() < rate)] for at in range(n)}


@given(VALUES, st.sets(st.sampled_from("abcdefghij")))
def test_counts_add_up(values, others):
    counts = count(values, others)
    assert counts.answers == sum(map(len, values.values()))
    assert counts.answers == counts.scored + counts.failed + sum(counts.unscored.values())
    means, gaps = averaged(values)
    assert means.keys() | gaps.keys() == values.keys()
    assert len(means) == counts.scored_questions
    assert counts.questions == len(set(values) | others)
    assert counts.not_asked == len({q for q in set(values) | others if not values.get(q)})


@given(VALUES, VALUES)
def test_no_question_is_lost_between_the_table_and_its_pairs(one, two):
    found = compare_all({"one": one, "two": two})
    row = found.rows[0]
    assert row.n + row.dropped == len(set(one) | set(two))
    assert row.dropped <= sum(row.missing_a.values()) + sum(row.missing_b.values())
    lacking = found.counts["one"].questions - found.counts["one"].scored_questions
    assert sum(row.missing_a.values()) <= lacking, "an answer that failed is an outcome"
    json.dumps(to_plain(found), allow_nan=False)


def test_verdicts_of_all_pairs():
    found = compare_all({"good": answers(0.9, seed=1), "bad": answers(0.4, seed=2), "same": answers(0.9, seed=3)})
    assert {(row.a, row.b): row.verdict for row in found.rows} == {
        ("good", "bad"): "better",
        ("good", "same"): "no difference shown",
        ("bad", "same"): "worse",
    }
    assert [row.adjusted for row in found.rows] == holm([row.p or 0.0 for row in found.rows])
    assert found.sentence.startswith("With 200 questions a true difference below ")
    assert "3 comparisons" in found.sentence


def test_where_less_is_better_and_against_a_baseline():
    values = {"careful": answers(0.1, seed=1), "naive": answers(0.6, seed=2), "words": answers(0.6, seed=3)}
    found = compare_all(values, baseline="naive", less_is_better=True)
    assert [(row.a, row.b, row.verdict) for row in found.rows] == [
        ("careful", "naive", "better"),
        ("words", "naive", "no difference shown"),
    ]
    with pytest.raises(UsageError, match="did you mean naive"):
        compare_all(values, baseline="naiv")


def test_what_shares_no_question_is_not_compared_and_costs_the_others_nothing():
    none: dict[str, list[Value]] = {"x": [Score(None, "no gold")]}
    values = {"one": answers(0.9, seed=1), "two": answers(0.4, seed=2), "none": none}
    found = compare_all(values)
    assert [row.verdict for row in found.rows] == ["better", "not compared", "not compared"]
    assert found.rows[0].adjusted == found.rows[0].p
    assert found.rows[0].detectable.comparisons == 1
    assert found.counts["none"].not_asked == 200
    assert found.counts["none"].unscored == {"no gold": 1}


def test_chance_alone_is_seldom_called_a_difference():
    called = 0
    for seed in range(40):
        values = {f"p{n}": answers(0.5, n=60, seed=seed * 100 + n) for n in range(4)}
        called += any(row.verdict != "no difference shown" for row in compare_all(values).rows)
    assert called <= 6


def test_repeats_are_a_median_and_a_range():
    values = {"a": [1.0, 0.0, 1.0], "b": [1.0, 1.0, None], "c": [0.0, 0.0, Score(None, FAILED)], "d": [1.0]}
    found = count(values)  # type: ignore[arg-type]
    assert (found.repeats, found.median, found.high) == (3, 0.75, 1.0)
    assert found.low == pytest.approx(1 / 3)
    assert (found.failed, found.unscored) == (1, {"no reason given": 1})
    assert count({"a": [None]}).median is None


def of(question: str, paradigm: str, repeat: int = 0, error: str = "", **values: Score) -> Record:
    return Record(question, "?", "", (), paradigm, repeat, error=error, values=values)


def test_values_are_gathered_by_paradigm_question_and_repeat():
    right, wrong, none = Score(1.0), Score(0.0), Score(None, "no gold")
    records = [
        of("q", "naive", 1, accuracy=right), of("q", "naive", accuracy=wrong), of("r", "naive", accuracy=none),
        of("r", "words", error="down"), of("q", "words", f1=right),
    ]  # fmt: skip
    assert gather(records, "accuracy") == {
        "naive": {"q": [wrong, right], "r": [none]},
        "words": {"r": [Score(None, FAILED)], "q": [Score(None, "the metric was not computed")]},
    }


def test_ten_paradigms_on_a_thousand_questions_take_seconds():
    chance = Random(1)
    values = {f"p{n}": {f"q{at}": [chance.random()] for at in range(1000)} for n in range(10)}
    started = time.process_time()
    assert len(compare_all(values).rows) == 45
    assert time.process_time() - started < 30, "it takes 2 s where nothing else runs"
