"""Duels as tables of a report: the test of each judge, and a row for each pair of paradigms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ragways.core.table import Cell, Column, Table
from ragways.evaluation.duel.entries import AlignedLog, DuelRules, duel_entries
from ragways.evaluation.duel.figures import BoxPlot
from ragways.evaluation.duel.replies import DuelJudge, DuelReplies, DuelReply, times_asked
from ragways.evaluation.duel.result import DuelResult, PairResult, duel_result
from ragways.evaluation.duel.selftest import SelfTestRuns
from ragways.evaluation.record import Record

TESTS = (
    Column("run"), Column("judge"), Column("mode"), Column("passed"), Column("why not", key="why"),
    Column("position bias", "+.0%", "right", "position"), Column("length bias", "+.0%", "right", "length"),
    Column("questions"), Column("trials"), Column("samples"), Column("seed"), Column("all tests", key="tests"),
    Column("warnings"),
)  # fmt: skip
PAIRS = (
    Column("run"), Column("judge"), Column("mode"), Column("first", key="a"), Column("second", key="b"),
    Column("verdict", key="words"), Column("outcome"), Column("winner"), Column("win rate", "+.0%", "right", "rate"),
    Column("low", "+.0%", "right"), Column("high", "+.0%", "right"), Column("p (Holm)", ".3g", "right", "adjusted"),
    Column("won"), Column("tied"), Column("lost"), Column("questions", key="n"), Column("judged"),
    Column("of", key="pairs"),
    Column("median of the trials", "+.0%", "right", "median"), Column("first quartile", "+.0%", "right", "first"),
    Column("third quartile", "+.0%", "right", "third"), Column("least", "+.0%", "right"),
    Column("most", "+.0%", "right"),
    Column("outliers"), Column("left out", key="left_out"), Column("replies unscored", key="unscored"),
    Column("written again to equal length", key="rewriting"),
)  # fmt: skip

DuelledRun = tuple[str, Path, Sequence[Record], Mapping[str, str]]
"""The name of a run, its folder, its records, and the names of its paradigms in the report."""


def duel_tables(runs: Iterable[DuelledRun]) -> list[Table]:
    """The duels of the runs, from the judges' replies alone: a test for each judge, mode and prompt."""
    tests: list[list[Cell]] = []
    pairs: list[list[Cell]] = []
    for run, folder, records, names in runs:
        for result in _results(folder, records):
            head: list[Cell] = [run, result.judge, result.rules.mode]
            tests.append([*head, *_test(result)])
            pairs += [[*head, *_pair(pair, names)] for pair in result.pairs]
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
        # As it was drawn when the judge was tested: another seed would draw a test that was never made.
        tests = SelfTestRuns(folder).of(judge)
        trials, samples = times_asked(replies)
        rules = replace(tests[-1].rules if tests else DuelRules(mode=judge.mode), trials=trials, samples=samples)
        entries = duel_entries(records, rules, names, limit=_limit(folder, records, own))
        yield duel_result(entries, folder, judge, rules)


def _limit(folder: Path, records: Sequence[Record], own: Sequence[DuelReply]) -> int | None:
    """The number of questions of the duel: one over the first questions alone is not an unfinished one over all."""
    if not own:
        return None
    judged = {reply.question for reply in own} | {aligned.question for aligned in AlignedLog(folder)}
    order = list(dict.fromkeys(record.question for record in records))
    return max((place for place, question in enumerate(order, start=1) if question in judged), default=None)


def _test(result: DuelResult) -> list[Cell]:
    test, rules = result.selftest, result.rules
    made = ", ".join(f"seed {run.rules.seed} {'passed' if run.passed else 'not passed'}" for run in result.selftests)
    return [test.passed, test.why, test.position.bias, test.length.bias, result.questions, rules.trials, rules.samples,
            rules.seed, made, "; ".join(result.warnings)]  # fmt: skip


def _pair(pair: PairResult, names: Mapping[str, str]) -> list[Cell]:
    verdict, rounds, box = pair.verdict, pair.rounds, pair.box
    return [
        names.get(pair.a, pair.a), names.get(pair.b, pair.b), verdict.words, verdict.outcome,
        names.get(verdict.winner, verdict.winner), pair.rate, pair.low, pair.high, verdict.adjusted, rounds.a,
        rounds.ties, rounds.b, pair.n, pair.judged, pair.pairs, *_box(box), _counts(pair.left_out),
        _counts(pair.replies.unscored), pair.rewriting,
    ]  # fmt: skip


def _box(box: BoxPlot | None) -> list[Cell]:
    if box is None:
        return [None] * 6
    outliers = " ".join(f"{value:.6g}" for value in box.outliers)
    return [box.median, box.first, box.third, box.low, box.high, outliers]


def _counts(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{why or 'no reason given'}: {count:,}" for why, count in counts.items())
