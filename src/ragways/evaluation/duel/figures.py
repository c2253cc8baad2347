"""Figures of two paradigms, from their rounds."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragways.evaluation.duel.aspects import ASPECTS
from ragways.evaluation.duel.box import Box, box
from ragways.evaluation.duel.rounds import Round, Rounds
from ragways.evaluation.statistics.inference import interval, sign_flip


@dataclass(frozen=True, slots=True)
class Counts:
    """Who had more points, how often. The relative win rate is (a − b) / (a + b + ties)."""

    a: int
    ties: int
    b: int

    @property
    def rate(self) -> float | None:
        every = self.a + self.b + self.ties
        return (self.a - self.b) / every if every else None

    def data(self) -> dict[str, Any]:
        return {"a": self.a, "ties": self.ties, "b": self.b, "rate": self.rate}


@dataclass(frozen=True, slots=True)
class AspectFigure:
    """Mean points of each side, of 5, and who had more, round by round."""

    name: str
    a: float | None
    b: float | None
    counts: Counts

    def data(self) -> dict[str, Any]:
        return {"name": self.name, "mean_a": self.a, "mean_b": self.b, **self.counts.data()}


@dataclass(frozen=True, slots=True)
class Figures:
    """`rounds` counts questions × trials, `questions` counts questions by their mean difference.

    `n` questions have a round; on `asked` of them the judge was asked, on the others both answers are the same.

    `rate` is the relative win rate, the mean of a question's over its trials first, so that its interval is one over
    questions; `difference` is in points of 20, and `p` is that of a sign-flip test on it over questions.
    """

    n: int
    asked: int
    rounds: Counts
    questions: Counts
    trials: tuple[float, ...]
    box: Box | None
    rate: float | None
    low: float | None
    high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    deviation: float | None
    p: float | None
    aspects: tuple[AspectFigure, ...]

    def data(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "asked": self.asked,
            "rounds": self.rounds.data(),
            "questions": self.questions.data(),
            "trials": list(self.trials),
            "box": self.box.data() if self.box else None,
            "rate": self.rate,
            "low": self.low,
            "high": self.high,
            "difference": self.difference,
            "difference_low": self.difference_low,
            "difference_high": self.difference_high,
            "deviation": self.deviation,
            "p": self.p,
            "aspects": [aspect.data() for aspect in self.aspects],
        }


def figures(found: Rounds) -> Figures:
    by_question: dict[str, list[Round]] = defaultdict(list)
    by_trial: dict[int, list[Round]] = defaultdict(list)
    for one in found.rounds:
        by_question[one.question].append(one)
        by_trial[one.trial].append(one)
    apart = {q: _mean([one.difference for one in some]) for q, some in by_question.items()}
    rates = [_mean([_sign(one.difference) for one in some]) for some in by_question.values()]
    trials = tuple(rate for trial in sorted(by_trial) if (rate := _counts(by_trial[trial]).rate) is not None)
    low, high = interval(rates)
    low_apart, high_apart = interval(list(apart.values()))
    return Figures(
        n=len(apart),
        asked=sum(any(one.points is not None for one in some) for some in by_question.values()),
        rounds=_counts(found.rounds),
        questions=_tally(list(apart.values())),
        trials=trials,
        box=box(trials),
        rate=_mean(rates) if rates else None,
        low=low,
        high=high,
        difference=_mean(list(apart.values())) if apart else None,
        difference_low=low_apart,
        difference_high=high_apart,
        deviation=_deviation(list(apart.values())),
        p=sign_flip(list(apart.values()))[0] if apart else None,
        aspects=_aspects(found.rounds),
    )


def _aspects(rounds: Sequence[Round]) -> tuple[AspectFigure, ...]:
    asked = [one.points for one in rounds if one.points is not None]
    return tuple(
        AspectFigure(
            aspect.name,
            _mean([points[0][at] for points in asked]) if asked else None,
            _mean([points[1][at] for points in asked]) if asked else None,
            _tally([one.aspects[at] for one in rounds]),
        )
        for at, aspect in enumerate(ASPECTS)
    )


def _counts(rounds: Sequence[Round]) -> Counts:
    return _tally([one.difference for one in rounds])


def _tally(differences: Sequence[float]) -> Counts:
    return Counts(
        a=sum(d > 0 for d in differences), ties=sum(d == 0 for d in differences), b=sum(d < 0 for d in differences)
    )


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _deviation(values: Sequence[float]) -> float | None:
    from statistics import stdev

    return stdev(values) if len(values) > 1 else None
