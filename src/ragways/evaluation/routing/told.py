"""What is told of a router: what its arms gave, which wins for which type of question, and whether it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragways.core.table import Cell, Column, Table
from ragways.evaluation.routing.fit import FitSettings, utilities
from ragways.evaluation.routing.outcomes import Floats, Outcomes
from ragways.evaluation.statistics.inference import interval
from ragways.retrieval.routing.router import ABSTAIN, CostUnit, Router, cost_in_words

# What the arms gave


@dataclass(frozen=True, slots=True)
class ArmScore:
    """The mean quality of an arm with its 95 % interval, and its mean cost; None where no record tells."""

    arm: str
    quality: float
    low: float | None
    high: float | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class TypeWinner:
    """The arm of the highest utility on the questions of a type: its scores, and its gain in utility over the best
    fixed arm, with an interval that holds for all arms and types together (95 %, Bonferroni).

    `wins` where that interval lies above 0: else the fixed arm is as good, for all that is known.
    """

    type: str
    questions: int
    best: ArmScore
    fixed: ArmScore
    gain: float
    low: float | None
    high: float | None

    @property
    def wins(self) -> bool:
        return self.low is not None and self.low > 0


def arm_scores(outcomes: Outcomes, cost: CostUnit) -> tuple[ArmScore, ...]:
    """What each arm gave and took on all questions; corpora weigh the same."""
    return tuple(_score(outcomes, arm, cost) for arm in range(len(outcomes.arms)))


def _score(outcomes: Outcomes, arm: int, cost: CostUnit) -> ArmScore:
    values, spent = outcomes.mean_quality[:, arm], outcomes.costs[cost][:, arm]
    known = ~np.isnan(spent)
    low, high = interval((values * outcomes.weights).tolist(), share=len(outcomes.corpora) == 1)
    mean = float(np.average(spent[known], weights=outcomes.weights[known])) if known.any() else None
    return ArmScore(outcomes.arms[arm], outcomes.mean(values), low, high, mean)


def winners(outcomes: Outcomes, settings: FitSettings, fixed: str) -> tuple[TypeWinner, ...]:
    """For each type of question the arm that is best on it, beside the best fixed one; the most frequent type first."""
    usual = outcomes.arms.index(fixed)
    utility = utilities(outcomes, settings)
    types = sorted(set(outcomes.types), key=lambda type: (-outcomes.types.count(type), type))
    level = 1 - 0.05 / max(1, len(types) * (len(outcomes.arms) - 1))
    found = []
    for type in types:
        rows = np.flatnonzero(np.array([one == type for one in outcomes.types]))
        means, part = utility[rows].mean(axis=0), outcomes.part(rows)
        best = max(range(len(means)), key=lambda arm: (means[arm], arm == usual, -_cost(outcomes, arm, settings.cost)))
        gains: Floats = utility[rows, best] - utility[rows, usual]
        low, high = interval(gains.tolist(), level=level) if best != usual else (None, None)
        mine, theirs = _score(part, best, settings.cost), _score(part, usual, settings.cost)
        found.append(TypeWinner(type, len(rows), mine, theirs, float(gains.mean()), low, high))
    return tuple(found)


def _cost(outcomes: Outcomes, arm: int, unit: CostUnit) -> float:
    if outcomes.arms[arm] == ABSTAIN:
        return 0.0
    spent = outcomes.costs[unit][:, arm]
    return float(np.nanmean(spent)) if not np.isnan(spent).all() else 0.0


# Whether a router is used


def verdict(router: Router) -> str:
    """Whether routing is worth it, in a sentence."""
    if not router.guard.passed:
        return f"always `{router.fixed}` is as good: routing is off"
    if router.guard.gain <= 0:
        return f"always `{router.fixed}` is as good: routing gains nothing"
    return f"routing is on: {router.guard.gain:+.3f} beside always `{router.fixed}`, at least {router.guard.lower:+.3f}"


def arm_table(scores: Sequence[ArmScore], router: Router, questions: int) -> Table:
    """What each arm gave and took."""
    return Table.of(
        ["arm", Column(router.quality, align="right"), Column(router.cost, align="right"), ""],
        [[*_scored(one, router.cost), "best fixed" if one.arm == router.fixed else ""] for one in scores],
        title=f"{questions:,} questions: means with 95 % intervals",
    )


def type_table(rows: Sequence[TypeWinner], router: Router) -> Table:
    """Which arm is best for which type of question, at what price, beside the best fixed one."""
    heads = ("n", router.quality, router.cost, "gain")
    cells: list[list[Cell]] = []
    for one in rows:
        best, fixed = _scored(one.best, router.cost), _scored(one.fixed, router.cost)
        same = one.best.arm == one.fixed.arm
        pairs = [f"{mine}" if same else f"{mine}\n{usual}" for mine, usual in zip(best[1:], fixed[1:], strict=True)]
        arm = f"{one.best.arm}{' *' * one.wins}"
        cells.append([one.type or "without a type", arm, one.questions, *pairs, _gain(one)])
    return Table.of(
        ["type", "best arm", *(Column(head, align="right") for head in heads)],
        cells,
        title=f"which arm is best for which type of question, and below it what {router.fixed} gives",
        notes=[
            "gain: in utility over always the best fixed arm; its interval holds for all arms and types at once",
            "* shown to be better; where there is no star, the best fixed arm is as good for all that is known",
        ],
    )


def _scored(one: ArmScore, cost: CostUnit) -> list[str]:
    between = "" if one.low is None or one.high is None else f" ({one.low:.2f}–{one.high:.2f})"
    spent = "–" if one.cost is None else cost_in_words(one.cost, cost).removesuffix(f" {cost}")
    return [one.arm, f"{one.quality:.3f}{between}", spent]


def _gain(one: TypeWinner) -> str:
    if one.best.arm == one.fixed.arm:
        return "–"
    between = "" if one.low is None or one.high is None else f"\n{one.low:+.3f} to {one.high:+.3f}"
    return f"{one.gain:+.3f}{between}"
