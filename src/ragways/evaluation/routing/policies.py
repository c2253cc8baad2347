"""Policies that choose an arm for each question: what a router is compared with.

A policy is fitted on some outcomes and gives, for others, the share of each arm on each question: 1 for the arm it
takes, or the shares of a mixture. None looks at the outcomes it chooses for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ragways.core.runtime import in_turn
from ragways.evaluation.routing.fit import FitSettings, best_fixed, mean_costs, utilities
from ragways.evaluation.routing.models import By, Standard, fold_labels
from ragways.evaluation.routing.outcomes import Floats, Ints, Outcomes
from ragways.models.client import ModelClient
from ragways.retrieval.ask import PARADIGMS
from ragways.retrieval.paradigm import parse_variant
from ragways.retrieval.routing.router import ABSTAIN
from ragways.tasks.search import CHOOSE_ARM, ArmCard, ChooseArmInput

Choose = Callable[[Outcomes, Outcomes], Floats]
"""From the outcomes to learn on and those to choose for: the share of each arm on each question of the latter."""

WORDS: Final = 3000
"""Words that the type router knows."""
NEIGHBOURS: Final = 15
RIDGE: Final = 1.0
"""Of the type router's classifier: a question's words have length 1."""


def one_hot(chosen: Ints, arms: int) -> Floats:
    """Arms that were chosen, as shares."""
    return np.asarray(np.eye(arms)[chosen])


# Fixed arms and mixtures


def fixed_arm(arm: int) -> Choose:
    """Always this arm."""
    return lambda _, asked: one_hot(np.full(len(asked), arm), len(asked.arms))


def fixed_of(outcomes: Outcomes, settings: FitSettings) -> int:
    """The arm of the highest mean utility; corpora weigh the same."""
    means = np.average(outcomes.mean_quality, axis=0, weights=outcomes.weights)
    costs = mean_costs(outcomes, settings.cost)
    return best_fixed(means - settings.worth(costs), costs, refusal_of(outcomes))


def refusal_of(outcomes: Outcomes) -> int | None:
    return outcomes.arms.index(ABSTAIN) if ABSTAIN in outcomes.arms else None


def usual_arm(arms: Sequence[str]) -> str | None:
    """Of the arms of `fused` the one whose k is nearest its default; None where there is none."""
    usual = int(PARADIGMS["fused"].settings["k"])
    found = {arm: parse_variant(arm) for arm in arms if arm != ABSTAIN}
    apart = {arm: abs(int(own.get("k", usual)) - usual) for arm, (name, own) in found.items() if name == "fused"}
    return min(apart, key=lambda arm: apart[arm], default=None)


def random_at_cost(settings: FitSettings, cost: float) -> Choose:
    """Arms drawn by chance, so that they cost as much on average: of all such mixtures the most even one."""

    def choose(learned: Outcomes, asked: Outcomes) -> Floats:
        shares = even_mixture(mean_costs(learned, settings.cost), cost, refusal_of(learned))
        return np.repeat(shares[None], len(asked), axis=0)

    return choose


def even_mixture(costs: Floats, cost: float, refusal: int | None) -> Floats:
    """Shares of arms with this mean cost, exponential in their costs; the nearest where no mixture has it."""
    arms = np.array([a for a in range(len(costs)) if a != refusal and not np.isnan(costs[a])], dtype=np.intp)
    shares = np.zeros(len(costs))
    if not len(arms) or np.isnan(cost):
        open_arms = [a for a in range(len(costs)) if a != refusal]
        shares[open_arms] = 1 / len(open_arms)
        return shares
    own = costs[arms]
    scale = float(np.ptp(own)) or 1.0
    low, high = -500.0, 500.0
    for _ in range(80):
        middle = (low + high) / 2
        weights = np.exp(middle * own / scale - np.max(middle * own / scale))
        weights /= weights.sum()
        low, high = (middle, high) if float(weights @ own) < cost else (low, middle)
    shares[arms] = weights
    return shares


# Learned from words and from neighbours


def type_router(settings: FitSettings) -> Choose:
    """From the question's words alone: TF-IDF and a linear classifier of the arm that was best."""

    def choose(learned: Outcomes, asked: Outcomes) -> Floats:
        utility = utilities(learned, settings)
        # Of arms that were as good on a question, the one that is better on all of them is the label.
        means = np.average(utility, axis=0, weights=learned.weights)
        best = one_hot(np.argmax(utility + 1e-6 * means, axis=1), len(learned.arms))
        known, new = tf_idf(learned.texts, asked.texts)
        middle = np.average(best, axis=0, weights=learned.weights)
        # Ridge regression on the labels, by the products of questions: there are fewer of these than words.
        weighed = np.diag(RIDGE / learned.weights)
        scores = middle + new @ known.T @ np.linalg.solve(known @ known.T + weighed, best - middle)
        return one_hot(np.argmax(scores, axis=1), len(learned.arms))

    return choose


