"""Compare a router with simpler policies, on corpora or questions that none of them was fitted on.

Everything is fitted again without each corpus (or each fifth of the questions) in turn, and chooses for what was left
out: the router with its guard and its range, as it would be used, and every other policy. Corpora weigh the same.
Questions whose labels were made by construction are used for fitting, and in the table by type; no other figure counts
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from ragways.core.errors import UsageError
from ragways.core.plain import to_plain
from ragways.core.table import Cell, Column, Table
from ragways.core.text import counted
from ragways.evaluation.routing.fit import (
    FitSettings,
    Learned,
    at_trade,
    best_arm,
    check,
    corpus_ranges,
    drawn_means,
    learn,
    router_of,
    utilities,
)
from ragways.evaluation.routing.models import FEWEST_CORPORA, By, fold_labels, usual_by
from ragways.evaluation.routing.outcomes import Floats, Ints, Outcomes, gather
from ragways.evaluation.routing.policies import baselines, fixed_of, one_hot
from ragways.evaluation.routing.tables import cost_column, signed
from ragways.evaluation.routing.tuning import USUAL_TRADE, usual_quality
from ragways.evaluation.statistics.inference import holm, sign_flip
from ragways.retrieval.routing.router import ABSTAIN, UNITS, CostUnit, cost_in_words

# The oracle: what the best choice of an arm for each question would have been worth. The best of several noisy outcomes
# is better than any arm is, and the naive oracle takes it all the same. The corrected one chooses by one half of the
# repeats and is scored on the other half, so that the luck of the choice is not counted.

SPLITS: Final = 20
"""Ways to halve the repeats that are tried, at most."""
_PRIOR: Final = 1.0
"""Repeats that a predicted value weighs as many as, where there is one repeat of a noisy model."""


@dataclass(frozen=True)
class Oracle:
    """`naive` and `corrected` are mean utilities, corpora weighing the same; `words` say how it was corrected."""

    naive: float
    corrected: float
    words: str


def oracle(outcomes: Outcomes, settings: FitSettings, values: Floats) -> Oracle:
    """The oracle of these outcomes; `values` are the predicted ones, by models that had not seen the question."""
    naive = utilities(outcomes, settings).max(axis=1)
    repeats = outcomes.quality.shape[2]
    if outcomes.exact:
        # A repeat of what is exact is no other draw: there is no luck to take out.
        words = (
            "asking again gives the same, so the naive oracle is exact for these outcomes; "
            "but what sets questions apart need not be in any feature, so not all of its gap can be learned"
        )
        found = naive
    elif repeats >= 2:
        words = f"corrected: arms were chosen on one half of {repeats} repeats and scored on the other"
        found = split_halves(outcomes, settings, values)
    else:
        words = (
            "an estimate: with one repeat of a noisy model each outcome counts half and what was predicted of it half; "
            "run with --repeats 2 or more to have it measured"
        )
        found = shrunken(outcomes, settings, values)
    return Oracle(outcomes.mean(naive), outcomes.mean(found), words)


def split_halves(outcomes: Outcomes, settings: FitSettings, values: Floats) -> Floats:
    """The utility by question of the arm that seems best by half of the repeats, on the other half.

    One or two repeats alone are noisy, so their values are shrunk towards what was predicted, as far as repeats
    differ among themselves more than from that (`prior_repeats`). Scores are free of the choice's luck in any case.
    """
    quality = outcomes.quality
    filled = np.where(np.isnan(quality), outcomes.mean_quality[:, :, None], quality)
    worth = settings.worth(outcomes.costs[settings.cost])
    prior = prior_repeats(quality, values)
    chance = np.random.default_rng(settings.seed)
    repeats, rows = quality.shape[2], np.arange(len(outcomes))
    total, halvings = np.zeros(len(outcomes)), 1 if repeats == 2 else SPLITS
    for _ in range(halvings):
        order = chance.permutation(repeats)
        halves = order[: repeats // 2], order[repeats // 2 :]
        for choose, score in (halves, halves[::-1]):
            seen = (filled[:, :, choose].sum(axis=2) + prior * values) / (len(choose) + prior)
            chosen = np.argmax(seen - worth, axis=1)
            total += (filled[:, :, score].mean(axis=2) - worth)[rows, chosen]
    return total / (2 * halvings)


def prior_repeats(quality: Floats, values: Floats) -> float:
    """As how many repeats a predicted value counts: the variance of repeats of one question and arm among themselves,
    in that of their true means about what was predicted (the covariance of two repeats).
    """
    apart = quality - values[:, :, None]
    known = ~np.isnan(apart)
    filled, counts = np.where(known, apart, 0.0), known.sum(axis=2)
    squares, sums = (filled**2).sum(axis=2), filled.sum(axis=2)
    pairs = (counts * (counts - 1)).sum()
    between = float((sums**2 - squares).sum() / max(pairs, 1))
    whole = float(squares.sum() / max(counts.sum(), 1))
    return float(np.clip((whole - between) / max(between, 1e-9), 1e-3, 1e3))


def shrunken(outcomes: Outcomes, settings: FitSettings, values: Floats) -> Floats:
    """The utility of the best arm when each outcome is shrunk towards what was predicted. With one repeat, noise cannot
    be measured; this lies between all of the outcome being noise and none.
    """
    quality = (outcomes.mean_quality + _PRIOR * values) / (1 + _PRIOR)
    return np.asarray((quality - settings.worth(outcomes.costs[settings.cost])).max(axis=1))


# The comparison with other policies


ROUTER: Final = "router"
UNGUARDED: Final = "router without its guard"
PROMPTED: Final = "a model's choice"
STEPS: Final = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Trades of the curve, in units of the trade at which the whole range of cost is worth the whole range of quality."""
LEAST_GAP: Final = 0.002
"""Gap of the oracle to the best fixed arm, below which no closed share of it is computed."""


