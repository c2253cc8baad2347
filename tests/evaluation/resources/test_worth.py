"""When a layer has paid for itself, and which paradigms are worth their cost."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.table import Cell
from ragways.evaluation.record import AnswerUsage
from ragways.evaluation.resources.usage import usage
from ragways.evaluation.resources.worth import break_evens, pareto, questions_until
from ragways.evaluation.statistics.comparison import Quality, compare_all
from ragways.store.cache import Spent
from tests.evaluation.resources.test_usage import BUILT, record

COST = st.integers(0, 50).map(float)


def row(built: int, kg: float, words: float, quality: Quality = "no difference shown") -> dict[str, Cell]:
    """`kg`, which alone needs a graph of this cost, against `naive`, at these tokens of an answer."""
    costs = {"kg": kg, "naive": words}
    records = [record(f"q{n}", paradigm=name, usage=AnswerUsage(input=cost, output=0.0, usd=0.0))
               for name, cost in costs.items() for n in range(20)]  # fmt: skip
    layers = {"graph": Spent(input=built), "vectors": Spent(input=7)}
    [compared] = compare_all({name: {f"q{n}": [1.0] for n in range(20)} for name in costs}).rows
    [found] = break_evens(usage(records, built=layers), [replace(compared, verdict=quality)], layers)
    return found


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ((2_480_000, 1000, 3000), "pays for itself after 1,240 questions against naive, 2,000 tokens saved on each "),
        ((1000, 1500, 1000), "never pays for itself against naive: takes 500 tokens more per question "),
        ((1000, 1000, 1000), "never pays for itself against naive: saves no tokens "),
        ((0, 500, 1000), "costs no tokens; pays from the first question against naive "),
    ],
)
def test_in_words(costs: tuple[int, float, float], words: str):
    assert row(*costs)["words"] == f"graph (for kg): {words}(no difference in quality shown)"


@pytest.mark.parametrize(
    ("quality", "why"),
    [("worse", "at worse quality"), ("not compared", "quality not compared"),
     ("depends on missing values", "quality not known, values are missing")],
)  # fmt: skip
def test_a_saving_at_worse_or_unknown_quality_pays_for_nothing(quality: Quality, why: str):
    one = row(10, 1, 1000, quality)
    assert one["questions"] is None
    assert one["words"] == f"graph (for kg): no break-even against naive: {why}"


@given(COST, COST)
def test_after_so_many_questions_it_is_no_dearer_and_one_before_it_was(construction: float, saved: float):
    found = questions_until(construction - 20, saved - 20)

    def dearer(n: int) -> bool:
        return construction - 20 > n * (saved - 20) + 1e-6

    if found is None:
        assert any(dearer(n) for n in (10_000, 100_000)), "if not dearer ever, it would have paid"
    else:
        assert not any(dearer(n) for n in range(found, found + 200, 7))
        assert found == 0 or dearer(found - 1)


def test_of_a_run_those_with_layers_of_their_own_soonest_first():
    costs = {"naive": 3000.0, "kg": 1000.0, "words": 2500.0}
    records = [record(f"q{n}", paradigm=name, usage=AnswerUsage(input=cost, output=0.0, usd=cost / 1e6))
               for name, cost in costs.items() for n in range(20)]  # fmt: skip
    scores = {name: {f"q{n}": [float(n % 3 > 0)] for n in range(20)} for name in costs}
    rows = break_evens(usage(records, built=BUILT), compare_all(scores).rows, BUILT)
    assert [(one["paradigm"], one["against"], one["questions"]) for one in rows] == [
        ("words", "naive", 0),
        ("kg", "naive", 2),
        ("kg", "words", 3),
        ("naive", "words", None),
    ]


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
