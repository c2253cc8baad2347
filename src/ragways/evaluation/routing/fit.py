"""Fit a router on outcomes: values of arms, the best fixed arm, when to abstain; the guard, and the range of corpora.

All that is chosen is chosen again inside each fold of the guard, so that its gain is that of the whole procedure on
questions (or corpora, where there are three or more) that it has not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragways.core import __version__
from ragways.core.errors import UsageError
from ragways.core.text import counted
from ragways.evaluation.routing.certify import Stopping, certified_stop
from ragways.evaluation.routing.models import (
    FEWEST_CORPORA,
    By,
    Standard,
    ValueModels,
    fit_values,
    fold_labels,
    usual_by,
)
from ragways.evaluation.routing.outcomes import GLOBAL, Floats, Ints, Outcomes
from ragways.evaluation.statistics.inference import studentised
from ragways.retrieval.ask import PARADIGMS
from ragways.retrieval.routing.auto import arm_of
from ragways.retrieval.routing.router import (
    ABSTAIN,
    ENOUGH,
    UNITS,
    ArmModel,
    CorpusRange,
    CostUnit,
    Guard,
    Router,
    Scale,
    Stop,
)


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


# The guard


DRAWS: Final = 2000
"""Times that questions are drawn again for a bound."""
CONFIDENCE: Final = 0.95
BEYOND: Final = 1.5
"""So many times the largest distance from a corpus to its nearest neighbour is the reach of a router."""
ALIKE: Final = 0.25
"""With too few corpora to know how they vary: a corpus whose features differ by this share on average is another."""


def crossed_choices(outcomes: Outcomes, settings: FitSettings, by: By) -> tuple[Ints, Floats]:
    """Return for each question the arm that a router learned without its fold would take, and the values it goes by."""
    chosen = np.empty(len(outcomes), dtype=np.intp)
    values = np.empty((len(outcomes), len(outcomes.arms)))
    folds = fold_labels(outcomes.corpus, by, settings.seed + 1)
    for fold in np.unique(folds):
        test = np.flatnonzero(folds == fold)
        learned = learn(outcomes.part(np.flatnonzero(folds != fold)), settings, by)
        values[test] = learned.models.values(outcomes.features[test])
        chosen[test] = learned.choose(outcomes.part(test), values[test])
    return chosen, values


def drawn_means(values: Floats, corpus: Ints, seed: int, draws: int = DRAWS) -> Floats:
    """Means of values when questions are drawn again within each corpus; corpora weigh the same. `values` may have
    further columns, which are drawn together. Returns draws × columns.
    """
    columns = values.reshape(len(values), -1)
    chance = np.random.default_rng(seed)
    corpora = np.unique(corpus)
    total = np.zeros((draws, columns.shape[1]))
    for one in corpora:
        own = columns[corpus == one]
        counts = chance.multinomial(len(own), np.full(len(own), 1 / len(own)), size=draws)
        total += counts @ own / len(own)
    return total / len(corpora)


def lower_bound(gains: Floats, corpus: Ints, seed: int) -> float:
    """The one-sided 95 % bound of the mean gain: of questions drawn again, or Student's where it is lower, which also
    allows for losses so rare that none has been seen. Gains of 0 alone have the bound 0.
    """
    if not gains.any():
        return 0.0
    counts = np.bincount(corpus)
    even = gains * len(gains) / np.count_nonzero(counts) / counts[corpus]
    student, _ = studentised(even, level=2 * CONFIDENCE - 1)
    drawn = float(np.quantile(drawn_means(gains, corpus, seed)[:, 0], 1 - CONFIDENCE))
    return drawn if student is None else min(drawn, student)


def guard_of(outcomes: Outcomes, settings: FitSettings, by: By, chosen: Ints, fixed: int) -> Guard:
    """Tell whether the cross-fitted choices are worth more than always the arm `fixed`, on what was measured."""
    utility, rows = utilities(outcomes, settings), outcomes.measured
    real = outcomes.part(rows)
    gains = utility[rows, chosen[rows]] - utility[rows, fixed]
    lower = lower_bound(gains, real.corpus, settings.seed)
    how = {
        "corpus": f"each of {len(outcomes.corpora)} corpora was left out in turn",
        "question": "each fifth of the questions was left out in turn",
    }[by]
    passed = lower > -settings.tolerance and len(real) >= ENOUGH
    return Guard(real.mean(gains), lower, passed, settings.tolerance, how, len(real))


# The router


def fit(outcomes: Outcomes, settings: FitSettings = FitSettings(), by: By | None = None) -> Router:  # noqa: B008 - frozen
    """A router from outcomes, the same to the byte for the same outcomes and seed.

    Raises UsageError where an arm is no paradigm of ragways, where the cost of an arm is in no record, or where there
    are too few questions to keep some apart.
    """
    check(outcomes, settings)
    by = by or usual_by(len(outcomes.corpora))
    return router_of(outcomes, learn(outcomes, settings, by), by)


def router_of(outcomes: Outcomes, learned: Learned, by: By) -> Router:
    """Models that were fitted on outcomes as a router, with its guard, its range and its thresholds."""
    settings = learned.settings
    chosen, values = crossed_choices(outcomes, settings, by)
    guard = guard_of(outcomes, settings, by, chosen, learned.fixed)
    stop = Stop(look=learned.look)
    if settings.alpha is not None:
        taken = chosen if guard.passed else np.full(len(outcomes), learned.fixed)
        stop = certified_stop(
            _stopping(outcomes, settings, learned.refusal, taken, values), settings.alpha, settings.seed, learned.look
        )
    router = Router(
        quality=outcomes.metric,
        cost=settings.cost,
        trade=settings.trade,
        fixed=outcomes.arms[learned.fixed],
        arms=tuple(_arm(outcomes, learned, a) for a in range(len(outcomes.arms))),
        features=_scales(outcomes, learned.models.standard),
        guard=guard,
        corpora=corpus_ranges(outcomes),
        stop=stop,
        model=outcomes.model,
        embedder=outcomes.embedder,
        look=outcomes.look or "fused",
        seed=settings.seed,
        made={
            "ragways": __version__,
            "penalty": f"{learned.models.penalty:g}",
            **_range_words(outcomes),
            **{f"note {n + 1}": note for n, note in enumerate(outcomes.notes)},
        },
    )
    return replace(router, reach=_reach(router))


FEWEST: Final = 20
"""Questions below which a router is not fitted."""


def check(outcomes: Outcomes, settings: FitSettings) -> None:
    """UsageError where no router can be fitted with these settings."""
    if len(outcomes) < FEWEST:
        few = counted(len(outcomes), "question is", "questions are")
        raise UsageError(f"{few} too few to fit a router", f"ask {FEWEST} or more of each arm")
    if not np.isfinite(settings.trade) or settings.trade < 0:
        raise UsageError(f"a trade of {settings.trade:g} makes no sense", "give a number of 0 or more")
    if settings.alpha is not None and not 0 < settings.alpha < 1:
        raise UsageError(f"an alpha of {settings.alpha:g} makes no sense", "give a share between 0 and 1")
    for arm in outcomes.arms:
        if arm != ABSTAIN and arm.partition("[")[0] not in PARADIGMS:
            raise UsageError(f"{arm[:80]} is no paradigm of ragways, so a router cannot take it", "leave its run out")
    if "look.fused" in outcomes.names and not outcomes.look:
        raise UsageError("the questions were not all looked at by the same paradigm",
                         "fit a router on runs over indexes of the same layers")  # fmt: skip
    unknown = np.flatnonzero(np.isnan(outcomes.costs[settings.cost]).any(axis=0))
    if settings.trade and len(unknown):
        names = ", ".join(outcomes.arms[a] for a in unknown)
        raise UsageError(f"some records do not have the {settings.cost} of {names}", "name another cost, or --trade 0")


def _needs(arm: str) -> frozenset[str]:
    if arm == ABSTAIN:
        return frozenset()
    known = arm_of(arm, PARADIGMS.find)
    return known.paradigm.needs_with(known.settings)


def _arm(outcomes: Outcomes, learned: Learned, a: int) -> ArmModel:
    name, models, real = outcomes.arms[a], learned.models, outcomes.part(outcomes.measured)
    base = name.partition("[")[0]
    weights = {
        feature: float(weight)
        for feature, weight in zip(outcomes.names, models.weights[a], strict=True)
        if abs(weight) >= _SMALLEST
    }
    return ArmModel(
        name=name,
        quality=real.mean(real.mean_quality[:, a]),
        constant=float(models.constants[a]),
        weights=weights,
        cost={unit: float(cost[a]) for unit, cost in learned.costs.items() if not np.isnan(cost[a])},
        needs=tuple(sorted(_needs(name))),
        model=base == "llm-only",
        least=float(learned.least[a]),
    )


_SMALLEST: Final = 5e-7
"""Weights below it are 0 in the file."""


def _scales(outcomes: Outcomes, standard: Standard) -> dict[str, Scale]:
    """Of all features that vary; of those of a corpus also where there are too few corpora to measure how they vary."""
    few = len(outcomes.corpora) < FEWEST_CORPORA
    own = Standard.of(outcomes.features, outcomes.weights)
    found = {}
    for n, name in enumerate(outcomes.names):
        mean, scale = float(standard.mean[n]), float(standard.scale[n])
        if few and name.startswith("corpus."):
            mean = float(own.mean[n])
            scale = max(ALIKE * abs(mean), ALIKE / 10)
        if scale > 0 and not np.isnan(outcomes.features[:, n]).all():
            found[name] = Scale(mean, scale)
    return found


def corpus_ranges(outcomes: Outcomes) -> dict[str, CorpusRange]:
    """The corpora with their features and the number of their questions."""
    of_corpus = [n for n, name in enumerate(outcomes.names) if name.startswith("corpus.")]
    found = {}
    for place, corpus in enumerate(outcomes.corpora):
        own = outcomes.features[outcomes.corpus == place]
        known: NDArray[np.bool_] = ~np.isnan(own)
        features = {outcomes.names[n]: float(own[known[:, n], n].mean()) for n in of_corpus if known[:, n].any()}
        found[corpus] = CorpusRange(features, len(own))
    return found


def _reach(router: Router) -> float | None:
    """How far a corpus may be from those of the router; None where it has no features of a corpus."""
    if not any(corpus.features for corpus in router.corpora.values()):
        return None
    if len(router.corpora) < FEWEST_CORPORA:
        return 1.0
    nearest = []
    for name, corpus in router.corpora.items():
        others = {other: known for other, known in router.corpora.items() if other != name}
        nearest.append(replace(router, corpora=others).distance(corpus.features) or 0.0)
    return BEYOND * max(nearest)


def _range_words(outcomes: Outcomes) -> dict[str, str]:
    if not any(name.startswith("corpus.") for name in outcomes.names):
        return {"range": "the records have no features of the corpus: where the router may be used is unknown"}
    if len(outcomes.corpora) < FEWEST_CORPORA:
        return {"range": "fitted on fewer than three corpora: it routes on these alone, and on what is much like them"}
    return {"range": f"fitted on {len(outcomes.corpora)} corpora"}


def _stopping(outcomes: Outcomes, settings: FitSettings, refusal: int | None, chosen: Ints, values: Floats) -> Stopping:
    """What a certificate is made from: the answers of the arms that were chosen without having seen the question. Where
    `abstain` was chosen, the arm that would have answered is looked at, since thresholds are tried below that.
    """
    rows = np.arange(len(outcomes))
    if refusal is not None:
        costs = np.repeat(mean_costs(outcomes, settings.cost)[None], len(outcomes), axis=0)
        answering = choice(values - settings.worth(costs), costs, values, refusal, None)
        chosen = np.where(chosen == refusal, answering, chosen)
    return Stopping(
        wrong=outcomes.quality[rows, chosen, 0] < 0.5,
        silent=outcomes.abstained[rows, chosen, 0] > 0,
        refusal=values[:, refusal] if refusal is not None else np.zeros(len(outcomes)),
        chance=outcomes.chance[rows, chosen, 0],
    )