@dataclass(frozen=True)
class RouterEvaluation:
    """The result of `evaluate_router`: four tables, and `words`, a sentence for each thing to know of them.

    `fixed` is the best fixed arm in hindsight, which all gains are against; `closed` is the share of the gap from it to
    the corrected oracle that the router closes, None where there is no gap. Rows of the tables:

    - `policies`: a policy on a corpus; the corpus is empty for all of them together. `gain` is the utility less that of
      `fixed`, with its 95 % interval; `p` is corrected by Holm for all policies; `regret` is the utility of the
      corrected oracle less its own
    - `types`: the questions of a type, with the shares of arms that the router took, and the best arm for them
    - `curve`: the router without its guard at a trade; empty where some cost is unknown
    - `controls`: a router that cannot have learned anything; its gain must not be above 0
    """

    quality: str
    cost: CostUnit
    trade: float
    questions: int
    corpora: tuple[str, ...]
    arms: tuple[str, ...]
    fixed: str
    oracle: Oracle
    closed: float | None
    policies: Table
    types: Table
    curve: Table
    controls: Table
    words: Mapping[str, str]

    def tables(self) -> list[Table]:
        """The tables as a report or a terminal shows them."""
        columns = ("policy", "quality", "cost", "utility", "gain", "low", "high", "p", "regret")
        router = self.policies.where(policy=ROUTER)
        corpora = router.only("corpus", "questions", "quality", "cost", "utility", "gain", "low", "high")
        return [
            replace(self.policies.where(corpus="").only(*columns), name="routing policies"),
            replace(corpora, rows=corpora.rows[1:], title="the router by corpus", name="routing corpora", notes=()),
            *(table for table in (self.types, self.curve) if table.rows),
        ]

    def to_plain(self) -> dict[str, Any]:
        """For JSON and pages: the fields, each table as a list of rows."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: to_plain(one.to_plain() if isinstance(one, Table) else one) for name, one in fields.items()}


def routing_tables(folders: Sequence[Path]) -> tuple[list[Table], dict[str, Any]]:
    """A router compared with the paradigms of these runs: as tables of a report, and as data for its page. UsageError
    where that cannot be done.
    """
    outcomes = gather(folders, quality=usual_quality(folders), common=True)
    found = evaluate_router(outcomes, FitSettings(trade=USUAL_TRADE["tokens"]))
    lines = [f"{name}: {line}" for name, line in found.words.items()]
    first, *others = found.tables()
    return [replace(first, title="Routing", notes=(*lines, *first.notes)), *others], found.to_plain()


# Fitting without each fold, and choosing for it


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
    """Compare a router with other policies; `by` is what is left out together, corpora where there are three or more.

    `more` are choices of further policies, by name: the shares of arms on each question (`prompt_router`). Raises
    UsageError where no router can be fitted, or corpora are to be left out and there are fewer than three.
    """
    settings = replace(settings, alpha=None)
    by = by or usual_by(len(outcomes.corpora))
    check(outcomes, settings)
    if by == "corpus" and len(outcomes.corpora) < FEWEST_CORPORA:
        raise UsageError(f"there are {len(outcomes.corpora)} corpora, too few to leave one out",
                         "name runs over three or more, or keep questions apart")  # fmt: skip
    folds, measured = _folds(outcomes, settings, by), outcomes.measured
    real = outcomes.part(measured)
    routed = _gathered(outcomes, folds)
    taken = {ROUTER: routed, UNGUARDED: _gathered(outcomes, folds, guarded=False), **(more or {})}
    cost = real.mean(_of(routed[measured], real.costs[settings.cost]))
    for name, choose in baselines(settings, outcomes.arms, cost).items():
        taken[name] = np.empty((len(outcomes), len(outcomes.arms)))
        for fold in folds:
            taken[name][fold.rows] = choose(fold.known, fold.asked)
    values = np.empty((len(outcomes), len(outcomes.arms)))
    for fold in folds:
        values[fold.rows] = fold.learned.models.values(fold.asked.features)
    best, fixed = oracle(real, settings, values[measured]), fixed_of(real, settings)
    name = outcomes.arms[fixed]
    policies = _policies(real, settings, {name: shares[measured] for name, shares in taken.items()}, fixed, best)
    gap = best.corrected - policies.cell("utility", policy=name, corpus="")
    closed = policies.cell("gain", policy=ROUTER, corpus="") / gap if gap >= LEAST_GAP else None
    controls = _controls(outcomes, settings, by)
    return RouterEvaluation(
        quality=outcomes.metric,
        cost=settings.cost,
        trade=settings.trade,
        questions=len(real),
        corpora=real.corpora,
        arms=outcomes.arms,
        fixed=name,
        oracle=best,
        closed=closed,
        policies=policies,
        types=_types(outcomes, settings, routed, fixed),
        curve=_curve(outcomes, settings, folds),
        controls=controls,
        words=_words(outcomes, settings, folds, policies, name)
        | {"oracle": _oracle_in_words(best, closed), "controls": _controls_in_words(controls)}
        | ({"notes": "; ".join(outcomes.notes)} if outcomes.notes else {}),
    )


# The tables


def _of(shares: Floats, values: Floats) -> Floats:
    """The mean of values by arm under shares; arms that are not taken need no value."""
    return np.asarray(np.where(shares > 0, shares * values, 0.0).sum(axis=1))


def _policies(
    outcomes: Outcomes, settings: FitSettings, taken: Mapping[str, Floats], fixed: int, best: Oracle
) -> Table:
    utility = utilities(outcomes, settings)
    worth = {name: _of(shares, utility) for name, shares in taken.items()}
    gains = {name: own - utility[:, fixed] for name, own in worth.items()}
    # Weighted so that the sum is that of corpora which weigh the same.
    ps = holm([sign_flip(gain * outcomes.weights, seed=settings.seed)[0] for gain in gains.values()])
    regrets = [best.corrected - outcomes.mean(own) for own in worth.values()]
    rows: list[dict[str, Cell]] = []
    corpora = [np.flatnonzero(outcomes.corpus == n) for n in range(len(outcomes.corpora))]
    for corpus, place in (("", np.arange(len(outcomes))), *zip(outcomes.corpora, corpora, strict=True)):
        part = outcomes.part(place)
        drawn = _intervals(part, {name: gain[place] for name, gain in gains.items()}, settings.seed)
        for (name, shares), p, regret in zip(taken.items(), ps, regrets, strict=True):
            rows.append({
                "policy": name, "corpus": corpus, "questions": len(part),
                "quality": part.mean(_of(shares[place], part.mean_quality)),
                "cost": _known(part.mean(_of(shares[place], part.costs[settings.cost]))),
                "utility": part.mean(worth[name][place]), "gain": part.mean(gains[name][place]),
                "low": drawn[name][0], "high": drawn[name][1],
                **({} if corpus else {"p": p, "regret": regret}),
            })  # fmt: skip
    columns = [
        Column("policy"), Column("corpus"), Column("n", key="questions"), Column(outcomes.metric, ".3f", key="quality"),
        cost_column(settings.cost), Column("utility", ".3f"), *map(signed, ("gain", "low", "high")),
        Column("p", ".3f"), Column("regret", ".3f"),
    ]  # fmt: skip
    notes = [
        f"gain: in utility over always {outcomes.arms[fixed]}, with its 95 % interval; p by Holm for all policies "
        "together; regret: what the corrected oracle has more"
    ]
    title = f"{counted(len(outcomes), 'question')} of {counted(len(outcomes.corpora), 'corpus', 'corpora')}"
    return Table.of(columns, rows, title=title, notes=notes, name="policies")


def _known(cost: float) -> float | None:
    return None if np.isnan(cost) else cost


def _intervals(outcomes: Outcomes, gains: Mapping[str, Floats], seed: int) -> dict[str, tuple[float, float]]:
    """The 95 % interval of each mean gain, of the same questions drawn again for all."""
    drawn = drawn_means(np.column_stack(list(gains.values())), outcomes.corpus, seed)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    return {name: (float(low[n]), float(high[n])) for n, name in enumerate(gains)}


def _types(outcomes: Outcomes, settings: FitSettings, routed: Floats, fixed: int) -> Table:
    rows: list[list[Cell]] = []
    for type in sorted(set(outcomes.types)):
        place = np.array([n for n, own in enumerate(outcomes.types) if own == type], dtype=np.intp)
        part, shares = outcomes.part(place), routed[place]
        means = np.average(shares, axis=0, weights=part.weights)
        taken = sorted(zip(means, part.arms, strict=True), key=lambda one: -one[0])
        rows.append([
            type or "without a type", len(place), ", ".join(f"{arm} {share:.0%}" for share, arm in taken if share > 0),
            part.mean(_of(shares, part.mean_quality)), part.mean(part.mean_quality[:, fixed]),
            part.arms[best_arm(part, settings, fixed)],
        ])  # fmt: skip
    return Table.of(
        ["type", Column("n", key="questions"), Column("arms taken", key="taken"),
         Column(outcomes.metric, ".3f", key="quality"),
         Column(f"always\n{outcomes.arms[fixed]}", ".3f", key="fixed_quality"), Column("best arm", key="best_arm")],
        rows,
        title="what the router takes, by type",
        name="routing types",
        notes=["best arm: of the highest utility; of equal ones the best fixed arm, or else the cheapest"],
    )  # fmt: skip


def _curve(outcomes: Outcomes, settings: FitSettings, folds: Sequence[_Fold]) -> Table:
    """The router without its guard at trades from none to one at which only the cheapest arm is left."""
    measured = outcomes.measured
    real = outcomes.part(measured)
    costs = real.costs[settings.cost]
    means = np.array([real.mean(costs[:, a]) for a, arm in enumerate(outcomes.arms) if arm != ABSTAIN])
    spread = float(np.ptp(means)) / UNITS[settings.cost]
    rows = []
    for trade in (step / spread for step in STEPS if spread > 0):  # nan, too: some cost is unknown
        shares = _gathered(outcomes, folds, trade, guarded=False)[measured]
        rows.append([trade, real.mean(_of(shares, real.mean_quality)), real.mean(_of(shares, costs))])
    heads = [Column("trade", ".3g"), Column(outcomes.metric, ".3f", key="quality"), cost_column(settings.cost)]
    return Table.of(heads, rows, title="the router without its guard, over trades", name="routing curve")


def _controls(outcomes: Outcomes, settings: FitSettings, by: By) -> Table:
    """Routers that were fitted on outcomes of other questions of the corpus, and on features that are noise."""
    chance = np.random.default_rng(settings.seed)
    order = np.arange(len(outcomes))
    for corpus in range(len(outcomes.corpora)):
        place = np.flatnonzero(outcomes.corpus == corpus)
        order[place] = chance.permutation(place)
    shuffled = replace(
        outcomes,
        quality=outcomes.quality[order],
        costs={unit: cost[order] for unit, cost in outcomes.costs.items()},
        constructed=tuple(outcomes.constructed[n] for n in order) if outcomes.constructed else (),
    )
    noise = replace(outcomes, features=chance.normal(size=outcomes.features.shape))
    rows: list[list[Cell]] = [
        [name, *_control(each, settings, by)]
        for name, each in (("shuffled outcomes", shuffled), ("random features", noise))
    ]
    return Table.of(["control", *map(signed, ("gain", "low", "high"))], rows, name="routing controls")


def _control(outcomes: Outcomes, settings: FitSettings, by: By) -> tuple[float, float, float]:
    """The gain of such a router over the best fixed arm, with its interval."""
    labels = fold_labels(outcomes.corpus, by, settings.seed + 1)
    utility, gains = utilities(outcomes, settings), np.empty(len(outcomes))
    for label in np.unique(labels):
        place = np.flatnonzero(labels == label)
        learned, part = learn(outcomes.part(np.flatnonzero(labels != label)), settings, by), outcomes.part(place)
        # It does not know what an arm would show: to choose by that gains on any question, whatever was learned.
        unknown = np.full_like(part.costs["evidence"], np.nan)
        chosen = learned.choose(replace(part, costs={**part.costs, "evidence": unknown}))
        gains[place] = utility[place, chosen] - utility[place, learned.fixed]
    real, own = outcomes.part(outcomes.measured), gains[outcomes.measured]
    return real.mean(own), *_intervals(real, {"": own}, settings.seed)[""]


# In words


def _words(
    outcomes: Outcomes, settings: FitSettings, folds: Sequence[_Fold], policies: Table, fixed: str
) -> dict[str, str]:
    """What the router gives, whether its guard let it route, and how that was measured."""
    router, usual = (
        dict(zip(("quality", "cost", "gain", "low", "high"), policies.where(policy=name, corpus="").only(
            "quality", "cost", "gain", "low", "high").rows[0], strict=True)) for name in (ROUTER, fixed)
    )  # fmt: skip
    paid, others = (
        "an unknown cost" if one["cost"] is None else cost_in_words(float(one["cost"]), settings.cost)
        for one in (router, usual)
    )
    far = [corpus for fold in folds for corpus in fold.far]
    unit = {"tokens": "1,000 tokens", "usd": "a dollar", "seconds": "a second"}[settings.cost]
    how = "each fifth of the questions was left out in turn"
    if folds[0].name in outcomes.corpora:
        how = f"each of {len(outcomes.corpora)} corpora was left out in turn"
    return {
        "verdict": f"the router has {outcomes.metric} {router['quality']:.3f} for {paid}, always `{fixed}` "
        f"{usual['quality']:.3f} for {others}: {router['gain']:+.3f} in utility "
        f"({router['low']:+.3f} to {router['high']:+.3f})",
        "guard": f"let it route in {sum(fold.routes for fold in folds)} of {len(folds)} folds"
        + (f"; out of range: {', '.join(far)}" if far else ""),
        "how": f"{how}; utility is {outcomes.metric} less {settings.trade:g} for {unit}",
    }


def _oracle_in_words(best: Oracle, closed: float | None) -> str:
    share = "there is no gap to close" if closed is None else f"{closed:.0%} of that gap is closed"
    return f"{best.corrected:.3f} in utility, naive {best.naive:.3f}; {share}; {best.words}"


def _controls_in_words(controls: Table) -> str:
    gains = "; ".join(f"{name} {gain:+.3f} ({low:+.3f} to {high:+.3f})" for name, gain, low, high in controls.rows)
    bad = [str(name) for name, _, low, _ in controls.rows if float(low or 0) > 0]
    if bad:
        return f"{gains}: {', '.join(bad)} gained something, so do not believe these figures"
    return f"{gains}: nothing, as it must be"
