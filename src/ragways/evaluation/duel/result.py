"""The result of a duel, computed from the files of its run alone, with what a reader must know before believing it.

`duel_result` gives it for one judge, `duel_tables` as tables of a report for all judges of some runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

from ragways.core.table import Cell, Column, Table
from ragways.core.text import counted
from ragways.core.types import title_name
from ragways.evaluation.duel.entries import (
    UNEQUAL,
    AlignedAnswers,
    AlignedLog,
    DuelEntries,
    DuelRules,
    PairNames,
    aligned_pairs,
    duel_entries,
)
from ragways.evaluation.duel.figures import (
    NOT_ASKED,
    POINTS,
    UNREADABLE_SHARE,
    DuelFigures,
    DuelRounds,
    duel_figures,
    rounds_of,
)
from ragways.evaluation.duel.replies import DuelJudge, DuelReplies, DuelReply, times_asked
from ragways.evaluation.duel.taste import (
    JudgeTest,
    Taste,
    control_prompts,
    judge_test,
    taste_of,
    taste_prompts,
    too_few,
)
from ragways.evaluation.judges.judge import same_family
from ragways.evaluation.labels import Label, Labels, pair_values
from ragways.evaluation.record import Record
from ragways.evaluation.statistics.inference import (
    ALPHA,
    FEWEST,
    detectable_effect,
    holm,
    in_words,
    shared_clusters,
)
from ragways.evaluation.statistics.labelled import CorrectedMean, corrected_mean
from ragways.evaluation.statistics.values import source_documents

UNEQUAL_SHARE = 0.3
"""Twice what the procedure's authors had to leave out."""
ANCHOR = 30
"""Labelled pairs from which people's labels decide, and the judge helps."""

Outcome = Literal["win", "tie", "no verdict"]


@dataclass(frozen=True, kw_only=True)
class PairResult(DuelFigures):
    """The figures of `a` against `b`, the verdict in `words`, and what became of every pair of answers and every reply.

    `winner` is empty unless the outcome is a win; `adjusted` is p after Holm's correction over all pairs. `basis` says
    on what the verdict rests: the judge alone, or labels of people too. `anchored` is then the win rate that people
    would give, over the questions on which the answers differ.

    `pairs` = `judged` + `not_aligned` + all of `left_out`; of the judged, `failed` have the answer of one side alone:
    they are lost without a call. `replies` = `scored` + all of `unscored`. `identical` rounds tied without a call.
    `preferred` counts replies that prefer the answer that stood first, and second. `rewritten` pairs were written again
    to equal length, both answers by `writers`.
    """

    a: str
    b: str
    outcome: Outcome
    winner: str
    words: str
    basis: str
    adjusted: float | None
    taste: Taste
    anchored: CorrectedMean | None
    pairs: int
    judged: int
    failed: Mapping[str, int]
    not_aligned: int
    left_out: Mapping[str, int]
    rewritten: int
    writers: tuple[str, ...]
    padded: int
    replies: int
    scored: int
    unscored: Mapping[str, int]
    identical: int
    preferred: tuple[int, int]

    def seen_by(self, name: str) -> tuple[float | None, str]:
        """The relative win rate of this paradigm over the other, and its outcome: win, loss, tie or no verdict."""
        rate = None if self.rate is None else 0.0 + (self.rate if name == self.a else -self.rate)
        return rate, "loss" if self.outcome == "win" and self.winner != name else self.outcome


@dataclass(frozen=True, slots=True)
class DuelResult:
    """The result of one judge. `usd` is what it cost, replies that could not be read included."""

    judge: str
    generators: tuple[str, ...]
    rules: DuelRules
    questions: int
    test: JudgeTest
    pairs: tuple[PairResult, ...]
    warnings: tuple[str, ...]
    usd: float


def duel_result(entries: DuelEntries, folder: Path, judge: DuelJudge, rules: DuelRules) -> DuelResult:
    """No call is made: what was not asked for is counted as such, and then there is no verdict."""
    mine = [reply for reply in DuelReplies(folder) if (reply.judge, reply.mode) == (judge.name, judge.mode)]
    return result_of(entries, judge, rules, mine, aligned_pairs(entries, folder), Labels(folder).of_pairs())


