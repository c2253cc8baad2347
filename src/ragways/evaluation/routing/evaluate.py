"""A router against simpler policies, on corpora or questions that none of them has seen.

Everything is learned anew without each corpus (or each fifth of the questions) in turn, and chooses for what was left
out: the router with its guard and its range, as it would be used, and every other policy. Corpora weigh the same.
Questions whose labels were made by construction are learned from and told of by type; no other figure counts them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from ragways.core.errors import UsageError
from ragways.evaluation.routing.fit import check, corpus_ranges, drawn_means, router_of
from ragways.evaluation.routing.learn import FitSettings, Learned, at_trade, best_arm, learn, utilities
from ragways.evaluation.routing.models import FEWEST_CORPORA, By, fold_labels, usual_by
from ragways.evaluation.routing.oracle import Oracle, oracle
from ragways.evaluation.routing.outcomes import Floats, Ints, Outcomes
from ragways.evaluation.routing.policies import baselines, fixed_of, one_hot, random_at_cost
from ragways.evaluation.statistics.inference import holm, sign_flip
from ragways.retrieval.routing.router import ABSTAIN, UNITS, CostUnit

ROUTER: Final = "router"
UNGUARDED: Final = "router without its guard"
PROMPTED: Final = "a model's choice"
STEPS: Final = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Trades of the curve, in that which would make up for the whole range of quality by the whole range of cost."""
LEAST_GAP: Final = 0.002
"""Of the oracle to the best fixed arm, below which no share of it is told."""


# What is told


@dataclass(frozen=True, slots=True)
class PolicyScore:
    """Means over questions. `gain` is the utility less that of the best fixed arm, with its 95 % interval."""

    questions: int
    quality: float
    cost: float
    utility: float
    gain: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """A policy over all corpora and by corpus. `p` is that of its gain, corrected by Holm for all policies; `regret` is
    the corrected oracle's utility less its own; `choices` are the shares of arms.
    """

    name: str
    score: PolicyScore
    p: float
    regret: float
    choices: Mapping[str, float]
    by_corpus: Mapping[str, PolicyScore]


@dataclass(frozen=True, slots=True)
class TypeResult:
    """The questions of a type: the shares of the arms that the router took on them, its quality and the quality of the
    best fixed arm; and the arm that is best on them, as `best_arm` tells it.
    """

    questions: int
    choices: Mapping[str, float]
    quality: float
    fixed_quality: float
    best_arm: str


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What the router gives and costs at a trade. `quality` and `cost` are means, corpora weighing the same."""

    trade: float
    quality: float
    cost: float


@dataclass(frozen=True, slots=True)
class Control:
    """A router that cannot have learned anything: its gain over the best fixed arm, which must not be above 0."""

    name: str
    gain: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        return self.low <= 0


@dataclass(frozen=True)
class RouterEvaluation:
    """Everything that `route evaluate` tells. `fixed` is the best fixed arm in hindsight, which all gains are against;
    `closed` is the share of the gap from it to the corrected oracle that the router closes, None where there is no gap.
    `guards` say for each fold whether the guard let the router route, `far` which corpora were out of its range.
    """

    quality: str
    cost: CostUnit
    trade: float
    how: str
    questions: int
    corpora: Mapping[str, int]
    arms: tuple[str, ...]
    fixed: str
    policies: tuple[PolicyResult, ...]
    oracle: Oracle
    closed: float | None
    curve: tuple[CurvePoint, ...]
    controls: tuple[Control, ...]
    by_type: Mapping[str, TypeResult]
    guards: Mapping[str, bool]
    far: tuple[str, ...] = ()
    model: str = ""
    seed: int = 0
    notes: tuple[str, ...] = field(default=())

    def policy(self, name: str) -> PolicyResult:
        """The result of a policy by its name."""
        return next(each for each in self.policies if each.name == name)


# Learning without each fold, and choosing for it


@dataclass(frozen=True)
class _Fold:
    name: str
    known: Outcomes
    asked: Outcomes
    rows: Ints
    learned: Learned
    routes: bool
    far: tuple[str, ...]

    def chosen(self, learned: Learned, guarded: bool) -> Ints:
        """The arms of the questions that were left out. Guarded, it takes the fixed arm where it may not route."""
        if guarded and not self.routes:
            return np.full(len(self.asked), learned.fixed)
        chosen = learned.choose(self.asked)
        if guarded and self.far:
            away = np.isin(self.asked.corpus, [self.asked.corpora.index(corpus) for corpus in self.far])
            chosen = np.where(away, learned.fixed, chosen)
        return chosen


def _folds(outcomes: Outcomes, settings: FitSettings, by: By) -> list[_Fold]:
    labels = fold_labels(outcomes.corpus, by, settings.seed + 1)
    found = []
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        known, asked = outcomes.part(np.flatnonzero(labels != label)), outcomes.part(rows)
        own = "question" if by == "question" else usual_by(len(known.corpora))
        learned = learn(known, settings, own)
        router = router_of(known, learned, own)
        far = []
        for corpus, here in corpus_ranges(asked).items():
            distance = router.distance(here.features)
            if router.reach is not None and distance is not None and distance > router.reach:
                far.append(corpus)
        name = outcomes.corpora[label] if by == "corpus" else f"fold {label + 1}"
        found.append(_Fold(name, known, asked, rows, learned, router.guard.passed, tuple(far)))
    return found


def _gathered(
    outcomes: Outcomes, folds: Sequence[_Fold], trade: float | None = None, *, guarded: bool = True
) -> Floats:
    """The router's choices on all questions, each by the fold that left it out."""
    chosen = np.empty(len(outcomes), dtype=np.intp)
    for fold in folds:
        learned = fold.learned if trade is None else at_trade(fold.learned, fold.known, trade)
        chosen[fold.rows] = fold.chosen(learned, guarded)
    return one_hot(chosen, len(outcomes.arms))


