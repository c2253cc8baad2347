"""The result of a duel, computed from the files of its run alone, with what a reader must know before believing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragways.evaluation.duel.entries import (
    UNEQUAL,
    AlignedAnswers,
    DuelEntries,
    DuelRules,
    PairNames,
    aligned_pairs,
    padding_words,
)
from ragways.evaluation.duel.figures import (
    NOT_ASKED,
    DuelFigures,
    DuelRounds,
    DuelVerdict,
    decide,
    duel_figures,
    rounds_of,
)
from ragways.evaluation.duel.probes import probe_prompts
from ragways.evaluation.duel.replies import DuelJudge, DuelReplies, DuelReply
from ragways.evaluation.duel.selftest import (
    ProbeResult,
    SelfTest,
    SelfTestRun,
    SelfTestRuns,
    self_test,
    with_earlier,
)
from ragways.evaluation.duel.style import DRESSES, StyleAllowance, StyleBias, style_allowance
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

    `rewritten`: how many answers of each paradigm were written again to equal length, and `writers` by which models;
    `styles`: what the judge's liking for styles may have added.
    """

    a: str
    b: str
    verdict: DuelVerdict
    pairs: int
    judged: int
    not_aligned: int
    left_out: Mapping[str, int]
    rewritten: Mapping[str, int]
    writers: tuple[str, ...]
    padded: int
    styles: StyleAllowance
    replies: ReplyCounts
    wanted_rounds: int
    unscored_rounds: Mapping[str, int]
    identical_rounds: int
    preferred: PreferredPlace

    def seen_by(self, name: str) -> tuple[float | None, str]:
        """The relative win rate of this paradigm over the other, and its outcome: win, loss, tie or no verdict."""
        won = self.verdict.outcome != "win" or self.verdict.winner == name
        rate = None if self.rate is None else 0.0 + (self.rate if name == self.a else -self.rate)
        return rate, self.verdict.outcome if won else "loss"

    @property
    def rewriting(self) -> str:
        """Whose answers were written again to equal length, and by which model; empty where none was."""
        whose = " and ".join(f"{count:,} of {name}" for name, count in self.rewritten.items())
        return f"{whose} by {', '.join(self.writers)}" if whose else ""


@dataclass(frozen=True, slots=True)
class DuelResult:
    """`selftests` are all tests of this judge that were made in this folder; one that was failed counts. `usd` is what
    the judge cost, replies that could not be read included.
    """

    judge: str
    generators: tuple[str, ...]
    rules: DuelRules
    questions: int
    selftest: SelfTest
    selftests: tuple[SelfTestRun, ...]
    pairs: tuple[PairResult, ...]
    warnings: tuple[str, ...]
    usd: float


def duel_result(entries: DuelEntries, folder: Path, judge: DuelJudge, rules: DuelRules) -> DuelResult:
    """No call is made: what was not asked for is counted as such, and then there is no verdict."""
    mine = [reply for reply in DuelReplies(folder) if (reply.judge, reply.mode) == (judge.name, judge.mode)]
    runs = SelfTestRuns(folder).of(judge)
    prompts = probe_prompts(entries.records, entries.names, rules)
    tested = with_earlier(self_test(prompts, judge, {reply.key: reply for reply in mine}), runs)
    return result_of(entries, judge, rules, mine, aligned_pairs(entries, folder), tested, runs)


