"""Fitting a router: it finds a known optimum, turns itself off where there is none, and decides as it was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ragways.core.errors import UsageError
from ragways.evaluation.routing.fit import FitSettings, crossed_choices, fit, guard_of, learn, utilities
from ragways.evaluation.routing.outcomes import Outcomes
from ragways.retrieval.routing.router import ABSTAIN, Router, guard_in_words
from tests.evaluation.routing.simulated import KNOWN, simulated


def with_abstaining(outcomes, share: float = 0.3):
    """A share of questions has no answer, which a feature tells, and `abstain` is an arm."""
    chance = np.random.default_rng(9)
    null = chance.uniform(size=len(outcomes)) < share
    quality = np.concatenate([np.where(null[:, None, None], 0.0, outcomes.quality), null[:, None, None] * 1.0], axis=1)
    told = null + chance.normal(0, 0.2, size=len(outcomes))
    blank = np.full((len(outcomes), 1, 1), np.nan)
    return replace(
        outcomes,
        arms=(*outcomes.arms, ABSTAIN),
        quality=quality,
        costs={unit: np.hstack([cost, np.zeros((len(outcomes), 1))]) for unit, cost in outcomes.costs.items()},
        names=(*outcomes.names, "look.nothing"),
        features=np.column_stack([outcomes.features, told]),
        chance=np.concatenate([outcomes.chance, blank], axis=1),
        abstained=np.concatenate([outcomes.abstained, np.ones_like(blank)], axis=1),
    ), null


def features_of(outcomes, n: int) -> dict[str, float]:
    row = zip(outcomes.names, outcomes.features[n], strict=True)
    return {name: float(value) for name, value in row if not np.isnan(value)}


@pytest.mark.parametrize("seed", range(3))
def test_it_comes_within_two_points_of_the_known_optimum_from_300_questions(seed: int):
    outcomes, _ = simulated(seed)
    router = fit(outcomes)
    assert router.guard.passed
    assert router.guard.lower > 0.05
    new, truth = simulated(seed + 100, questions=600)
    chosen = [new.arms.index(router.decide(features_of(new, n)).arm) for n in range(len(new))]
    assert truth.max(axis=1).mean() - truth[np.arange(len(new)), chosen].mean() < 0.02


def test_where_all_arms_are_equal_it_turns_itself_off():
    gains = 0
    for seed in range(4):
        router = fit(simulated(seed, quality=np.full((4, 4), 0.6))[0])
        gains += router.guard.passed and router.guard.gain > 0
    assert gains <= 1


def looked_at(outcomes: Outcomes, fused: float = 1.0) -> Outcomes:
    """The same with features that tell what the look was by."""
    column = np.full((len(outcomes), 1), fused)
    return replace(outcomes, names=(*outcomes.names, "look.fused"), features=np.hstack([outcomes.features, column]))


def test_a_router_has_the_look_that_the_features_are_of():
    outcomes, _ = simulated(1)
    assert outcomes.look == ""
    assert not outcomes.cuts
    assert looked_at(outcomes).look == "fused"
    assert looked_at(outcomes, 0.0).look == "words"
    assert looked_at(outcomes, 0.5).look == ""
    assert fit(looked_at(outcomes)).look == "fused"
    assert fit(looked_at(outcomes, 0.0)).look == "words"


def test_it_decides_as_it_was_measured():
    outcomes, null = with_abstaining(looked_at(simulated(1, corpora=4)[0]))
    assert outcomes.cuts == {"fused[k=3]", "fused[k=10]"}
    settings = FitSettings(trade=0.02)
    learned = learn(outcomes, settings)
    router = replace(fit(outcomes, settings), reach=None)
    assert router.guard.passed
    chosen = learned.choose(outcomes)
    for n in range(0, len(outcomes), 5):
        shown = {outcomes.arms[a]: float(outcomes.costs["evidence"][n, a]) for a in (0, 1)}
        decision = router.decide(features_of(outcomes, n), evidence=shown)
        assert decision.arm == outcomes.arms[chosen[n]]
    refused = chosen == outcomes.arms.index(ABSTAIN)
    assert refused[null].mean() > 0.9
    assert refused[~null].mean() < 0.05


def test_the_file_is_the_same_to_the_byte_by_seed_and_reads_back():
    outcomes, _ = simulated(3, corpora=3)
    text = fit(outcomes, FitSettings(seed=5)).text()
    assert text == fit(outcomes, FitSettings(seed=5)).text()
    assert Router.parse(text, "it").text() == text
    assert fit(outcomes, FitSettings(seed=6)).text() != text


def test_a_trade_buys_cheaper_arms():
    outcomes, _ = simulated(4)
    cost = []
    for trade in (0.0, 0.05, 1.0):
        chosen = learn(outcomes, FitSettings(trade=trade)).choose(outcomes)
        cost.append(outcomes.costs["tokens"][np.arange(len(outcomes)), chosen].mean())
    assert cost[0] > cost[1] > cost[2]
    assert fit(outcomes, FitSettings(trade=1.0)).fixed == "fused[k=3]"


def test_the_guard_holds_choices_against_the_fixed_arm():
    outcomes, truth = simulated(6)
    settings = FitSettings()
    best, fixed = truth.argmax(axis=1), int(KNOWN.mean(axis=0).argmax())
    always = np.full(len(outcomes), fixed)
    gains = utilities(outcomes, settings)[np.arange(300), best] - utilities(outcomes, settings)[:, fixed]
    passed = guard_of(outcomes, settings, "question", best, fixed)
    assert passed.passed
    assert passed.gain == pytest.approx(gains.mean())
    assert passed.lower < passed.gain
    failed = guard_of(outcomes, settings, "question", truth.argmin(axis=1), fixed)
    assert not failed.passed
    assert guard_of(outcomes, FitSettings(tolerance=0.9), "question", truth.argmin(axis=1), fixed).passed
    same = guard_of(outcomes, settings, "question", always, fixed)
    assert (same.gain, same.lower, same.passed) == (0, 0, False), "what gains nothing is no reason to route"


def test_a_gain_on_few_questions_is_not_believed():
    outcomes, _ = simulated(6)
    few, enough = (fit(outcomes.part(np.arange(count))) for count in (99, 100))
    assert few.guard.lower > 0, "it would be believed of more questions"
    assert (few.guard.passed, enough.guard.passed) == (False, True)
    assert guard_in_words(few).startswith("off,")
    assert "100 questions are needed" in guard_in_words(few)


def test_the_guard_compares_with_the_fixed_arm_that_it_names():
    """Two arms that are equal on average, so that folds have one or the other as the best: no such mixture counts."""
    outcomes, _ = simulated(2, quality=np.full((4, 4), 0.5), corpora=4)
    router = fit(outcomes)
    chosen, _ = crossed_choices(outcomes, FitSettings(), "corpus")
    quality, fixed = outcomes.mean_quality, outcomes.arms.index(router.fixed)
    gains = quality[np.arange(len(outcomes)), chosen] - quality[:, fixed]
    assert router.guard.gain == pytest.approx(gains.mean(), abs=1e-6)


def test_a_corpus_far_from_those_of_the_fit_is_detected():
    outcomes, _ = simulated(7, corpora=5)
    router = fit(outcomes)
    assert router.guard.how == "each of 5 corpora was left out in turn"
    near = features_of(outcomes, 0)
    assert not router.decide(near).far
    assert router.decide({**near, "corpus.size": 50.0, "corpus.links": -50.0}).far
    distances = [
        min(
            np.sqrt((((a - b) / outcomes.features[:, -2:].std(axis=0)) ** 2).mean())
            for m, b in enumerate(outcomes.features[:5, -2:])
            if m != n
        )
        for n, a in enumerate(outcomes.features[:5, -2:])
    ]
    assert router.reach == pytest.approx(1.5 * max(distances), rel=1e-6)


def test_with_fewer_than_three_corpora_it_routes_on_these_alone():
    outcomes, _ = simulated(8, corpora=2)
    router = fit(outcomes)
    assert "fewer than three corpora" in router.made["range"]
    assert not any(name.startswith("corpus.") for arm in router.arms for name in arm.weights)
    here = features_of(outcomes, 1)
    assert not router.decide(here).far
    assert router.decide({**here, "corpus.size": here["corpus.size"] * 3, "corpus.links": 9.0}).far


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda o: (o.part(np.arange(10)), FitSettings()), "10 questions are too few"),
        (lambda o: (replace(o, arms=("ours", *o.arms[1:])), FitSettings()), "ours is no paradigm"),
        (
            lambda o: (replace(o, names=("look.fused", *o.names[1:])), FitSettings()),
            "not all looked at by the same paradigm",
        ),
        (lambda o: (o, FitSettings(trade=-1.0)), "a trade of -1 makes no sense"),
        (lambda o: (o, FitSettings(alpha=1.5)), "an alpha of 1.5 makes no sense"),
        (
            lambda o: (
                replace(o, costs={**o.costs, "usd": np.full_like(o.costs["usd"], np.nan)}),
                FitSettings(trade=1.0, cost="usd"),
            ),
            "do not have the usd of",
        ),
    ],
)
def test_what_cannot_be_fitted_is_an_error(change, message: str):
    with pytest.raises(UsageError, match=message):
        fit(*change(simulated(0)[0]))


def test_labels_by_construction_prove_nothing():
    """Where arms are equal but on questions that were labelled, nothing is gained that was measured."""
    outcomes, _ = simulated(5, quality=np.tile([0.6, 0.6, 0.6, 0.0], (4, 1)), corpora=4)
    made = np.array([kind == "summary" for kind in outcomes.types])
    quality = outcomes.quality.copy()
    quality[made] = [[0.0], [0.0], [0.0], [1.0]]
    labelled = replace(outcomes, quality=quality)
    assert fit(labelled, FitSettings(trade=0.001)).guard.lower > 0.1
    router = fit(replace(labelled, constructed=tuple(made.tolist())), FitSettings(trade=0.001))
    assert router.guard.questions == int((~made).sum())
    assert router.guard.lower <= 0.01
    assert router.fixed != "community-global"
    assert [arm.least for arm in router.arms] == [0.0, 0.0, 0.0, 0.5]