def evaluate_router(
    outcomes: Outcomes,
    settings: FitSettings = FitSettings(),  # noqa: B008 - frozen
    by: By | None = None,
    more: Mapping[str, Floats] | None = None,
) -> RouterEvaluation:
    """Hold a router against other policies; `by` is what is left out together, corpora where there are three or more.

    `more` are choices of further policies, by name: the shares of arms on each question (`prompt_router`). Raises
    UsageError where no router can be fitted, or corpora are to be left out and there are fewer than three.
    """
    settings = replace(settings, alpha=None)
    by = by or usual_by(len(outcomes.corpora))
    check(outcomes, settings)
    if by == "corpus" and len(outcomes.corpora) < FEWEST_CORPORA:
        raise UsageError(f"there are {len(outcomes.corpora)} corpora, too few to leave one out",
                         "name runs over three or more, or keep questions apart")  # fmt: skip
    folds = _folds(outcomes, settings, by)
    routed = _gathered(outcomes, folds)
    taken = {ROUTER: routed, UNGUARDED: _gathered(outcomes, folds, guarded=False), **(more or {})}
    measured = outcomes.measured
    real = outcomes.part(measured)
    cost = real.mean(_of(routed[measured], real.costs[settings.cost]))
    for policy in [*baselines(settings, outcomes.arms), random_at_cost(settings, cost)]:
        shares = np.empty((len(outcomes), len(outcomes.arms)))
        for fold in folds:
            shares[fold.rows] = policy.choose(fold.known, fold.asked)
        taken[policy.name] = shares
    fixed = fixed_of(real, settings)
    values = np.empty((len(outcomes), len(outcomes.arms)))
    for fold in folds:
        values[fold.rows] = fold.learned.models.values(fold.asked.features)
    best = oracle(real, settings, values[measured])
    results = _results(real, settings, {name: shares[measured] for name, shares in taken.items()}, fixed, best)
    baseline = next(each for each in results if each.name == outcomes.arms[fixed]).score.utility
    gap = best.corrected - baseline
    return RouterEvaluation(
        quality=outcomes.metric,
        cost=settings.cost,
        trade=settings.trade,
        how=_how(outcomes, by),
        questions=len(real),
        corpora={corpus: here.questions for corpus, here in corpus_ranges(real).items()},
        arms=outcomes.arms,
        fixed=outcomes.arms[fixed],
        policies=results,
        oracle=best,
        closed=(results[0].score.utility - baseline) / gap if gap >= LEAST_GAP else None,
        curve=_curve(outcomes, settings, folds),
        controls=_controls(outcomes, settings, by),
        by_type=_by_type(outcomes, settings, routed, fixed),
        guards={fold.name: fold.routes for fold in folds},
        far=tuple(corpus for fold in folds for corpus in fold.far),
        model=outcomes.model,
        seed=settings.seed,
        notes=outcomes.notes,
    )


def _how(outcomes: Outcomes, by: By) -> str:
    if by == "corpus":
        return f"each of {len(outcomes.corpora)} corpora was left out in turn"
    return "each fifth of the questions was left out in turn"


# Figures


def _of(shares: Floats, values: Floats) -> Floats:
    """The mean of values by arm under shares; arms that are not taken need no value."""
    return np.asarray(np.where(shares > 0, shares * values, 0.0).sum(axis=1))


def _results(
    outcomes: Outcomes, settings: FitSettings, taken: Mapping[str, Floats], fixed: int, best: Oracle
) -> tuple[PolicyResult, ...]:
    utility = utilities(outcomes, settings)
    gains = {name: _of(shares, utility) - utility[:, fixed] for name, shares in taken.items()}
    # Weighted so that the sum is that of corpora which weigh the same.
    ps = [sign_flip(gain * outcomes.weights, seed=settings.seed)[0] for gain in gains.values()]
    adjusted = dict(zip(gains, holm(ps), strict=True))
    drawn = _intervals(outcomes, gains, settings.seed)
    by_corpus = {
        corpus: (rows, _intervals(outcomes.part(rows), {k: v[rows] for k, v in gains.items()}, settings.seed))
        for n, corpus in enumerate(outcomes.corpora)
        for rows in [np.flatnonzero(outcomes.corpus == n)]
    }
    return tuple(
        PolicyResult(
            name=name,
            score=_score(outcomes, settings, shares, gains[name], drawn[name]),
            p=adjusted[name],
            regret=best.corrected - outcomes.mean(_of(shares, utility)),
            choices=_shares(outcomes, shares),
            by_corpus={
                corpus: _score(outcomes.part(rows), settings, shares[rows], gains[name][rows], own[name])
                for corpus, (rows, own) in by_corpus.items()
            },
        )
        for name, shares in taken.items()
    )


