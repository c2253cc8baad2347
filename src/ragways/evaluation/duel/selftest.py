"""The judge tested on itself: an answer against itself, and against a copy with remarks that say nothing, must tie;
against an answer to another question it must win. Without the last, a judge that gives nobody a point would pass.

The unit is the answer: replies about one answer hang together. A bias is the share of replies that prefer one side less
the share that prefer the other, ties counted as fair. The judge fails where a sign-flip test over the answers says that
this is no accident and it is large enough to matter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ragways.evaluation.duel.control import controls
from ragways.evaluation.duel.lengths import padded_copy
from ragways.evaluation.duel.line import Key, Line
from ragways.evaluation.duel.rules import Rules
from ragways.evaluation.duel.sitting import ORDERS, Judged, Sitting
from ragways.evaluation.judges.judge import answer_of
from ragways.evaluation.record import Record
from ragways.evaluation.statistics.inference import interval, sign_flip

ALPHA = 0.01
EFFECT = 0.1
"""A bias below this is no reason to dismiss a judge: order is exchanged and length aligned besides."""
LEAST = 8
"""Answers, with fewer of which no test by signs reaches ALPHA."""
SAMPLE = 0


@dataclass(frozen=True, slots=True)
class Bias:
    """How often a side was preferred (`for_it`: the first of two equal answers, or the padded copy), or the other.

    `difference`: mean points for that side less the other's, of 20. `replies` = for_it + ties + against + unscored.
    """

    name: str
    answers: int
    replies: int
    for_it: int
    ties: int
    against: int
    unscored: Mapping[str, int]
    bias: float | None = None
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    p: float | None = None

    @property
    def judged(self) -> bool:
        """Whether there is enough to tell: enough answers, and most replies could be read."""
        return self.answers >= LEAST and 2 * sum(self.unscored.values()) <= self.replies

    @property
    def fails(self) -> bool:
        return self.p is not None and self.bias is not None and self.p < ALPHA and abs(self.bias) > EFFECT

    @property
    def tested_for(self) -> str:
        return f"{self.name} bias"

    @property
    def fault(self) -> str:
        return f"{self.tested_for} of {self.bias:+.0%}".replace("%", " %")

    def data(self) -> dict[str, Any]:
        return {**asdict(self), "judged": self.judged, "fails": self.fails}


@dataclass(frozen=True, slots=True)
class Control(Bias):
    """How often the answer to the question itself was preferred (`for_it`) to one to another. `p` is one-sided."""

    @property
    def fails(self) -> bool:
        """Unlike a bias, it must be shown, so a judge that ties everything fails."""
        return self.judged and not self.shown

    @property
    def shown(self) -> bool:
        return self.p is not None and self.p < ALPHA and self.difference is not None and self.difference > 0

    @property
    def tested_for(self) -> str:
        return "telling right answers from answers to other questions"

    @property
    def fault(self) -> str:
        return "it does not tell a right answer from one to another question"


@dataclass(frozen=True, slots=True)
class SelfTest:
    position: Bias
    length: Bias
    control: Control

    @property
    def parts(self) -> tuple[Bias, ...]:
        return self.position, self.length, self.control

    @property
    def passed(self) -> bool:
        return not self.why

    @property
    def why(self) -> str:
        """Why there can be no verdict; empty where there can."""
        failed = [part.fault for part in self.parts if part.fails]
        if failed:
            return f"the judge failed its own test: {' and '.join(failed)}"
        thin = next((part for part in self.parts if not part.judged), None)
        if thin is None:
            return ""
        read = thin.replies - sum(thin.unscored.values())
        return (
            f"the judge could not be tested for {thin.tested_for}: {read:,} of {thin.replies:,} replies could be "
            f"read, about {thin.answers:,} answers; {LEAST} answers and half of the replies are needed"
        )

    def data(self) -> dict[str, Any]:
        return {"passed": self.passed, "why": self.why, **{part.name: part.data() for part in self.parts}}


def selftest_sittings(records: Iterable[Record], names: Iterable[str], rules: Rules) -> list[Sitting]:
    """Answers drawn from those of the duel, each different; more replies about each where there are few."""
    drawn = _drawn(records, set(names), rules)
    each = -(-rules.selftest // max(1, len(drawn)))
    found: list[Sitting] = []
    for record in drawn:
        answer = answer_of(record)
        about = (record.question, record.text, record.repeat, record.paradigm, record.paradigm)
        # Both orders of an answer and itself are the same prompt, so one is asked as often as two would be.
        found += [Sitting("same", *about, "ab", trial, (answer, answer)) for trial in range(each)]
        found += [
            Sitting("padded", *about, order, trial, (answer, padded_copy(answer)))
            for trial in range(-(-each // len(ORDERS)))
            for order in ORDERS
        ]
    return [*found, *controls(drawn, rules)]


def _drawn(records: Iterable[Record], names: set[str], rules: Rules) -> list[Record]:
    import random

    fit = {(record.question, answer_of(record)): record for record in records
           if record.paradigm in names and not record.error and not record.abstained and answer_of(record)}  # fmt: skip
    every = [fit[key] for key in sorted(fit)]
    few = min(rules.answers, len(every))
    return random.Random(rules.seed).sample(every, few)  # noqa: S311 - a draw, not a secret


def selftest(wanted: Sequence[Sitting], by: Judged, lines: Mapping[Key, Line]) -> SelfTest:
    """From lines alone."""
    return SelfTest(
        position=_bias("position", _of("same", wanted, by, lines), sign=1),
        length=_bias("length", _of("padded", wanted, by, lines), sign=-1),  # the padded copy is b
        # The answer to another question is b.
        control=Control(**asdict(_bias("control", _of("other", wanted, by, lines), sign=1, p_of=_above))),
    )


def _either(values: Sequence[float]) -> float:
    return sign_flip(values)[0]


def _above(values: Sequence[float]) -> float:
    """One-sided: under changed signs a sum above 0 is as likely as one below."""
    both, total = _either(values), sum(values)
    return both / 2 if total > 0 else 1 - both / 2 if total < 0 else 1.0


def _of(
    kind: str, wanted: Sequence[Sitting], by: Judged, lines: Mapping[Key, Line]
) -> Iterator[tuple[Sitting, Line | None]]:
    for sitting in wanted:
        if sitting.kind == kind:
            yield sitting, lines.get(sitting.key(by, SAMPLE))


def _bias(
    name: str,
    replies: Iterator[tuple[Sitting, Line | None]],
    *,
    sign: int,
    p_of: Callable[[Sequence[float]], float] = _either,
) -> Bias:
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    unscored: Counter[str] = Counter()
    for sitting, line in replies:
        if line is None or line.points is None:
            unscored["not asked" if line is None else line.why] += 1
        else:
            found[sitting.question, sitting.answers[0]].append(sign * line.difference)
    every = [difference for row in found.values() for difference in row]
    counts = (sum(d > 0 for d in every), sum(d == 0 for d in every), sum(d < 0 for d in every))
    replied = len(every) + unscored.total()
    if not every:
        return Bias(name, 0, replied, *counts, dict(unscored))
    by_answer = [sum((d > 0) - (d < 0) for d in row) / len(row) for row in found.values()]
    low, high = interval(by_answer)
    return Bias(
        name, len(found), replied, *counts, dict(unscored), (counts[0] - counts[2]) / len(every), low, high,
        sum(every) / len(every), p_of(by_answer),
    )  # fmt: skip