def tf_idf(known: Sequence[str], new: Sequence[str]) -> tuple[Floats, Floats]:
    """Texts as vectors of length 1 over the commonest words of the first ones: logarithm of counts times rarity."""
    lists = [[re.findall(r"\w+", text.lower()) for text in texts] for texts in (known, new)]
    seen = Counter(word for words in lists[0] for word in set(words))
    vocabulary = sorted((word for word in seen if seen[word] > 1), key=lambda word: (-seen[word], word))[:WORDS]
    place = {word: n for n, word in enumerate(vocabulary)}
    rarity = np.array([np.log((1 + len(known)) / (1 + seen[word])) + 1 for word in vocabulary])
    made = []
    for texts in lists:
        rows = np.zeros((len(texts), len(vocabulary)))
        for n, words in enumerate(texts):
            for word, count in Counter(words).items():
                if word in place:
                    rows[n, place[word]] = (1 + np.log(count)) * rarity[place[word]]
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        made.append(rows / np.where(length > 0, length, 1.0))
    return made[0], made[1]


def nearest_neighbours(settings: FitSettings) -> Choose:
    """The arm that was best on the questions with the most similar features."""

    def choose(learned: Outcomes, asked: Outcomes) -> Floats:
        standard = Standard.of(learned.features, learned.weights)
        known, new = standard.apply(learned.features), standard.apply(asked.features)
        apart = (new**2).sum(axis=1)[:, None] - 2 * new @ known.T + (known**2).sum(axis=1)
        near = np.argsort(apart, axis=1, kind="stable")[:, :NEIGHBOURS]
        return one_hot(np.argmax(utilities(learned, settings)[near].mean(axis=1), axis=1), len(learned.arms))

    return choose


def baselines(settings: FitSettings, arms: Sequence[str], cost: float) -> dict[str, Choose]:
    """All policies that need no model, by name; `cost` is what the router's choices cost on average."""
    fixed = {arm: fixed_arm(a) for a, arm in enumerate(arms) if arm != ABSTAIN}
    usual = usual_arm(arms)
    return fixed | ({"always fused": fixed[usual]} if usual is not None else {}) | {
        "best fixed arm": lambda learned, asked: fixed_arm(fixed_of(learned, settings))(learned, asked),
        "type router (words)": type_router(settings),
        "nearest neighbours": nearest_neighbours(settings),
        "random at the router's cost": random_at_cost(settings, cost),
    }  # fmt: skip


# A model that knows what each arm gave


async def prompt_router(
    client: ModelClient, outcomes: Outcomes, settings: FitSettings, by: By, *, at_once: int = 4
) -> Floats:
    """What a language model chooses that is given the quality and cost of each arm on questions of other folds; without
    a model the best fixed arm. Returns the shares of arms, as a policy does.
    """
    chosen = np.zeros(len(outcomes), dtype=np.intp)
    folds = fold_labels(outcomes.corpus, by, settings.seed + 1)

    async def one(n: int, cards: Sequence[ArmCard], fixed: str) -> None:
        asked = ChooseArmInput(outcomes.texts[n], cards, fixed)
        outcome = await client.do(CHOOSE_ARM, asked, rule_if_unusable=True)
        chosen[n] = outcomes.arms.index(outcome.value.arm)

    for fold in np.unique(folds):
        learned = outcomes.part(np.flatnonzero(folds != fold))
        cards, fixed = arm_cards(learned, settings), outcomes.arms[fixed_of(learned, settings)]
        await in_turn((one(int(n), cards, fixed) for n in np.flatnonzero(folds == fold)), at_once)
    return one_hot(chosen, len(outcomes.arms))


def arm_cards(outcomes: Outcomes, settings: FitSettings) -> list[ArmCard]:
    """What a model is given of each arm."""
    means = np.average(outcomes.mean_quality, axis=0, weights=outcomes.weights)
    costs = mean_costs(outcomes, settings.cost)
    words = [f"{cost:,.4g} {settings.cost}" if not np.isnan(cost) else "cost unknown" for cost in costs]
    return [ArmCard(*each) for each in zip(outcomes.arms, map(float, means), words, strict=True)]