def _intervals(outcomes: Outcomes, gains: Mapping[str, Floats], seed: int) -> dict[str, tuple[float, float]]:
    """The 95 % interval of each mean gain, of the same questions drawn again for all."""
    drawn = drawn_means(np.column_stack(list(gains.values())), outcomes.corpus, seed)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    return {name: (float(low[n]), float(high[n])) for n, name in enumerate(gains)}


def _score(
    outcomes: Outcomes, settings: FitSettings, shares: Floats, gain: Floats, interval: tuple[float, float]
) -> PolicyScore:
    return PolicyScore(
        questions=len(outcomes),
        quality=outcomes.mean(_of(shares, outcomes.mean_quality)),
        cost=outcomes.mean(_of(shares, outcomes.costs[settings.cost])),
        utility=outcomes.mean(_of(shares, utilities(outcomes, settings))),
        gain=outcomes.mean(gain),
        low=interval[0],
        high=interval[1],
    )


def _shares(outcomes: Outcomes, shares: Floats) -> dict[str, float]:
    means = np.average(shares, axis=0, weights=outcomes.weights)
    return {arm: float(share) for arm, share in zip(outcomes.arms, means, strict=True) if share > 0}


def _by_type(outcomes: Outcomes, settings: FitSettings, routed: Floats, fixed: int) -> dict[str, TypeResult]:
    found = {}
    for type in sorted(set(outcomes.types)):
        rows = np.array([n for n, own in enumerate(outcomes.types) if own == type], dtype=np.intp)
        some, shares = outcomes.part(rows), routed[rows]
        found[type] = TypeResult(
            len(rows),
            _shares(some, shares),
            some.mean(_of(shares, some.mean_quality)),
            some.mean(some.mean_quality[:, fixed]),
            some.arms[best_arm(some, settings, fixed)],
        )
    return found


def _curve(outcomes: Outcomes, settings: FitSettings, folds: Sequence[_Fold]) -> tuple[CurvePoint, ...]:
    """The router without its guard at trades from none to one at which only the cheapest arm is left."""
    measured = outcomes.measured
    real = outcomes.part(measured)
    costs = real.costs[settings.cost]
    answering = [a for a, arm in enumerate(outcomes.arms) if arm != ABSTAIN]
    means = np.array([real.mean(costs[:, a]) for a in answering])
    spread = float(np.ptp(means)) / UNITS[settings.cost]
    if not spread > 0:  # nan too: some record does not tell
        return ()
    points = []
    for step in STEPS:
        shares = _gathered(outcomes, folds, step / spread, guarded=False)[measured]
        quality, cost = _of(shares, real.mean_quality), _of(shares, costs)
        points.append(CurvePoint(step / spread, real.mean(quality), real.mean(cost)))
    return tuple(points)


def _controls(outcomes: Outcomes, settings: FitSettings, by: By) -> tuple[Control, ...]:
    """Routers that were fitted on outcomes of other questions of the corpus, and on features that are noise."""
    chance = np.random.default_rng(settings.seed)
    order = np.arange(len(outcomes))
    for corpus in range(len(outcomes.corpora)):
        rows = np.flatnonzero(outcomes.corpus == corpus)
        order[rows] = chance.permutation(rows)
    shuffled = replace(
        outcomes,
        quality=outcomes.quality[order],
        costs={unit: cost[order] for unit, cost in outcomes.costs.items()},
        constructed=tuple(outcomes.constructed[n] for n in order) if outcomes.constructed else (),
    )
    noise = replace(outcomes, features=chance.normal(size=outcomes.features.shape))
    return tuple(_control(name, each, settings, by) for name, each in
                 (("shuffled outcomes", shuffled), ("random features", noise)))  # fmt: skip


def _without_sizes(outcomes: Outcomes) -> Outcomes:
    """The same where it is not known what each arm would show. To choose by that is worth something on any question,
    and has nothing to do with what was learned.
    """
    unknown = np.full_like(outcomes.costs["evidence"], np.nan)
    return replace(outcomes, costs={**outcomes.costs, "evidence": unknown})


def _control(name: str, outcomes: Outcomes, settings: FitSettings, by: By) -> Control:
    labels = fold_labels(outcomes.corpus, by, settings.seed + 1)
    utility, gains = utilities(outcomes, settings), np.empty(len(outcomes))
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        learned = learn(outcomes.part(np.flatnonzero(labels != label)), settings, by)
        gains[rows] = utility[rows, learned.choose(_without_sizes(outcomes.part(rows)))] - utility[rows, learned.fixed]
    real = outcomes.part(outcomes.measured)
    gains = gains[outcomes.measured]
    low, high = _intervals(real, {name: gains}, settings.seed)[name]
    return Control(name, real.mean(gains), low, high)