def result_of(
    entries: DuelEntries,
    judge: DuelJudge,
    rules: DuelRules,
    mine: Sequence[DuelReply],
    aligned: Mapping[PairNames, Sequence[AlignedAnswers]],
    tested: SelfTest,
    selftests: tuple[SelfTestRun, ...] = (),
) -> DuelResult:
    """The result from the judge's replies, the answers as they were aligned, and the judge's test."""
    replies = {reply.key: reply for reply in mine}
    biases = _style_biases(tested)
    styles = {
        names: style_allowance([one.answers for one in some if one.usable], biases) for names, some in aligned.items()
    }
    rounds = {
        names: rounds_of(some, entries.texts, judge, rules, replies, entries.one_sided[names])
        for names, some in aligned.items()
    }
    figures = {names: duel_figures(found, styles[names]) for names, found in rounds.items()}
    # A pair without a question in common was not compared, and does not make the others' p larger.
    made = [names for names, one in figures.items() if one.p is not None]
    adjusted = dict(zip(made, holm([figures[names].p or 0.0 for names in made]), strict=True))
    guarded = dict(zip(made, holm([figures[names].guarded or 0.0 for names in made]), strict=True))
    pairs = tuple(
        _pair(
            entries, names, aligned[names], rounds[names], figures[names], styles[names],
            _Tested(adjusted.get(names), guarded.get(names), len(made), tested.why),
        )
        for names in entries.pairs
    )  # fmt: skip
    return DuelResult(
        judge=judge.name,
        generators=entries.generators,
        rules=rules,
        questions=len(entries.texts),
        selftest=tested,
        selftests=selftests,
        pairs=pairs,
        warnings=_warnings(judge.name, entries.generators, tested, pairs),
        usd=sum(reply.made.usd for reply in mine),
    )


def _style_biases(tested: SelfTest) -> list[StyleBias]:
    """Of the styles that can be measured, what the judge gave for them."""
    measured = [(dress.measure, probe) for dress, probe in zip(DRESSES, tested.styles, strict=True)]
    return [
        StyleBias(probe.name, measure, probe.amount, *_ends(probe))
        for measure, probe in ((padding_words, tested.length), *measured)
        if measure is not None and probe.difference is not None
    ]


def _ends(probe: ProbeResult) -> tuple[float, float]:
    """Differences that are all alike have no interval."""
    if probe.difference_low is None or probe.difference_high is None:
        return probe.difference or 0.0, probe.difference or 0.0
    return probe.difference_low, probe.difference_high


@dataclass(frozen=True, slots=True)
class _Tested:
    adjusted: float | None
    guarded: float | None
    comparisons: int
    why_not: str


def _pair(
    entries: DuelEntries, names: PairNames, aligned: Sequence[AlignedAnswers], rounds: DuelRounds, figures: DuelFigures,
    styles: StyleAllowance, test: _Tested,
) -> PairResult:  # fmt: skip
    (a, b), why_not = names, test.why_not
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
        verdict=decide(
            a,
            b,
            figures,
            test.adjusted,
            comparisons=test.comparisons,
            guarded=test.guarded,
            doubt=_doubt(rounds, styles),
            why_not=why_not,
        ),
        pairs=len(entries.pairs[names]) + sum(entries.left_out[names].values()),
        judged=len(judged),
        not_aligned=not_aligned,
        left_out=left_out,
        rewritten={name: count for name in names if (count := sum(answers.rewritten == name for answers in judged))},
        writers=tuple(sorted({answers.generator for answers in judged if answers.rewritten})),
        padded=sum(answers.padded > 0 for answers in judged),
        styles=styles,
        replies=ReplyCounts(rounds.wanted, rounds.scored, dict(rounds.unscored)),
        wanted_rounds=rounds.rounds_wanted,
        unscored_rounds=dict(rounds.rounds_unscored),
        identical_rounds=rounds.identical,
        preferred=PreferredPlace(rounds.first, rounds.second),
    )


def _doubt(rounds: DuelRounds, styles: StyleAllowance) -> str:
    """What may have made the difference besides the answers."""
    unread = rounds.unscored.total() - rounds.unscored[NOT_ASKED]
    parts = [f"{rounds.one_sided:,} questions that only one side answered"] if rounds.one_sided else []
    parts += [f"{unread:,} replies that could not be read"] if unread else []
    worth = max(styles.for_a, styles.for_b)
    parts += [f"the judge's liking for style ({', '.join(styles.styles)}: up to {worth:.2f})"] if worth else []
    return " and ".join(parts)


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
        strangers = sorted(set(pair.writers) - set(generators))
        if strangers and generators:
            found.append(f"{name}: answers of {', '.join(generators)} were written again by {', '.join(strangers)}")
        unread = sum(count for why, count in pair.replies.unscored.items() if why != NOT_ASKED)
        if unread > UNREADABLE_SHARE * pair.replies.wanted:
            found.append(f"{name}: {unread:,} of {pair.replies.wanted:,} replies could not be used")
    return tuple(found)
