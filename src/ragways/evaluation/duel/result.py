"""The result of a duel, computed from the files of its run alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragways.evaluation.duel.contest import Contest, Two
from ragways.evaluation.duel.figures import Figures, figures
from ragways.evaluation.duel.heatmap import HeatMap, heat_map
from ragways.evaluation.duel.lengths import UNEQUAL, Aligned
from ragways.evaluation.duel.line import Lines
from ragways.evaluation.duel.rounds import NOT_ASKED, Rounds, rounds_of
from ragways.evaluation.duel.rules import Rules
from ragways.evaluation.duel.selftest import SelfTest, selftest, selftest_sittings
from ragways.evaluation.duel.sitting import Judged
from ragways.evaluation.duel.trials import aligned_pairs
from ragways.evaluation.duel.verdict import Verdict, decide
from ragways.evaluation.duel.warnings import warnings
from ragways.evaluation.statistics.inference import holm


@dataclass(frozen=True)
class PairResult:
    """`pairs` = `judged` + `not_aligned` + all of `left_out`; `rounds` are questions × trials of those judged."""

    a: str
    b: str
    pairs: int
    judged: int
    not_aligned: int
    left_out: Mapping[str, int]
    again: int
    padded: int
    rounds: Rounds
    figures: Figures
    verdict: Verdict

    def data(self) -> dict[str, Any]:
        counted = self.rounds
        return {
            "a": self.a,
            "b": self.b,
            "verdict": self.verdict.data(),
            **self.figures.data(),
            "pairs": self.pairs,
            "judged": self.judged,
            "not_aligned": self.not_aligned,
            "left_out": dict(self.left_out),
            "generated_again": self.again,
            "padded": self.padded,
            "replies": {"wanted": counted.wanted, "scored": counted.scored, "unscored": dict(counted.unscored)},
            "wanted_rounds": counted.rounds_wanted,
            "unscored_rounds": dict(counted.rounds_unscored),
            "identical_rounds": counted.identical,
            "preferred": {"first": counted.first, "second": counted.second},
        }


@dataclass(frozen=True)
class Result:
    """`usd` is what the judge cost, replies that could not be read included."""

    judge: str
    generators: tuple[str, ...]
    rules: Rules
    questions: int
    selftest: SelfTest
    pairs: tuple[PairResult, ...]
    map: HeatMap
    warnings: tuple[str, ...]
    usd: float

    def data(self) -> dict[str, Any]:
        return {
            "judge": self.judge,
            "generators": list(self.generators),
            "rules": self.rules.data(),
            "questions": self.questions,
            "selftest": self.selftest.data(),
            "pairs": [pair.data() for pair in self.pairs],
            "map": self.map.data(),
            "warnings": list(self.warnings),
            "usd": self.usd,
        }


def result(contest: Contest, folder: Path, by: Judged, rules: Rules) -> Result:
    """No call is made: what was not asked for is counted as such, and then there is no verdict."""
    mine = [line for line in Lines(folder) if (line.judge, line.mode) == (by.name, by.mode)]
    lines = {line.key: line for line in mine}
    tested = selftest(selftest_sittings(contest.records, contest.names, rules), by, lines)
    aligned = aligned_pairs(contest, folder)
    found = {two: rounds_of(some, contest.texts, by, rules, lines) for two, some in aligned.items()}
    figured = {two: figures(rounds) for two, rounds in found.items()}
    # A pair without a question in common was not compared, and does not make the others' p larger.
    made = [two for two, one in figured.items() if one.p is not None]
    adjusted = dict(zip(made, holm([figured[two].p or 0.0 for two in made]), strict=True))
    pairs = tuple(
        _pair(contest, two, aligned[two], found[two], figured[two], adjusted.get(two), len(made), tested)
        for two in contest.pairs
    )
    return Result(
        judge=by.name,
        generators=contest.generators,
        rules=rules,
        questions=len(contest.texts),
        selftest=tested,
        pairs=pairs,
        map=heat_map(contest.names, [(pair.a, pair.b, pair.figures, pair.verdict) for pair in pairs]),
        warnings=warnings(by.name, contest.generators, tested, pairs),
        usd=sum(float(line.made.get("usd", 0.0)) for line in mine),
    )


def _pair(
    contest: Contest, two: Two, aligned: Sequence[Aligned], rounds: Rounds, found: Figures, adjusted: float | None,
    comparisons: int, tested: SelfTest,
) -> PairResult:  # fmt: skip
    judged = [one for one in aligned if one.usable]
    left_out = dict(contest.left_out[two])
    if len(judged) < len(aligned):
        left_out[UNEQUAL] = len(aligned) - len(judged)
    not_aligned = len(contest.pairs[two]) - len(aligned)
    why_not = tested.why
    if not why_not and (not_aligned or rounds.unscored[NOT_ASKED]):
        why_not = (
            f"unfinished, {rounds.unscored[NOT_ASKED]:,} of {rounds.wanted:,} replies"
            + (f" and {not_aligned:,} pairs" if not_aligned else "")
            + " are missing; run it again to go on"
        )
    return PairResult(
        a=two[0],
        b=two[1],
        pairs=len(contest.pairs[two]) + sum(contest.left_out[two].values()),
        judged=len(judged),
        not_aligned=not_aligned,
        left_out=left_out,
        again=sum(one.again > 0 for one in judged),
        padded=sum(one.padded > 0 for one in judged),
        rounds=rounds,
        figures=found,
        verdict=decide(*two, found, adjusted, comparisons=comparisons, why_not=why_not),
    )
