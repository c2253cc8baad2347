"""What is told of a router: what its arms gave, which wins for which type of question, whether it is used, and how it
does beside simpler policies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ragways.core.plain import to_plain
from ragways.core.table import Cell, Column, Table
from ragways.core.text import counted
from ragways.evaluation.routing.evaluate import ROUTER, PolicyScore, RouterEvaluation, evaluate_router
from ragways.evaluation.routing.learn import FitSettings, best_arm, utilities
from ragways.evaluation.routing.outcomes import Floats, Outcomes, gather
from ragways.evaluation.routing.tuning import USUAL_TRADE, usual_quality
from ragways.evaluation.statistics.inference import interval, studentised
from ragways.retrieval.routing.router import CostUnit, Router, cost_in_words

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
        part = outcomes.part(rows)
        best = best_arm(part, settings, usual)
        gains: Floats = utility[rows, best] - utility[rows, usual]
        # Few questions may all have gone well: one more that is won, and one that is lost, are counted with them.
        low, high = studentised(gains, level=level, least=1.0) if best != usual else (None, None)
        mine, theirs = _score(part, best, settings.cost), _score(part, usual, settings.cost)
        found.append(TypeWinner(type, len(rows), mine, theirs, float(gains.mean()), low, high))
    return tuple(found)


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
        title=f"{counted(questions, 'question')}: means with 95 % intervals",
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
    return [one.arm, f"{one.quality:.3f}{between}", "–" if one.cost is None else _spent(one.cost, cost)]


def _gain(one: TypeWinner) -> str:
    if one.best.arm == one.fixed.arm:
        return "–"
    between = "" if one.low is None or one.high is None else f"\n{one.low:+.3f} to {one.high:+.3f}"
    return f"{one.gain:+.3f}{between}"


# A router held against other policies


def evaluation_in_words(found: RouterEvaluation) -> dict[str, str]:
    """What an evaluation says, a sentence a line: what the router gives, what could be had at most, whether the figures
    can be believed.
    """
    router, fixed = (found.policy(name).score for name in (ROUTER, found.fixed))
    cost, usual = (cost_in_words(one.cost, found.cost) for one in (router, fixed))
    best = found.oracle
    share = "there is no gap to close" if found.closed is None else f"{found.closed:.0%} of that gap is closed"
    routed = [name for name, routes in found.guards.items() if routes]
    held = [f"{one.name} {one.gain:+.3f} ({one.low:+.3f} to {one.high:+.3f})" for one in found.controls]
    bad = [one.name for one in found.controls if not one.holds]
    lines = {
        "verdict": f"the router has {found.quality} {router.quality:.3f} for {cost}, always `{found.fixed}` "
        f"{fixed.quality:.3f} for {usual}: {router.gain:+.3f} in utility ({router.low:+.3f} to {router.high:+.3f})",
        "oracle": f"{best.corrected:.3f} in utility, naive {best.naive:.3f}; {share}; {best.words}",
        "guard": f"let it route in {len(routed)} of {len(found.guards)} folds"
        + (f"; out of range: {', '.join(found.far)}" if found.far else ""),
        "controls": f"{'; '.join(held)}"
        + (
            f": {', '.join(bad)} gained something, so do not believe these figures"
            if bad
            else ": nothing, as it must be"
        ),
        "how": f"{found.how}; utility is {found.quality} less {found.trade:g} for {_UNIT[found.cost]}",
        "notes": "; ".join(found.notes),
    }
    return {name: line for name, line in lines.items() if line}


_UNIT = {"tokens": "1,000 tokens", "usd": "a dollar", "seconds": "a second"}


def evaluation_data(found: RouterEvaluation) -> dict[str, Any]:
    """For JSON and pages: the evaluation with its words; what is not known is None."""
    return {**to_plain(found), "words": evaluation_in_words(found)}


def routing_tables(folders: Sequence[Path]) -> tuple[list[Table], dict[str, Any]]:
    """A router beside the paradigms of these runs: as tables of a report, and as data for its page. UsageError where
    that cannot be done.
    """
    outcomes = gather(folders, quality=usual_quality(folders), common=True)
    found = evaluate_router(outcomes, FitSettings(trade=USUAL_TRADE["tokens"]))
    lines = [f"{name}: {line}" for name, line in evaluation_in_words(found).items()]
    first, *others = evaluation_tables(found)
    return [replace(first, title="Routing", notes=(*lines, *first.notes)), *others], evaluation_data(found)


def evaluation_tables(found: RouterEvaluation) -> list[Table]:
    """Policies, corpora, types of questions, and the curve over trades."""
    return [_policy_table(found), _corpus_table(found), _taken_table(found), *_curve_table(found)]


def _policy_table(found: RouterEvaluation) -> Table:
    numbers = (Column(head, ".3f", "right") for head in ("utility", "p", "regret"))
    utility, p, regret = numbers
    return Table.of(
        ["policy", Column(found.quality, ".3f", "right"), Column(found.cost, align="right"), utility,
         Column("gain", align="right"), p, regret],
        [
            [one.name, one.score.quality, _spent(one.score.cost, found.cost), one.score.utility, _between(one.score),
             one.p, one.regret]
            for one in found.policies
        ],
        title=f"{counted(found.questions, 'question')} of {counted(len(found.corpora), 'corpus', 'corpora')}",
        notes=[
            f"gain: in utility over always {found.fixed}, with its 95 % interval; p by Holm for all policies together; "
            "regret: what the corrected oracle has more",
        ],
        name="routing policies",
    )  # fmt: skip


def _corpus_table(found: RouterEvaluation) -> Table:
    router, fixed = (found.policy(name).by_corpus for name in (ROUTER, found.fixed))
    heads = ("n", found.quality, f"always\n{found.fixed}", found.cost, f"always\n{found.fixed}", "gain")
    return Table.of(
        ["corpus", *(Column(head, align="right") for head in heads)],
        [
            [corpus, one.questions, f"{one.quality:.3f}", f"{fixed[corpus].quality:.3f}", _spent(one.cost, found.cost),
             _spent(fixed[corpus].cost, found.cost), _between(one)]
            for corpus, one in router.items()
        ],
        title="the router by corpus",
        name="routing corpora",
    )  # fmt: skip


def _taken_table(found: RouterEvaluation) -> Table:
    rows: list[list[Cell]] = []
    for type, one in found.by_type.items():
        shares = sorted(one.choices.items(), key=lambda item: -item[1])
        taken = ", ".join(f"{arm} {share:.0%}" for arm, share in shares)
        rows.append([type or "without a type", one.questions, taken, one.quality, one.fixed_quality, one.best_arm])
    numbers = [Column(head, ".3f", "right") for head in (found.quality, f"always\n{found.fixed}")]
    return Table.of(
        ["type", "n", "arms taken", *numbers, "best arm"],
        rows,
        title="what the router takes, by type",
        name="routing types",
        notes=["best arm: of the highest utility; of equal ones the best fixed arm, or else the cheapest"],
    )


def _curve_table(found: RouterEvaluation) -> list[Table]:
    if not found.curve:
        return []
    heads = [Column("trade", ".3g", "right"), Column(found.quality, ".3f", "right"), Column(found.cost, align="right")]
    rows: list[list[Cell]] = [[point.trade, point.quality, _spent(point.cost, found.cost)] for point in found.curve]
    return [Table.of(heads, rows, title="the router without its guard, over trades", name="routing curve")]


def _spent(cost: float, unit: CostUnit) -> str:
    return "–" if np.isnan(cost) else cost_in_words(cost, unit).removesuffix(f" {unit}")


def _between(one: PolicyScore) -> str:
    return "–" if one.gain == one.low == one.high == 0 else f"{one.gain:+.3f}\n{one.low:+.3f} to {one.high:+.3f}"
