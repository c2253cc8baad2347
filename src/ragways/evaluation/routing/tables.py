"""What a fitted router rests on, as tables: what its arms gave, and which arm is best for which type of question."""

from __future__ import annotations

import numpy as np

from ragways.core.table import Cell, Column, Table
from ragways.core.text import counted
from ragways.evaluation.routing.fit import FitSettings, best_arm, utilities
from ragways.evaluation.routing.outcomes import Floats, Outcomes
from ragways.evaluation.statistics.inference import interval, studentised
from ragways.retrieval.routing.router import ENOUGH, CostUnit, Router, cost_in_words


def cost_column(unit: CostUnit, title: str = "", key: str = "cost") -> Column:
    """A column of costs, under its unit unless a title is given."""
    return Column(title or unit, lambda cost: cost_in_words(cost, unit).removesuffix(f" {unit}"), "right", key)


def signed(name: str) -> Column:
    return Column(name, "+.3f", "right")


def verdict(router: Router) -> str:
    """Whether routing is worth it, in a sentence."""
    if router.guard.questions < ENOUGH:
        return (
            f"{counted(router.guard.questions, 'question is', 'questions are')} too few to show a gain: routing is off"
        )
    if not router.guard.passed:
        return f"no gain over always `{router.fixed}` is shown: routing is off"
    if router.guard.gain <= 0:
        return f"always `{router.fixed}` is as good: routing gains nothing"
    return f"routing is on: {router.guard.gain:+.3f} beside always `{router.fixed}`, at least {router.guard.lower:+.3f}"


def arm_table(outcomes: Outcomes, cost: CostUnit, fixed: str) -> Table:
    """The mean quality of each arm on all questions, with its 95 % interval, and its mean cost; corpora weigh the same.

    A cost is None where no record has it.
    """
    rows: list[list[Cell]] = []
    for a, arm in enumerate(outcomes.arms):
        values = outcomes.mean_quality[:, a]
        low, high = interval((values * outcomes.weights).tolist(), share=len(outcomes.corpora) == 1)
        rows.append([arm, outcomes.mean(values), low, high, _cost(outcomes, a, cost), arm == fixed])
    return Table.of(
        ["arm", Column(outcomes.metric, ".3f", key="quality"), Column("low", ".2f"), Column("high", ".2f"),
         cost_column(cost), Column("", lambda best: "best fixed" if best else "", key="fixed")],
        rows,
        title=f"{counted(len(outcomes), 'question')}: means with 95 % intervals",
        name="arms",
    )  # fmt: skip


def _cost(outcomes: Outcomes, arm: int, unit: CostUnit) -> float | None:
    spent = outcomes.costs[unit][:, arm]
    known = ~np.isnan(spent)
    return float(np.average(spent[known], weights=outcomes.weights[known])) if known.any() else None


def type_table(outcomes: Outcomes, settings: FitSettings, fixed: str) -> Table:
    """For each type of question the arm of the highest utility, and its gain over the best fixed arm, with an interval
    that holds for all arms and types together (95 %, Bonferroni); the most frequent type first.

    It `wins` where that interval lies above 0; else the fixed arm is as good, for all that is known.
    """
    usual = outcomes.arms.index(fixed)
    utility = utilities(outcomes, settings)
    types = sorted(set(outcomes.types), key=lambda type: (-outcomes.types.count(type), type))
    level = 1 - 0.05 / max(1, len(types) * (len(outcomes.arms) - 1))
    rows: list[list[Cell]] = []
    for type in types:
        place = np.flatnonzero(np.array([one == type for one in outcomes.types]))
        part = outcomes.part(place)
        best = best_arm(part, settings, usual)
        gains: Floats = utility[place, best] - utility[place, usual]
        # Few questions may all have gone well: one more that is won, and one that is lost, are counted with them.
        low, high = studentised(gains, level=level, least=1.0) if best != usual else (None, None)
        pairs = [part.mean(part.mean_quality[:, a]) for a in (best, usual)]
        costs = [_cost(part, a, settings.cost) for a in (best, usual)]
        rows.append([type, part.arms[best], len(place), *pairs, *costs, float(gains.mean()), low, high,
                     low is not None and low > 0])  # fmt: skip
    return Table.of(
        [Column("type", lambda type: type or "without a type"), Column("best arm", key="arm"),
         Column("n", key="questions"), Column(outcomes.metric, ".3f", key="quality"),
         Column("fixed", ".3f", key="fixed_quality"), cost_column(settings.cost),
         cost_column(settings.cost, "fixed", "fixed_cost"), *map(signed, ("gain", "low", "high")),
         Column("", lambda wins: "*" if wins else "", key="wins")],
        rows,
        title="which arm is best for which type of question",
        notes=[
            f"fixed: what always {fixed} gives and takes; gain: in utility over it; its interval holds for all arms "
            "and types at once",
            "* shown to be better; where there is no star, the best fixed arm is as good for all that is known",
        ],
        name="types",
    )  # fmt: skip
