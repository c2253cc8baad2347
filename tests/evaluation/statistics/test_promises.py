"""What a comparison promises holds: with failures on one side, with questions on one document, with skewed values.

Short simulations; `benchmarks/comparisons.py` has the long ones.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.evaluation.question import Gold
from ragways.evaluation.record import Record, Records, Score
from ragways.evaluation.statistics.comparison import compare, compare_all
from ragways.evaluation.statistics.inference import detectable_effect, interval, shared_clusters, sign_flip
from ragways.evaluation.statistics.values import FAILED, Value, source_documents
from tests.apps.conftest import Run, home, ragways  # noqa: F401 - fixtures

DOWN = Score(None, FAILED)


def rows(*parts: tuple[Value, int]) -> dict[str, list[Value]]:
    values = [value for value, count in parts for _ in range(count)]
    return {f"q{at}": [value] for at, value in enumerate(values)}


UNREAD = Score(None, "unreadable reply")


# Failures, and what could not be judged


def test_to_crash_on_what_is_hard_is_worse():
    """60 right and 40 crashed, against 75 right of 100."""
    crashing, steady = rows((1.0, 60), (DOWN, 40)), rows((1.0, 45), (0.0, 25), (1.0, 30))
    (pair,) = compare_all({"crashing": crashing, "steady": steady}).rows
    assert (pair.verdict, pair.n, pair.one_sided) == ("worse", 100, 0)
    assert pair.difference == pytest.approx(-0.15)
    assert compare_all({"steady": steady, "crashing": crashing}).rows[0].verdict == "better"
    # Where less is better, a crash is the worst there is.
    assert compare(rows((0.0, 30)), rows((DOWN, 30)), failure=1.0).difference == -1.0
    both = compare(rows((1.0, 30), (DOWN, 10)), rows((0.0, 30), (DOWN, 10)))
    assert (both.n, both.dropped) == (30, 10), "a metric that may not be for these questions"


def test_gaps_at_random_cost_nothing_and_gaps_of_one_side_are_bounded():
    chance = np.random.default_rng(3)
    right, other = chance.random(200) < 0.7, chance.random(200) < 0.5

    def unread(values: np.ndarray, gone: np.ndarray) -> dict[str, list[Value]]:
        return {f"q{at}": [UNREAD if gone[at] else float(value)] for at, value in enumerate(values)}

    none, some = np.zeros(200, dtype=bool), chance.random(200) < 0.06
    (random,) = compare_all({"a": unread(right, some), "b": unread(other, some[::-1])}).rows
    assert random.verdict == "better"
    assert 0 < random.one_sided == random.dropped or random.one_sided > 0
    assert random.least == random.most == random.difference
    (hidden,) = compare_all({"a": unread(other, ~other), "b": unread(other, none)}).rows
    assert hidden.verdict == "depends on missing values"
    assert hidden.least is not None
    assert hidden.most is not None
    assert hidden.least < hidden.most
    (shown,) = compare_all(
        {"a": unread(right | True, chance.random(200) < 0.06), "b": unread(other & False, none)}
    ).rows
    assert shown.verdict == "better", "whatever is missing"


def test_what_both_lack_or_one_was_not_asked_is_not_missing_on_one_side():
    both = compare(rows((1.0, 30), (UNREAD, 10)), rows((0.0, 30), (Score(None, "no gold"), 10)))
    assert (both.one_sided, both.dropped, both.least) == (0, 10, 1.0)
    more = compare(rows((1.0, 30)), rows((0.0, 40)))
    assert (more.one_sided, more.missing_a) == (0, {"not asked": 10})


def test_a_repeat_that_failed_is_an_outcome_too():
    found = compare({"a": [1.0, DOWN], "b": [0.0, 0.0]}, {"a": [1.0, 1.0], "b": [0.0, 0.0]})
    assert (found.n, found.one_sided, found.difference) == (2, 0, -0.25)


def test_the_command_counts_what_failed(ragways: Run, home: Path):  # noqa: F811
    run = Records(home / "run")
    for at in range(100):
        for name, right in (("crashing", at < 60), ("steady", at >= 25)):
            failed = name == "crashing" and at >= 60
            run.append(Record(f"q{at}", "Who?", "", ("Anna",), name, 0, answer="Anna" if right else "Ben",
                              error="down" if failed else ""))  # fmt: skip
    said = ragways("eval", "compare", "run").out
    assert "-0.150" in said
    assert "40" in said


# Questions on one document


def record(question: str, *gold: Gold) -> Record:
    return Record(question, "?", "", (), "naive", 0, wanted=gold)


def test_the_documents_that_questions_share():
    found = source_documents([
        record("a", Gold(key="x.md")), record("b", Gold(key="x.md")), record("c", Gold(key="y.md")),
        record("d", Gold(title="The Light")), record("e", Gold(title="the light", quote="It burnt.")), record("f"),
    ])  # fmt: skip
    assert found.keys() == {"a", "b", "d", "e"}
    assert found["a"] == found["b"] == ("x.md",)
    assert found["d"] == found["e"]
    # Of several, the one that most are about; what else is shared is kept.
    several = source_documents([
        record("a", Gold(key="x"), Gold(key="y")), record("b", Gold(key="x")), record("c", Gold(key="x")),
        record("d", Gold(key="y"), Gold(key="z")),
    ])  # fmt: skip
    assert several == {"a": ("x", "y"), "b": ("x",), "c": ("x",), "d": ("y",)}


def by_document(chance: np.random.Generator, about: np.ndarray) -> dict[str, float]:
    luck = chance.normal(0, 1.2, int(about.max()) + 1)[about].sum(axis=1) / about.shape[1] ** 0.5
    return {f"q{at}": float(one) for at, one in enumerate(chance.random(len(about)) < 1 / (1 + np.exp(-luck)))}


@pytest.mark.parametrize(("documents", "each"), [(12, 1), (30, 2)])
def test_systems_alike_seldom_differ_where_questions_share_documents(documents: int, each: int):
    apart = alone = 0
    for trial in range(120):
        chance = np.random.default_rng(trial)
        about = np.stack([chance.permutation(documents)[:each] for _ in range(120)])
        asked = source_documents(
            record(f"q{at}", *(Gold(key=f"d{one}") for one in row)) for at, row in enumerate(about)
        )
        a, b = by_document(chance, about), by_document(chance, about)
        apart += (compare(a, b, documents=asked).p or 1.0) <= 0.05
        alone += (compare(a, b).p or 1.0) <= 0.05
    assert apart <= 12, "of 120, at 5 %"
    assert alone >= 18, "questions taken one by one are called different too often"


def test_documents_are_the_unit_of_p_interval_and_least_effect():
    asked = {f"q{at}": (f"d{at // 10}",) for at in range(100)}
    better: dict[str, list[Value]] = {q: [float(at % 10 < (9 if at < 50 else 1))] for at, q in enumerate(asked)}
    worse: dict[str, list[Value]] = {q: [0.0 if at % 10 else 1.0] for at, q in enumerate(asked)}
    one, two = (compare_all({"a": better, "b": worse}, documents=known) for known in (None, asked))
    assert (one.rows[0].documents, two.rows[0].documents) == (0, 10)
    assert two.rows[0].p == pytest.approx(2 / 2**5), "five documents differ, all to one side"
    assert (one.rows[0].p or 1) < 1e-6
    assert (two.rows[0].detectable.effect or 0) > 1.5 * (one.rows[0].detectable.effect or 1)
    assert "100 questions, 10 documents" in two.sentence
    few = compare_all({"a": better, "b": worse}, documents=dict.fromkeys(asked, ("the book",)))
    assert (few.rows[0].documents, few.rows[0].p) == (0, one.rows[0].p)
    assert "holds for these alone" in few.sentence


def test_the_interval_of_a_mean_is_that_of_documents():
    covered = [0, 0]
    for trial in range(150):
        chance = np.random.default_rng(trial)
        about = np.repeat(np.arange(20), 8)
        values = [float(one) for one in chance.random(160) < chance.beta(2, 2, 20)[about]]
        for at, known in enumerate(({f"q{n}": (f"d{d}",) for n, d in enumerate(about)}, {})):
            clusters = shared_clusters([f"q{n}" for n in range(160)], known)
            low, high = interval(values, share=True, clusters=clusters)
            covered[at] += low is not None and high is not None and low <= 0.5 <= high
    assert covered[0] >= 135
    assert covered[1] <= 125, "of 150, questions taken one by one"


# Intervals that hold what they say, and agree with p


@pytest.mark.parametrize(
    ("draw", "mean", "n"),
    [
        (lambda chance, n: chance.exponential(1, n), 1.0, 30),
        (lambda chance, n: chance.lognormal(0, 1, n), float(np.exp(0.5)), 60),
        (lambda chance, n: (chance.random(n) < 0.05).astype(float), 0.05, 30),
        (lambda chance, n: (chance.random(n) < 0.2) * chance.beta(2, 1, n), 0.4 / 3, 30),
    ],
)
def test_intervals_of_skewed_differences_cover(draw: Callable[..., np.ndarray], mean: float, n: int):
    covered = 0
    for trial in range(400):
        values = draw(np.random.default_rng(trial), n)
        low, high = interval(list(values)) if values.any() else (0.0, 1.0)
        assert low is not None
        assert high is not None
        covered += low <= mean <= high
    assert covered / 400 >= 0.89, "0.91 less what 400 trials may miss"


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.25, 1.0, 1.0]), min_size=2, max_size=40), st.integers(1, 3))
def test_a_difference_is_shown_by_p_and_an_interval_that_excludes_0(differences, many):
    values = {f"p{at}": {f"q{n}": [at * one] for n, one in enumerate(differences)} for at in range(many + 1)}
    for row in compare_all(values).rows:
        apart = row.low is None or row.high is None or not row.low <= 0 <= row.high
        assert (row.verdict in ("better", "worse")) == ((row.adjusted or 1) <= 0.05 and apart)


@pytest.mark.parametrize(
    ("draw", "most"),
    [
        (lambda chance, n: chance.lognormal(0, 1, n) - np.exp(0.5), 0.11),
        (lambda chance, n: (chance.random(n) < 0.1) * chance.exponential(1, n) - (chance.random(n) < 0.5) * 0.2, 0.11),
    ],
)
def test_skewed_differences_of_systems_alike_are_seldom_shown(draw: Callable[..., np.ndarray], most: float):
    """p alone shows one in 13 to 20 of 100, as its signs presume that differences are as often above 0 as below."""
    shown = by_p = 0
    for trial in range(300):
        values = {f"q{at}": [float(one)] for at, one in enumerate(draw(np.random.default_rng(trial), 80))}
        (row,) = compare_all({"a": values, "b": {one: [0.0] for one in values}}).rows
        shown += row.verdict in ("better", "worse")
        by_p += (row.adjusted or 1) <= 0.05
    assert shown / 300 <= most < by_p / 300 + 0.03


def test_intervals_of_many_pairs_are_wider():
    chance = np.random.default_rng(1)
    values: dict[str, dict[str, list[Value]]] = {
        name: {f"q{at}": [float(one)] for at, one in enumerate(chance.random(80))} for name in "abcde"
    }
    alone = compare_all({name: values[name] for name in "ab"}).rows[0]
    among = compare_all(values).rows[0]
    assert (among.high or 0) - (among.low or 0) > 1.3 * ((alone.high or 0) - (alone.low or 0))


# The least effect of yes and no


@pytest.mark.parametrize(("n", "differ"), [(60, 0.1), (100, 0.2), (200, 0.4)])
def test_the_least_effect_of_yes_and_no_is_found_four_times_of_five(n: int, differ: float):
    found = 0
    for trial in range(300):
        chance = np.random.default_rng(trial)
        least = detectable_effect(n, None, differing=int(chance.binomial(n, differ))).effect or 1.0
        drawn = chance.random(n)
        apart = (drawn < differ / 2 + least).astype(float) - (drawn > 1 - differ / 2)
        found += sign_flip(apart)[0] <= 0.05 and apart.sum() > 0
    assert found / 300 >= 0.77, "0.8 less what 300 trials may miss"
