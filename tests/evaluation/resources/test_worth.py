"""When a layer has paid for itself, and which paradigms are worth their cost."""

from __future__ import annotations

from math import inf, isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.evaluation.record import AnswerUsage
from ragways.evaluation.resources.usage import usage
from ragways.evaluation.resources.worth import BreakEven, Unit, break_even, break_evens, pareto
from ragways.evaluation.statistics.comparison import Quality, compare_all
from tests.evaluation.resources.test_usage import BUILT, record

COST = st.integers(0, 50).map(float)
LAYERS = st.dictionaries(st.sampled_from(["vectors", "graph", "communities", "windows"]), COST)
SAME: Quality = "no difference shown"


def found(built: float, cost: float, against: float, quality: Quality = SAME, unit: Unit = "tokens") -> BreakEven:
    return break_even(
        "kg", "recursive", layers={"graph": built, "vectors": 7.0}, layers_against={"vectors": 7.0},
        cost=cost, cost_against=against, quality=quality, unit=unit,
    )  # fmt: skip


def test_in_words():
    assert found(2_480_000, 1000, 3000).words == (
        "graph (for kg): pays for itself after 1,240 questions against recursive, 2,000 tokens saved on each "
        "(no difference in quality shown)"
    )
    assert found(1000, 1500, 1000).words == (
        "graph (for kg): never pays for itself against recursive: takes 500 tokens more per question "
        "(no difference in quality shown)"
    )
    assert "saves no tokens" in found(1000, 1000, 1000).words
    free = found(0, 500, 1000, "better")
    assert free.words == (
        "graph (for kg): costs no tokens; pays from the first question against recursive (at better quality)"
    )
    assert free.questions == 0
    dear = found(0, 1500, 1000)
    assert dear.questions is None
    assert dear.words.startswith("graph (for kg): costs no tokens; never pays for itself")
    assert "after 25 questions" in found(0.5, 0.01, 0.03, unit="USD").words
    assert "$0.02 saved" in found(0.5, 0.01, 0.03, unit="USD").words


@pytest.mark.parametrize("quality", ["worse", "not compared"])
def test_a_saving_at_worse_or_unknown_quality_pays_for_nothing(quality: Quality):
    one = found(10, 1, 1000, quality)
    assert one.questions is None
    assert "no break-even against recursive" in one.words


@given(LAYERS, LAYERS, COST, COST)
def test_after_so_many_questions_it_is_no_dearer_and_one_before_it_was(layers, others, cost, against):
    # A layer costs the same whoever needs it.
    others = {name: layers.get(name, price) for name, price in others.items()}
    one = break_even(
        "a", "b", layers=layers, layers_against=others, cost=cost, cost_against=against, quality="better"
    )  # fmt: skip

    def dearer(n: int) -> bool:
        return bool(sum(layers.values()) + n * cost > sum(others.values()) + n * against + 1e-6)

    if one.questions is None:
        assert any(dearer(n) for n in (10_000, 100_000)), "if not dearer ever, it would have paid"
    else:
        assert not any(dearer(n) for n in range(one.questions, one.questions + 200, 7))
        assert one.questions == 0 or dearer(one.questions - 1)


def test_of_a_run_those_with_layers_of_their_own_soonest_first():
    costs = {"naive": 3000.0, "kg": 1000.0, "words": 2500.0}
    records = [record(f"q{n}", paradigm=name, usage=AnswerUsage(input=cost, output=0.0, usd=cost / 1e6))
               for name, cost in costs.items() for n in range(20)]  # fmt: skip
    scores = {name: {f"q{n}": [float(n % 3 > 0)] for n in range(20)} for name in costs}
    rows = compare_all(scores).rows
    uses = usage(records, built=BUILT)
    work_cache = break_evens(uses, rows, BUILT)
    assert [(one.paradigm, one.against, one.questions) for one in work_cache] == [
        ("words", "naive", 0),
        ("kg", "naive", 2),
        ("kg", "words", 3),
        ("naive", "words", None),
    ]
    in_money = break_evens(uses, rows, BUILT, unit="USD")
    assert next(one.questions for one in in_money if (one.paradigm, one.against) == ("kg", "naive")) == 250
    worse = {**scores, "kg": {f"q{n}": [0.0] for n in range(20)}}
    quality = {(one.paradigm, one.against): one for one in break_evens(uses, compare_all(worse).rows, BUILT)}
    assert quality["kg", "naive"].quality == "worse"
    assert quality["kg", "naive"].questions is None


POINTS = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=2),
    st.tuples(
        st.one_of(st.none(), st.integers(0, 4).map(float)), st.one_of(st.just(nan), st.integers(0, 4).map(float))
    ),
)


@given(POINTS, st.booleans())
def test_no_point_of_the_front_is_dominated_and_each_off_it_is(points, less):
    front = pareto(points, less_is_better=less)
    placed = {name: (-q if less else q, c) for name, (q, c) in points.items() if q is not None and not isnan(c)}
    for name, (quality, cost) in placed.items():
        beaten = any(q >= quality and c <= cost and (q, c) != (quality, cost) for q, c in placed.values())
        assert (name in front) == (not beaten)
    assert set(front) <= placed.keys()
    assert bool(front) == bool(placed)
    assert [placed[name] for name in front] == sorted(placed[name] for name in front)


def test_equal_points_are_both_on_the_front():
    points = {"a": (0.8, 10.0), "b": (0.8, 10.0), "c": (0.7, 12.0), "d": (None, 1.0), "e": (0.9, inf)}
    assert pareto(points) == ["a", "b"]