def result_of(
    entries: DuelEntries,
    judge: DuelJudge,
    rules: DuelRules,
    mine: Sequence[DuelReply],
    aligned: Mapping[PairNames, Sequence[AlignedAnswers]],
    labels: Sequence[Label] = (),
) -> DuelResult:
    """The result from the judge's replies, the answers as they were aligned, and people's labels of them."""
    replies, texts, documents = {reply.key: reply for reply in mine}, entries.texts, source_documents(entries.records)
    test = judge_test(control_prompts(entries.records), judge, replies)
    found: dict[PairNames, _Found] = {}
    for names, some in aligned.items():
        taste = taste_of(taste_prompts(some, texts, rules.trials), some, judge, replies)
        rounds = rounds_of(some, texts, judge, rules, replies)
        found[names] = _Found(some, rounds, duel_figures(rounds, taste, documents), taste)
    # A pair without a question in common was not compared, and does not make the others' p larger.
    made = [names for names, one in found.items() if one.figures.p is not None]
    few, hopeless = _few_documents(entries.records), too_few(entries, aligned)
    plain = dict(zip(made, holm([found[names].figures.p or 0.0 for names in made]), strict=True))
    guarded = dict(zip(made, holm([found[names].figures.guarded or 0.0 for names in made]), strict=True))
    pairs = []
    for names, one in found.items():
        level = 1 - ALPHA / max(1, len(made))
        anchored = _anchored(one, pair_values(labels, one.aligned, texts), documents, level)
        tested = _Tested(plain.get(names, 1.0), guarded.get(names, 1.0), len(made), hopeless or test.why)
        pair = _pair(entries, names, one, anchored, tested)
        pairs.append(pair if pair.outcome == "no verdict" else replace(pair, words=f"{pair.words}{few}"))
    return DuelResult(
        judge=judge.name,
        generators=entries.generators,
        rules=rules,
        questions=len(texts),
        test=test,
        pairs=tuple(pairs),
        warnings=_warnings(judge.name, entries.generators, test, pairs),
        usd=sum(reply.made.usd for reply in mine),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What is known of two paradigms before all pairs are tested together."""

    aligned: Sequence[AlignedAnswers]
    rounds: DuelRounds
    figures: DuelFigures
    taste: Taste


@dataclass(frozen=True, slots=True)
class _Tested:
    """p after Holm's correction over so many comparisons, as seen and guarded. `judge_failed`: why the judge cannot
    name a winner; `unfinished`: why nobody can.
    """

    adjusted: float
    guarded: float
    comparisons: int
    judge_failed: str
    unfinished: str = ""


def _anchored(
    one: _Found,
    labels: Mapping[str, float],
    documents: Mapping[str, tuple[str, ...]],
    level: float,
) -> CorrectedMean | None:
    """The win rate that people would give: the judge's of all questions, corrected by labels of some. Answers that
    failed or are the same need no label.
    """
    signs: dict[str, list[int]] = {}
    settled: dict[str, list[int]] = {}
    for round in one.rounds.rounds:
        sign = (round.difference > 0) - (round.difference < 0)
        (settled if round.points is None else signs).setdefault(round.question, []).append(sign)
    judged = {question: sum(some) / len(some) for question, some in signs.items()}
    labelled = [question for question in judged if question in labels]
    others = [question for question in judged if question not in labels]
    if len(labelled) < ANCHOR:
        return None
    mean = corrected_mean(
        [labels[question] for question in labelled],
        [judged[question] for question in labelled],
        [judged[question] for question in others],
        clusters=shared_clusters(labelled, documents),
        other_clusters=shared_clusters(others, documents),
        span=(-1.0, 1.0),
        level=level,
    )
    known = [sum(some) / len(some) for question, some in settled.items() if question not in judged]
    return mean.among(len(known), sum(known))


def _pair(
    entries: DuelEntries, names: PairNames, one: _Found, anchored: CorrectedMean | None, tested: _Tested
) -> PairResult:
    (a, b), rounds, figures = names, one.rounds, one.figures
    judged = [answers for answers in one.aligned if answers.usable]
    left_out = dict(entries.left_out[names])
    if len(judged) < len(one.aligned):
        left_out[UNEQUAL] = len(one.aligned) - len(judged)
    not_aligned = len(entries.pairs[names]) - len(one.aligned)
    if not_aligned or rounds.unscored[NOT_ASKED]:
        missing = f"{rounds.unscored[NOT_ASKED]:,} of {rounds.wanted:,} replies"
        missing += f" and {not_aligned:,} pairs" if not_aligned else ""
        tested = replace(tested, unfinished=f"unfinished, {missing} are missing; run it again to continue")
    outcome, winner, words = _verdict(names, one, anchored, tested)
    return PairResult(
        **vars(figures),
        a=a,
        b=b,
        outcome=outcome,
        winner=winner,
        words=words,
        basis=f"anchored on {anchored.labelled:,} labels" if anchored is not None else "by the judge alone",
        adjusted=tested.adjusted if figures.p is not None else None,
        taste=one.taste,
        anchored=anchored,
        pairs=len(entries.pairs[names]) + sum(entries.left_out[names].values()),
        judged=len(judged),
        failed={name: count for name, side in ((a, -1), (b, 1)) if (count := sum(p.failed == side for p in judged))},
        not_aligned=not_aligned,
        left_out=left_out,
        rewritten=sum(answers.rewritten for answers in judged),
        writers=tuple(sorted({answers.generator for answers in judged if answers.rewritten})),
        padded=sum(answers.padded > 0 for answers in judged),
        replies=rounds.wanted,
        scored=rounds.scored,
        unscored=dict(rounds.unscored),
        identical=rounds.identical,
        preferred=(rounds.first, rounds.second),
    )


def _verdict(
    names: PairNames, one: _Found, anchored: CorrectedMean | None, tested: _Tested
) -> tuple[Outcome, str, str]:
    """By people's labels where there are enough, else by the judge."""
    figures = one.figures
    effect = detectable_effect(figures.n, figures.deviation, comparisons=tested.comparisons, clusters=figures.documents)
    people = anchored if anchored is not None and anchored.low is not None else None
    judge_failed = "" if people is not None else tested.judge_failed  # labels correct any judge
    why = judge_failed or tested.unfinished or _too_few(figures, effect.needed)
    if why or figures.difference is None or figures.rate is None:
        return _no_verdict(why or "nothing was scored")
    if not figures.differing:
        return "tie", "", f"tie: the answers to all {figures.n:,} questions are the same"
    if people is not None and people.low is not None and people.high is not None:
        return _by_people(names, people.low, people.high, people.labelled)
    missed = in_words(effect, scale=1, unit=POINTS) if effect.effect is not None else ""
    return _by_judge(names, one, tested, figures.difference, figures.rate, missed)


def _by_people(names: PairNames, low: float, high: float, labels: int) -> tuple[Outcome, str, str]:
    shown = f"win rate {low:+.0%} to {high:+.0%}, anchored on {labels:,} labels".replace("%", " %")
    if low <= 0 <= high:
        return "tie", "", f"tie: no difference shown ({shown})"
    winner = names[0] if low > 0 else names[1]
    return "win", winner, f"{winner} wins ({shown})"


def _by_judge(
    names: PairNames, one: _Found, tested: _Tested, difference: float, rate: float, missed: str
) -> tuple[Outcome, str, str]:
    """By points, question by question; that the wins agree is required besides."""
    figures, taste = one.figures, one.taste
    shown = f"{difference:+.2f} {POINTS}, p = {tested.adjusted:.2g}, by the judge alone"
    if figures.unread and tested.guarded > ALPHA:
        return _no_verdict(f"{_unread(one.rounds)} could decide it ({shown})")
    if tested.adjusted > ALPHA or _holds_zero(figures.difference_low, figures.difference_high):
        return "tie", "", f"tie: no difference shown ({shown}). {missed}".strip()
    if difference * rate <= 0:
        return "tie", "", f"tie: more points ({shown}) but not more wins ({rate:+.1%})"
    winner = names[0] if difference > 0 else names[1]
    if taste.unknown:
        return _no_verdict(
            f"the judge's taste could not be tested: {taste.read:,} of {taste.wanted:,} comparisons could be read"
        )
    if tested.guarded > ALPHA or _holds_zero(figures.guarded_low, figures.guarded_high):
        return _no_verdict(f"{winner} leads ({shown}), but {_doubt(one)} could account for it")
    return "win", winner, f"{winner} wins ({shown})"


def _holds_zero(low: float | None, high: float | None) -> bool:
    """Differences that are all alike have no interval, and need none."""
    return low is not None and high is not None and low <= 0 <= high


def _doubt(one: _Found) -> str:
    """What may have made the difference besides what the answers say."""
    parts = [_unread(one.rounds)] if one.figures.unread else []
    if taken := one.taste.taken_off(one.figures.difference or 0.0):
        liked = ", ".join((one.taste.words_a if taken > 0 else one.taste.words_b)[:4])
        parts.append(f"the judge's taste (up to {abs(taken):.2f} points for words such as {liked})")
    return " and ".join(parts)


def _unread(rounds: DuelRounds) -> str:
    return f"{rounds.unscored.total() - rounds.unscored[NOT_ASKED]:,} replies that could not be read"


def _few_documents(records: Sequence[Record]) -> str:
    """Say that a verdict holds for a few documents alone: those of gold evidence, or else of what was shown."""
    gold = {one.key or title_name(one.title) for record in records for one in record.wanted} - {""}
    names = gold or {title_name(piece.title) for record in records for piece in record.evidence} - {""}
    if not 0 < len(names) < FEWEST:
        return ""
    return f"; the questions are about {counted(len(names), 'document')}: this is no verdict for others"


def _no_verdict(why: str) -> tuple[Outcome, str, str]:
    return "no verdict", "", f"no verdict: {why}"


def _too_few(figures: DuelFigures, needed: int) -> str:
    """Identical answers tie without a judge and show nothing, unless all are: then there is no difference to show."""
    if figures.n < needed:
        return f"{figures.n:,} questions are too few, {needed:,} at least are needed"
    if 0 < figures.differing < needed:
        return (
            f"the answers to {figures.differing:,} of {figures.n:,} questions differ, too few: {needed:,} at least are "
            "needed"
        )
    return ""


def _warnings(judge: str, generators: Sequence[str], test: JudgeTest, pairs: Sequence[PairResult]) -> tuple[str, ...]:
    found = [] if test.passed else [f"{test.why}; it names no winner, only labels of people do"]
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
        if pair.taste.shown:
            liked = ", ".join((pair.taste.words_a if pair.taste.points > 0 else pair.taste.words_b)[:4])
            points = f"{abs(pair.taste.points):.1f} points of 20"
            found.append(f"{name}: the judge gives {points} for words alone, such as {liked}; they are taken off")
        unread = sum(count for why, count in pair.unscored.items() if why != NOT_ASKED)
        if unread > UNREADABLE_SHARE * pair.replies:
            found.append(f"{name}: {unread:,} of {pair.replies:,} replies could not be used")
    return tuple(found)


# --- In a report --------------------------------------------------------------------------------------------------

TESTS = (
    Column("run"), Column("judge"), Column("mode"), Column("passed"), Column("why not", key="why"),
    Column("right preferred", key="preferred"), Column("tied", key="ties"), Column("other preferred", key="other"),
    Column("unscored"), Column("questions"), Column("trials"), Column("samples"), Column("warnings"),
)  # fmt: skip
PAIRS = (
    Column("run"), Column("judge"), Column("mode"), Column("first", key="a"), Column("second", key="b"),
    Column("verdict", key="words"), Column("outcome"), Column("winner"), Column("basis"),
    Column("win rate", "+.0%", "right", "rate"), Column("low", "+.0%", "right"), Column("high", "+.0%", "right"),
    Column("p (Holm)", ".3g", "right", "adjusted"), Column("won"), Column("tied"), Column("lost"),
    Column("questions", key="n"), Column("judged"), Column("of", key="pairs"),
    Column("median of the trials", "+.0%", "right", "median"), Column("first quartile", "+.0%", "right", "first"),
    Column("third quartile", "+.0%", "right", "third"), Column("least", "+.0%", "right"),
    Column("most", "+.0%", "right"), Column("outliers"), Column("points for taste", "+.2f", "right", "taste"),
    Column("left out", key="left_out"), Column("replies unscored", key="unscored"),
    Column("pairs written again to equal length", key="rewritten"),
)  # fmt: skip

DuelledRun = tuple[str, Path, Sequence[Record], Mapping[str, str]]
"""The name of a run, its folder, its records, and the names of its paradigms in the report."""


def duel_tables(runs: Iterable[DuelledRun]) -> list[Table]:
    """The duels of the runs, from the judges' replies alone: a test for each judge, mode and prompt."""
    tests: list[Mapping[str, Cell]] = []
    pairs: list[Mapping[str, Cell]] = []
    for run, folder, records, names in runs:
        for result in _results(folder, records):
            rules = result.rules
            head: dict[str, Cell] = {"run": run, "judge": result.judge, "mode": rules.mode}
            shown = {field.name: getattr(result.test, field.name) for field in fields(result.test)}
            counts: dict[str, Cell] = {"questions": result.questions, "trials": rules.trials, "samples": rules.samples}
            tests.append({**head, **shown, **counts, "warnings": "; ".join(result.warnings)})
            pairs += [{**head, **_cells(pair, names)} for pair in result.pairs]
    rate = "Win rate: (won − lost) / all rounds, of the first over the second. Judges are tested first (judge tests)."
    return [
        Table.of(TESTS, tests, title="Tests of the judges of duels", name="judge tests"),
        Table.of(PAIRS, pairs, title="Duels", notes=[rate], name="duels"),
    ]


def _results(folder: Path, records: Sequence[Record]) -> Iterator[DuelResult]:
    by: dict[DuelJudge, list[DuelReply]] = {}
    for reply in DuelReplies(folder):
        by.setdefault(DuelJudge(reply.judge, reply.prompt, reply.mode), []).append(reply)
    known = {record.paradigm for record in records}
    for judge, replies in by.items():
        own = [reply for reply in replies if reply.kind == "duel"]
        names = sorted({name for reply in own or replies for name in (reply.a, reply.b)} & known)
        if len(names) < 2:
            continue
        trials, samples = times_asked(replies)
        rules = DuelRules(trials, samples, judge.mode)
        entries = duel_entries(records, rules, names, limit=_limit(folder, records, own))
        yield duel_result(entries, folder, judge, rules)


def _limit(folder: Path, records: Sequence[Record], own: Sequence[DuelReply]) -> int | None:
    """The number of questions of the duel: one over the first questions alone is not an unfinished one over all."""
    if not own:
        return None
    judged = {reply.question for reply in own} | {aligned.question for aligned in AlignedLog(folder)}
    order = list(dict.fromkeys(record.question for record in records))
    return max((place for place, question in enumerate(order, start=1) if question in judged), default=None)


def _cells(pair: PairResult, names: Mapping[str, str]) -> dict[str, Cell]:
    """The pair as a row under `PAIRS`."""
    own = {name: value for name, value in vars(pair).items() if isinstance(value, str | int | float | None)}
    box = pair.box
    plot: dict[str, Cell] = {}
    if box is not None:
        outliers = " ".join(f"{value:.6g}" for value in box.outliers)
        plot = {"median": box.median, "first": box.first, "third": box.third, "least": box.low, "most": box.high,
                "outliers": outliers}  # fmt: skip
    shown = {name: names.get(str(own[name]), own[name]) for name in ("a", "b", "winner")}
    counts = {name: _counts(getattr(pair, name)) for name in ("left_out", "unscored")}
    return {**own, **plot, **shown, **counts, "taste": pair.taste.points if pair.taste.read else None}


def _counts(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{why or 'no reason given'}: {count:,}" for why, count in counts.items())
