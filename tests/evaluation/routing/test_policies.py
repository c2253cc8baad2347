"""Policies that a router is compared with: their choices on small cases."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from ragways.evaluation.routing.fit import FitSettings
from ragways.evaluation.routing.models import fold_labels
from ragways.evaluation.routing.policies import (
    arm_cards,
    baselines,
    even_mixture,
    nearest_neighbours,
    prompt_router,
    type_router,
)
from ragways.models.client import ModelClient
from ragways.testing.scripted import ScriptedModel
from tests.evaluation.routing.simulated import simulated


def test_fixed_arms_and_the_best_of_them_on_what_was_learned():
    known, _ = simulated(0)
    new, _ = simulated(1, questions=5)
    found = baselines(FitSettings(), known.arms, 2000.0)
    assert list(found) == [
        *known.arms, "always fused", "best fixed arm", "type router (words)", "nearest neighbours",
        "random at the router's cost",
    ]  # fmt: skip
    assert all(np.allclose(choose(known, new).sum(axis=1), 1) for choose in found.values())
    assert found["iterative"](known, new).tolist() == [[0, 0, 1, 0]] * 5
    best = int(np.argmax(known.mean_quality.mean(axis=0)))
    assert found["best fixed arm"](known, new).argmax(axis=1).tolist() == [best] * 5
    cheap = baselines(FitSettings(trade=10.0), known.arms, 0.0)["best fixed arm"]
    assert cheap(known, new).argmax(axis=1).tolist() == [0] * 5


@pytest.mark.parametrize("cost", [500.0, 1500.0, 2650.0, 5900.0])
def test_a_random_mixture_has_the_given_cost(cost: float):
    costs = np.array([400.0, 1200.0, 3000.0, 6000.0, 0.0])
    shares = even_mixture(costs, cost, refusal=4)
    assert shares @ costs == pytest.approx(cost, rel=1e-6)
    assert shares.sum() == pytest.approx(1)
    assert shares[4] == 0
    assert (shares[:4] > 0).all()


def test_the_type_router_learns_from_words_and_neighbours_from_features():
    known, _ = simulated(0, questions=400)
    new, truth = simulated(1, questions=200)
    for policy in (type_router(FitSettings()), nearest_neighbours(FitSettings())):
        chosen = policy(known, new).argmax(axis=1)
        assert truth[np.arange(200), chosen].mean() > truth.mean(axis=0).max() + 0.1
        blind = replace(new, texts=("what",) * 200, features=np.full_like(new.features, np.nan))
        assert len(set(policy(known, blind).argmax(axis=1))) == 1
        assert (policy(known, replace(new, quality=1 - new.quality)).argmax(axis=1) == chosen).all()


def test_a_model_chooses_by_the_quality_of_arms_on_other_folds():
    outcomes, _ = simulated(0, questions=30)
    wishes = {"summary": "community-global", "bridge": "iterative"}

    def reply(call) -> dict[str, str]:
        text = call.messages[-1].content
        return {"arm": next((arm for word, arm in wishes.items() if f"a {word} question" in text), "fused[k=10]")}

    # The first reply names what is not there: the model is told so and asked again.
    with ScriptedModel([{"arm": "guess"}, *[reply] * 30]) as model:
        shares = asyncio.run(prompt_router(ModelClient(model), outcomes, FitSettings(), "question", at_once=1))
    chosen = [outcomes.arms[n] for n in shares.argmax(axis=1)]
    assert chosen == [wishes.get(type, "fused[k=10]") for type in outcomes.types]
    shown = model.calls[0].messages[-1].content
    others = outcomes.part(np.flatnonzero(fold_labels(outcomes.corpus, "question", 1) != 0))
    for card in arm_cards(others, FitSettings()):
        assert f"- {card.name}: good on {card.quality:.0%} of earlier questions, {card.cost}" in shown
    assert "there is no way 'guess'" in model.calls[1].messages[-1].content
    rule = asyncio.run(prompt_router(ModelClient(), outcomes, FitSettings(), "question"))
    assert len(set(rule.argmax(axis=1))) <= 2
