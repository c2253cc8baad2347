"""What a router is fitted to choose by: values of arms, the best fixed arm, when to abstain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ragways.evaluation.routing.models import FEWEST_CORPORA, By, ValueModels, fit_values, fold_labels, usual_by
from ragways.evaluation.routing.outcomes import GLOBAL, Floats, Ints, Outcomes
from ragways.retrieval.routing.router import ABSTAIN, UNITS, CostUnit


@dataclass(frozen=True)
class FitSettings:
    """How a router is fitted. `trade`: the quality that 1,000 tokens (a dollar, a second) are worth. `tolerance`: how
    far below 0 the bound of the gain may lie. `alpha`: the share of wrong ones among answers that is to be certified;
    None where it is not.
    """

    trade: float = 0.0
    cost: CostUnit = "tokens"
    seed: int = 0
    tolerance: float = 0.0
    alpha: float | None = None

    def worth(self, costs: Floats) -> Floats:
        """Costs as quality."""
        return self.trade * costs / UNITS[self.cost] if self.trade else np.zeros_like(costs)


# What is learned from questions, and chosen on others


@dataclass(frozen=True)
class Learned:
    """The models of the arms with all that a choice needs. `costs` are means by arm, corpora weighing the same; `look`
    is the value of `abstain` from which on it is chosen, None where it never is; `least` are the values by arm from
    which on the others may be.
    """

    settings: FitSettings
    models: ValueModels
    costs: Mapping[str, Floats]
    fixed: int
    refusal: int | None
    least: Floats
    look: float | None = None

    def expected_costs(self, outcomes: Outcomes) -> Floats:
        """What each arm is expected to cost, from what is known before it is taken: the tokens of evidence of an arm
        that cuts the look, of all others the mean over corpora.
        """
        costs = np.repeat(self.costs[self.settings.cost][None], len(outcomes), axis=0)
        if self.settings.cost == "tokens":
            for a in [a for a, arm in enumerate(outcomes.arms) if arm in outcomes.cuts]:
                known = outcomes.costs["evidence"][:, a]
                exact = np.maximum(0.0, costs[:, a] - self.costs["evidence"][a] + known)
                costs[:, a] = np.where(np.isnan(known), costs[:, a], exact)
        return costs

    def choose(self, outcomes: Outcomes, values: Floats | None = None) -> Ints:
        """The arm of each question, as `Router.decide` takes it where the guard has passed."""
        values = self.models.values(outcomes.features) if values is None else values
        costs = self.expected_costs(outcomes)
        utility = np.where(values < self.least, -np.inf, values - self.settings.worth(costs))
        return choice(utility, costs, values, self.refusal, self.look)


def choice(utility: Floats, costs: Floats, values: Floats, refusal: int | None, look: float | None) -> Ints:
    """The arm of the highest utility, of equal ones the cheapest; `abstain` where its value reaches `look`."""
    arms = np.array([arm for arm in range(utility.shape[1]) if arm != refusal])
    order = np.lexsort((np.broadcast_to(arms, (len(utility), len(arms))), costs[:, arms], -utility[:, arms]), axis=1)
    chosen = arms[order[:, 0]]
    if refusal is not None and look is not None:
        chosen = np.where(values[:, refusal] >= look, refusal, chosen)
    return np.asarray(chosen, dtype=np.intp)


LIKELY: Final = 0.5
"""The least value at which an arm is taken that was only ever right by construction: it must be likelier right than
wrong.
"""


def least_values(outcomes: Outcomes) -> Floats:
    """By arm, the least value at which it is taken."""
    made = np.array(outcomes.constructed or (False,) * len(outcomes), dtype=bool)
    right = outcomes.mean_quality > 0
    by_construction = right[made].sum(axis=0) > right[~made].sum(axis=0)
    reports = np.array([arm.partition("[")[0] == GLOBAL for arm in outcomes.arms])
    return np.where(by_construction & reports, LIKELY, 0.0)


def utilities(outcomes: Outcomes, settings: FitSettings) -> Floats:
    """What each arm was worth on each question: its quality less what it took."""
    return outcomes.mean_quality - settings.worth(outcomes.costs[settings.cost])


def best_arm(outcomes: Outcomes, settings: FitSettings, usual: int) -> int:
    """The arm of the highest mean utility on these questions; of equal ones the arm `usual`, or else the cheapest."""
    means = utilities(outcomes, settings).mean(axis=0).round(9)
    costs = np.nan_to_num(mean_costs(outcomes, settings.cost))
    return max(range(len(means)), key=lambda arm: (means[arm], arm == usual, -costs[arm]))


def learn(outcomes: Outcomes, settings: FitSettings, by: By | None = None) -> Learned:
    """Models, fixed arm and threshold, all from these outcomes; `by` is how its own cross-validation keeps questions
    apart.
    """
    refusal = outcomes.arms.index(ABSTAIN) if ABSTAIN in outcomes.arms else None
    by = "question" if by == "question" else usual_by(len(outcomes.corpora))
    folds = fold_labels(outcomes.corpus, by, settings.seed)
    models = fit_values(
        usable(outcomes), outcomes.names, outcomes.mean_quality, outcomes.weights, folds, refusal, outcomes.nested,
        outcomes.constructed,
    )  # fmt: skip
    costs = {unit: mean_costs(outcomes, unit) for unit in outcomes.costs}
    return at_trade(Learned(settings, models, costs, 0, refusal, least_values(outcomes)), outcomes, settings.trade)


def at_trade(learned: Learned, outcomes: Outcomes, trade: float) -> Learned:
    """The same models at another trade: what is chosen by utility is chosen again from the outcomes of the fit."""
    settings = replace(learned.settings, trade=trade)
    real = outcomes.part(outcomes.measured)
    means = np.average(real.mean_quality, axis=0, weights=real.weights)
    costs = mean_costs(real, settings.cost)
    fixed = best_fixed(means - settings.worth(costs), costs, learned.refusal)
    again = replace(learned, settings=settings, fixed=fixed, look=None)
    return replace(again, look=_best_look(again, outcomes))


def usable(outcomes: Outcomes) -> Floats:
    """The features that can be learned from: with few corpora those of a corpus are but its name."""
    if len(outcomes.corpora) >= FEWEST_CORPORA:
        return outcomes.features
    of_corpus = np.array([name.startswith("corpus.") for name in outcomes.names], dtype=bool)
    return np.where(of_corpus, np.nan, outcomes.features)


def mean_costs(outcomes: Outcomes, unit: str) -> Floats:
    """By arm, corpora weighing the same, of the questions whose records have it; nan where none does."""
    cost = outcomes.costs[unit]
    known = ~np.isnan(cost)
    total = (known * outcomes.weights[:, None]).sum(axis=0)
    summed = (np.where(known, cost, 0.0) * outcomes.weights[:, None]).sum(axis=0)
    return np.asarray(np.where(total > 0, summed / np.maximum(total, 1e-300), np.nan))


def best_fixed(utility: Floats, costs: Floats, refusal: int | None) -> int:
    """The arm of the highest mean utility, of equal ones the cheapest; never `abstain`."""
    return int(choice(utility[None], costs[None], utility[None], refusal, None)[0])


def _best_look(learned: Learned, outcomes: Outcomes) -> float | None:
    """From which value of `abstain` on it is chosen: what is best on cross-fitted values, if it is any better than
    never, and no right answer to a question that has one is lost.
    """
    if learned.refusal is None:
        return None
    values = learned.models.crossed[:, learned.refusal]
    utility, quality = utilities(outcomes, learned.settings), outcomes.mean_quality
    chosen, rows = learned.choose(outcomes, learned.models.crossed), np.arange(len(outcomes))
    gains = (utility[:, learned.refusal] - utility[rows, chosen]) * outcomes.weights
    loses = (quality[:, learned.refusal] <= 0) & (quality[rows, chosen] > 0)
    order = np.argsort(-values, kind="stable")
    last = np.append(values[order][1:] < values[order][:-1], True)  # a threshold takes all of one value
    sums = np.where(last & ~np.logical_or.accumulate(loses[order]), np.cumsum(gains[order]), -np.inf)
    best = int(np.argmax(sums))
    return float(values[order][best]) if sums[best] > 1e-9 else None
