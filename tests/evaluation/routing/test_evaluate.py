"""The evaluation of a router: figures against plain sums, the oracle without the luck of noise, controls."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ragways.core.errors import UsageError
from ragways.core.table import Cell, Table
from ragways.evaluation.routing.evaluate import (
    PROMPTED,
    ROUTER,
    UNGUARDED,
    RouterEvaluation,
    evaluate_router,
    oracle,
    prior_repeats,
    split_halves,
)
from ragways.evaluation.routing.fit import FitSettings, crossed_choices, utilities
from ragways.evaluation.routing.outcomes import Floats, Outcomes
from ragways.evaluation.routing.policies import baselines
from ragways.evaluation.routing.tables import type_table
from tests.evaluation.routing.simulated import ARMS, simulated


@pytest.fixture(scope="module")
def evaluated() -> RouterEvaluation:
    outcomes, _ = simulated(1, questions=240, corpora=4, repeats=2)
    always = np.repeat(np.eye(4)[[2]], 240, axis=0)
    return evaluate_router(outcomes, FitSettings(trade=0.01), more={PROMPTED: always})


def rows(table: Table, **where: Cell) -> list[dict[str, Any]]:
    return table.where(**where).to_plain()


def test_the_router_is_compared_with_every_policy(evaluated: RouterEvaluation):
    policies = {row["policy"]: row for row in rows(evaluated.policies, corpus="")}
    assert list(policies) == [
        ROUTER, UNGUARDED, PROMPTED, *evaluated.arms, "always fused", "best fixed arm", "type router (words)",
        "nearest neighbours", "random at the router's cost",
    ]  # fmt: skip
    assert "each of 4 corpora was left out in turn" in evaluated.words["how"]
    assert "let it route in 4 of 4 folds" in evaluated.words["guard"]
    assert evaluated.corpora == tuple(f"corpus {n}" for n in range(4))
    router, chance = policies[ROUTER], policies["random at the router's cost"]
    assert router["low"] > 0.05
    assert router["p"] < 0.05
    assert chance["cost"] == pytest.approx(router["cost"], rel=0.05)
    assert chance["gain"] < 0
    data = json.loads(json.dumps(evaluated.to_plain()))
    assert {"policies", "types", "curve", "controls", "words", "oracle", "closed", "fixed"} <= data.keys()


def test_figures_of_a_fixed_arm_are_plain_means(evaluated: RouterEvaluation):
    outcomes, _ = simulated(1, questions=240, corpora=4, repeats=2)
    arm, same, own, fixed, router = (
        rows(evaluated.policies, policy=name, corpus=corpus)[0]
        for name, corpus in (("iterative", ""), (PROMPTED, ""), ("iterative", "corpus 1"), (evaluated.fixed, ""),
                             (ROUTER, ""))
    )  # fmt: skip
    assert arm["quality"] == pytest.approx(outcomes.mean_quality[:, 2].mean())
    assert arm["cost"] == pytest.approx(outcomes.costs["tokens"][:, 2].mean())
    assert arm["utility"] == pytest.approx(arm["quality"] - 0.01 * arm["cost"] / 1000)
    assert arm == {**same, "policy": "iterative"}
    assert own["quality"] == pytest.approx(outcomes.mean_quality[1::4, 2].mean())
    assert (fixed["gain"], fixed["low"], fixed["high"], fixed["p"]) == (0, 0, 0, 1)
    assert arm["regret"] == pytest.approx(evaluated.oracle.corrected - arm["utility"])
    assert evaluated.closed == pytest.approx(router["gain"] / (evaluated.oracle.corrected - fixed["utility"]))


def test_types_show_which_arms_were_taken(evaluated: RouterEvaluation):
    assert set(evaluated.types.column("type")) == {"factual", "bridge", "comparison", "summary"}
    [summary] = rows(evaluated.types, type="summary")
    # All but those of the corpus out of range.
    assert summary["taken"].startswith("community-global 75%")
    assert summary["best_arm"] == "community-global"
    assert summary["quality"] > summary["fixed_quality"] + 0.3


def test_the_best_arm_of_a_type_is_the_one_that_a_fit_names():
    outcomes, _ = simulated(1, questions=160, corpora=4)
    tied = np.array([type in ("factual", "bridge") for type in outcomes.types])
    outcomes = replace(outcomes, quality=np.where(tied[:, None, None], 1.0, outcomes.quality))
    found = evaluate_router(outcomes, FitSettings())
    named = {row["type"]: row["arm"] for row in rows(type_table(outcomes, FitSettings(), found.fixed))}
    assert {row["type"]: row["best_arm"] for row in rows(found.types)} == named
    assert named["factual"] == named["bridge"] == found.fixed != outcomes.arms[0], "of equal ones the best fixed arm"


def test_the_curve_runs_from_the_best_to_the_cheapest(evaluated: RouterEvaluation):
    costs, quality = evaluated.curve.column("cost"), evaluated.curve.column("quality")
    assert costs == sorted(costs, reverse=True)
    assert evaluated.curve.rows[0][0] == 0
    assert quality[0] > quality[-1] + 0.1
    assert costs[-1] < costs[0] / 2


def test_controls_gain_nothing(evaluated: RouterEvaluation):
    assert evaluated.controls.column("control") == ["shuffled outcomes", "random features"]
    assert all(row["gain"] < 0.05 and row["low"] <= 0 for row in rows(evaluated.controls))
    assert "nothing, as it must be" in evaluated.words["controls"]


def test_the_choice_for_a_question_does_not_rest_on_its_own_outcomes():
    """With the outcomes of the last corpus turned round, the router chooses no other arm there."""
    outcomes, _ = simulated(3, questions=120, corpora=3)
    last = outcomes.corpus == 2
    turned = np.where(last[:, None, None], 1 - outcomes.quality, outcomes.quality)
    found = [crossed_choices(replace(outcomes, quality=q), FitSettings(), "corpus") for q in (outcomes.quality, turned)]
    for one, other in zip(*found, strict=True):
        assert np.allclose(one[last], other[last])
        assert not np.allclose(one[~last], other[~last])


def test_no_policy_learns_from_the_corpus_that_it_chooses_for(monkeypatch: pytest.MonkeyPatch):
    seen = []

    def choose(known: Outcomes, asked: Outcomes) -> Floats:
        seen.append((known.corpora, asked.corpora))
        return np.repeat(np.eye(4)[[0]], len(asked), axis=0)

    policies = {**baselines(FitSettings(), ARMS, 0.0), "seeing": choose}
    monkeypatch.setattr("ragways.evaluation.routing.evaluate.baselines", lambda *_: policies)
    evaluate_router(simulated(3, questions=60, corpora=3)[0])
    assert seen == [
        (("corpus 1", "corpus 2"), ("corpus 0",)),
        (("corpus 0", "corpus 2"), ("corpus 1",)),
        (("corpus 0", "corpus 1"), ("corpus 2",)),
    ]


def test_a_corpus_out_of_range_has_the_fixed_arm(evaluated: RouterEvaluation):
    assert "out of range: corpus 3" in evaluated.words["guard"]
    names = (ROUTER, UNGUARDED, "best fixed arm")
    away = {name: evaluated.policies.cell("quality", policy=name, corpus="corpus 3") for name in names}
    assert away[ROUTER] == away["best fixed arm"] != away[UNGUARDED]


def test_corpora_can_be_left_out_from_three_on():
    outcomes, _ = simulated(0, questions=60, corpora=2)
    with pytest.raises(UsageError, match="there are 2 corpora, too few to leave one out"):
        evaluate_router(outcomes, by="corpus")


# The oracle


def test_the_naive_oracle_gains_from_noise_and_the_corrected_one_does_not():
    gaps = []
    for seed in range(20):
        outcomes, truth = simulated(seed, questions=200, quality=np.full((4, 4), 0.6), repeats=4)
        fixed = float(outcomes.mean_quality.mean())
        naive = float(utilities(outcomes, FitSettings()).max(axis=1).mean())
        assert naive - fixed > 0.15
        gaps.append(split_halves(outcomes, FitSettings(), truth).mean() - fixed)
    assert abs(np.mean(gaps)) < 3 * np.std(gaps) / np.sqrt(len(gaps)) + 1e-9
    assert abs(np.mean(gaps)) < 0.02


def test_the_corrected_oracle_needs_no_features():
    """Each question has a best arm of its own that nothing predicts: repeats alone show it."""
    chance = np.random.default_rng(0)
    outcomes, _ = simulated(0, questions=400, repeats=8)
    truth = np.where(np.arange(4) == chance.integers(4, size=400)[:, None], 0.9, 0.4)
    drawn = (chance.uniform(size=(400, 4, 8)) < truth[:, :, None]).astype(float)
    outcomes = replace(outcomes, quality=drawn)
    values = np.full((400, 4), drawn.mean())
    found = oracle(outcomes, FitSettings(), values)
    assert found.words.startswith("corrected")
    assert found.corrected < found.naive
    assert 0.75 < found.corrected < 0.91
    assert prior_repeats(drawn, values) == pytest.approx(0.2025 / 0.047, rel=0.3)


def test_controls_do_not_know_what_an_arm_would_show():
    """Costs that vary by question are worth choosing by; a control that gained by that would tell nothing."""
    outcomes, _ = simulated(8, quality=np.full((4, 4), 0.6), corpora=3)
    column = np.ones((len(outcomes), 1))
    wild = np.random.default_rng(0).uniform(0, 20_000, size=outcomes.costs["tokens"].shape)
    looked = replace(
        outcomes,
        names=(*outcomes.names, "look.fused"),
        features=np.hstack([outcomes.features, column]),
        costs={**outcomes.costs, "tokens": wild, "evidence": wild},
    )
    assert looked.cuts
    found = evaluate_router(looked, FitSettings(trade=0.05))
    assert all(low <= 0 for low in found.controls.column("low"))
