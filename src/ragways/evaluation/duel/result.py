"""The result of a duel, computed from the files of its run alone, with what a reader must know before believing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragways.evaluation.duel.entries import UNEQUAL, AlignedAnswers, DuelEntries, DuelRules, PairNames, aligned_pairs
from ragways.evaluation.duel.figures import (
    NOT_ASKED,
    DuelFigures,
    DuelRounds,
    DuelVerdict,
    decide,
    duel_figures,
    rounds_of,
)
from ragways.evaluation.duel.probes import SelfTest, probe_prompts, self_test
from ragways.evaluation.duel.replies import DuelJudge, DuelReplies
from ragways.evaluation.judges.judge import same_family
from ragways.evaluation.statistics.inference import holm

UNEQUAL_SHARE = 0.3
"""Twice what the procedure's authors had to leave out."""
UNREADABLE_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class ReplyCounts:
    """`wanted` = `scored` + all of `unscored`."""

    wanted: int
    scored: int
    unscored: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PreferredPlace:
    """How many replies prefer the answer that stood first, and second."""

    first: int
    second: int


@dataclass(frozen=True, kw_only=True)
class PairResult(DuelFigures):
    """The figures of `a` against `b`, the verdict, and what became of every pair of answers and every reply.

    `pairs` = `judged` + `not_aligned` + all of `left_out`. Rounds are questions × trials of the pairs judged:
    `wanted_rounds` = those of `rounds` + all of `unscored_rounds`; `identical_rounds` tied without a call.
    """

    a: str
    b: str
    verdict: DuelVerdict
    pairs: int
    judged: int
    not_aligned: int
    left_out: Mapping[str, int]
    generated_again: int
    padded: int
    replies: ReplyCounts
    wanted_rounds: int
    unscored_rounds: Mapping[str, int]
    identical_rounds: int
    preferred: PreferredPlace


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Relative win rates of every paradigm (row) against every other (column), p after Holm's correction, and outcomes:
    win, loss, tie, no verdict. Above 0 the row beats the column; a cell is the negative of its mirror.
    """

    names: tuple[str, ...]
    rates: tuple[tuple[float | None, ...], ...]
    adjusted: tuple[tuple[float | None, ...], ...]
    outcomes: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True, slots=True)
class DuelResult:
    """`usd` is what the judge cost, replies that could not be read included."""

    judge: str
    generators: tuple[str, ...]
    rules: DuelRules
    questions: int
    selftest: SelfTest
    pairs: tuple[PairResult, ...]
    map: HeatMap
    warnings: tuple[str, ...]
    usd: float


def duel_result(entries: DuelEntries, folder: Path, judge: DuelJudge, rules: DuelRules) -> DuelResult:
    """No call is made: what was not asked for is counted as such, and then there is no verdict."""
    mine = [reply for reply in DuelReplies(folder) if (reply.judge, reply.mode) == (judge.name, judge.mode)]
    replies = {reply.key: reply for reply in mine}
    tested = self_test(probe_prompts(entries.records, entries.names, rules), judge, replies)
    aligned = aligned_pairs(entries, folder)
    rounds = {names: rounds_of(some, entries.texts, judge, rules, replies) for names, some in aligned.items()}
    figures = {names: duel_figures(found) for names, found in rounds.items()}
    # A pair without a question in common was not compared, and does not make the others' p larger.
    made = [names for names, one in figures.items() if one.p is not None]
    adjusted = dict(zip(made, holm([figures[names].p or 0.0 for names in made]), strict=True))
    pairs = tuple(
        _pair(entries, names, aligned[names], rounds[names], figures[names], adjusted.get(names), len(made), tested.why)
        for names in entries.pairs
    )
    return DuelResult(
        judge=judge.name,
        generators=entries.generators,
        rules=rules,
        questions=len(entries.texts),
        selftest=tested,
        pairs=pairs,
        map=_heat_map(entries.names, pairs),
        warnings=_warnings(judge.name, entries.generators, tested, pairs),
        usd=sum(reply.made.usd for reply in mine),
    )


def _pair(
    entries: DuelEntries, names: PairNames, aligned: Sequence[AlignedAnswers], rounds: DuelRounds, figures: DuelFigures,
    adjusted: float | None, comparisons: int, why_not: str,
) -> PairResult:  # fmt: skip
    a, b = names
    judged = [answers for answers in aligned if answers.usable]
    left_out = dict(entries.left_out[names])
    if len(judged) < len(aligned):
        left_out[UNEQUAL] = len(aligned) - len(judged)
    not_aligned = len(entries.pairs[names]) - len(aligned)
    if not why_not and (not_aligned or rounds.unscored[NOT_ASKED]):
        why_not = (
            f"unfinished, {rounds.unscored[NOT_ASKED]:,} of {rounds.wanted:,} replies"
            + (f" and {not_aligned:,} pairs" if not_aligned else "")
            + " are missing; run it again to go on"
        )
    return PairResult(
        **vars(figures),
        a=a,
        b=b,
        verdict=decide(a, b, figures, adjusted, comparisons=comparisons, why_not=why_not),
        pairs=len(entries.pairs[names]) + sum(entries.left_out[names].values()),
        judged=len(judged),
        not_aligned=not_aligned,
        left_out=left_out,
        generated_again=sum(answers.again > 0 for answers in judged),
        padded=sum(answers.padded > 0 for answers in judged),
        replies=ReplyCounts(rounds.wanted, rounds.scored, dict(rounds.unscored)),
        wanted_rounds=rounds.rounds_wanted,
        unscored_rounds=dict(rounds.rounds_unscored),
        identical_rounds=rounds.identical,
        preferred=PreferredPlace(rounds.first, rounds.second),
    )


def _heat_map(names: tuple[str, ...], pairs: Sequence[PairResult]) -> HeatMap:
    rates: dict[PairNames, float | None] = {}
    adjusted: dict[PairNames, float | None] = {}
    outcomes: dict[PairNames, str] = {}
    for pair in pairs:
        for row, column, sign in ((pair.a, pair.b, 1), (pair.b, pair.a, -1)):
            rates[row, column] = None if pair.rate is None else 0.0 + sign * pair.rate
            adjusted[row, column] = pair.verdict.adjusted
            lost = pair.verdict.outcome == "win" and pair.verdict.winner != row
            outcomes[row, column] = "loss" if lost else pair.verdict.outcome

    return HeatMap(
        names,
        tuple(tuple(rates.get((row, column)) for column in names) for row in names),
        tuple(tuple(adjusted.get((row, column)) for column in names) for row in names),
        tuple(tuple(outcomes.get((row, column)) for column in names) for row in names),
    )


def _warnings(judge: str, generators: Sequence[str], tested: SelfTest, pairs: Sequence[PairResult]) -> tuple[str, ...]:
    found = [] if tested.passed else [f"{tested.why}; there is no winner"]
    found += [
        f"the judge {judge} is of the same family as {generator}, which answered: it may prefer its own words"
        for generator in generators
        if same_family(judge, generator)
    ]
    for pair in pairs:
        name, unequal = f"{pair.a} and {pair.b}", pair.left_out.get(UNEQUAL, 0)
        if unequal > UNEQUAL_SHARE * pair.pairs:
            found.append(
                f"{name}: {unequal:,} of {pair.pairs:,} pairs were left out because their lengths stayed unequal"
            )
        unread = sum(count for why, count in pair.replies.unscored.items() if why != NOT_ASKED)
        if unread > UNREADABLE_SHARE * pair.replies.wanted:
            found.append(f"{name}: {unread:,} of {pair.replies.wanted:,} replies could not be used")
    return tuple(found)
