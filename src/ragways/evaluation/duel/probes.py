"""The judge tested on itself: an answer against itself, and against a copy with remarks that say nothing, must tie;
against an answer to another question it must win. Without the last, a judge that gives nobody a point would pass.

The unit is the answer: replies about one answer hang together. A bias is the share of replies that prefer one side less
the share that prefer the other, ties counted as fair. The judge fails where a sign-flip test over the answers says that
this is no accident and it is large enough to matter.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from ragways.evaluation.duel.entries import TOLERANCE, DuelRules, apart, padded_copy
from ragways.evaluation.duel.replies import ORDERS, DuelJudge, DuelPrompt, DuelReply, Kind, ReplyKey
from ragways.evaluation.judges.judge import answer_of
from ragways.evaluation.metrics import METRICS
from ragways.evaluation.question import normal
from ragways.evaluation.record import Record
from ragways.evaluation.statistics.inference import interval, sign_flip

ALPHA = 0.01
EFFECT = 0.1
"""A bias below this is no reason to dismiss a judge: order is exchanged and length aligned besides."""
MINIMUM = 8
"""Answers, with fewer of which no test by signs reaches ALPHA."""
SAMPLE = 0

ProbeName = Literal["position", "length", "control"]
_TESTED_FOR: dict[ProbeName, str] = {
    "position": "position bias",
    "length": "length bias",
    "control": "telling right answers from answers to other questions",
}


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """How often a side was preferred (`for_it`), or the other (`against`): the first of two equal answers (position),
    the padded copy (length), the answer to the question itself rather than one to another (control).

    `replies` = for_it + ties + against + unscored. `difference`: mean points for that side less the other's, of 20.
    `p` is two-sided, that of the control one-sided. `judged`: there is enough to tell, enough answers, and most replies
    could be read. `fails`: a bias is shown; or, of the control, that it tells right answers is not shown.
    """

    name: ProbeName
    answers: int
    replies: int
    for_it: int
    ties: int
    against: int
    unscored: Mapping[str, int]
    bias: float | None
    low: float | None
    high: float | None
    difference: float | None
    p: float | None
    judged: bool
    fails: bool

    @property
    def fault(self) -> str:
        if self.name == "control":
            return "it does not tell a right answer from one to another question"
        return f"{_TESTED_FOR[self.name]} of {self.bias:+.0%}".replace("%", " %")


@dataclass(frozen=True, slots=True)
class SelfTest:
    """`why` says why there can be no verdict; it is empty where the judge passed."""

    passed: bool
    why: str
    position: ProbeResult
    length: ProbeResult
    control: ProbeResult


def probe_prompts(records: Iterable[Record], names: Iterable[str], rules: DuelRules) -> list[DuelPrompt]:
    """What the judge is tested on: answers drawn from those of the duel, each different; more replies about each where
    there are few.
    """
    drawn = _drawn(records, set(names), rules)
    each = -(-rules.selftest // max(1, len(drawn)))
    found: list[DuelPrompt] = []
    for record in drawn:
        answer = answer_of(record)
        about = (record.question, record.text, record.repeat, record.paradigm, record.paradigm)
        # Both orders of an answer and itself are the same prompt, so one is asked as often as two would be.
        found += [DuelPrompt("same", *about, "ab", trial, (answer, answer)) for trial in range(each)]
        found += [
            DuelPrompt("padded", *about, order, trial, (answer, padded_copy(answer)))
            for trial in range(-(-each // len(ORDERS)))
            for order in ORDERS
        ]
    return [*found, *_controls(drawn, rules)]


def _drawn(records: Iterable[Record], names: set[str], rules: DuelRules) -> list[Record]:
    fit = {
        (record.question, answer_of(record)): record
        for record in records
        if record.paradigm in names and not record.error and not record.abstained and answer_of(record)
    }
    every = [fit[key] for key in sorted(fit)]
    few = min(rules.answers, len(every))
    return random.Random(rules.seed).sample(every, few)  # noqa: S311 - a draw, not a secret


def _controls(drawn: Sequence[Record], rules: DuelRules) -> list[DuelPrompt]:
    """Answers against answers to other questions, which must lose: of those drawn as many as it takes, both orders;
    more often where they are few.

    Answers that are known to be right come first: a wrong one need not win against anything.
    """
    ordered = sorted(drawn, key=lambda record: not _is_right(record, answer_of(record)))  # stable: else as drawn
    pairs = list(islice(_against_others(ordered), -(-rules.control // len(ORDERS))))
    each = max(1, rules.control // max(1, len(ORDERS) * len(pairs)))
    return [
        DuelPrompt(
            "other",
            record.question,
            record.text,
            record.repeat,
            record.paradigm,
            record.paradigm,
            order,
            trial,
            answers,
        )
        for record, answers in pairs
        for trial in range(each)
        for order in ORDERS
    ]


def _against_others(drawn: Sequence[Record]) -> Iterator[tuple[Record, tuple[str, str]]]:
    for at, record in enumerate(drawn):
        own = answer_of(record)
        # Each looks on from its own place, so that not all get the same one; the nearest in length are taken first.
        others = [answer_of(other) for other in (*drawn[at + 1 :], *drawn[:at]) if _differs(record, other)]
        others.sort(key=lambda text: max(0, apart((own, text)) - TOLERANCE))
        wrong = next((text for text in others if not _is_right(record, text)), None)
        if wrong is not None:
            yield record, (own, wrong)


def _differs(record: Record, other: Record) -> bool:
    """Whether it answers another question, and in other words."""
    return (
        other.question != record.question
        and normal(other.text) != normal(record.text)
        and normal(answer_of(other)) != normal(answer_of(record))
    )


def _is_right(record: Record, answer: str) -> bool:
    """Whether this would be an accepted answer to the record's question; False where nobody knows."""
    return METRICS["accuracy"].score(replace(record, answer=answer, abstained=False)).value == 1.0


# --- What the replies show ----------------------------------------------------------------------------------------


def self_test(prompts: Sequence[DuelPrompt], judge: DuelJudge, replies: Mapping[ReplyKey, DuelReply]) -> SelfTest:
    """The result of the test, from the replies alone."""

    def of(kind: Kind) -> list[tuple[DuelPrompt, DuelReply | None]]:
        return [(prompt, replies.get(prompt.key(judge, SAMPLE))) for prompt in prompts if prompt.kind == kind]

    position = _probe("position", of("same"), sign=1)
    length = _probe("length", of("padded"), sign=-1)  # the padded copy is b
    control = _probe("control", of("other"), sign=1)  # the answer to another question is b
    why = _why_not((position, length, control))
    return SelfTest(not why, why, position, length, control)


def _why_not(probes: Sequence[ProbeResult]) -> str:
    failed = [probe.fault for probe in probes if probe.fails]
    if failed:
        return f"the judge failed its own test: {' and '.join(failed)}"
    thin = next((probe for probe in probes if not probe.judged), None)
    if thin is None:
        return ""
    read = thin.replies - sum(thin.unscored.values())
    return (
        f"the judge could not be tested for {_TESTED_FOR[thin.name]}: {read:,} of {thin.replies:,} replies could be "
        f"read, about {thin.answers:,} answers; {MINIMUM} answers and half of the replies are needed"
    )


def _probe(name: ProbeName, replies: Sequence[tuple[DuelPrompt, DuelReply | None]], *, sign: int) -> ProbeResult:
    by_answer: dict[tuple[str, str], list[int]] = defaultdict(list)
    unscored: Counter[str] = Counter()
    for prompt, reply in replies:
        if reply is None or reply.points is None:
            unscored["not asked" if reply is None else reply.why] += 1
        else:
            by_answer[prompt.question, prompt.answers[0]].append(sign * reply.difference)
    every = [difference for row in by_answer.values() for difference in row]
    for_it, against = sum(d > 0 for d in every), sum(d < 0 for d in every)
    bias = low = high = difference = p = None
    if every:
        preferred = [sum((d > 0) - (d < 0) for d in row) / len(row) for row in by_answer.values()]
        low, high = interval(preferred)
        bias, difference = (for_it - against) / len(every), sum(every) / len(every)
        p = _one_sided(preferred) if name == "control" else sign_flip(preferred)[0]
    judged = len(by_answer) >= MINIMUM and 2 * unscored.total() <= len(replies)
    shown = p is not None and p < ALPHA
    if name == "control":
        # Unlike a bias, it must be shown, so a judge that ties everything fails.
        fails = judged and not (shown and difference is not None and difference > 0)
    else:
        fails = shown and bias is not None and abs(bias) > EFFECT
    return ProbeResult(
        name, len(by_answer), len(replies), for_it, len(every) - for_it - against, against, dict(unscored), bias, low,
        high, difference, p, judged, fails,
    )  # fmt: skip


def _one_sided(values: Sequence[float]) -> float:
    """p that the sum is above 0: under changed signs a sum above 0 is as likely as one below."""
    both, total = sign_flip(values)[0], sum(values)
    return both / 2 if total > 0 else 1 - both / 2 if total < 0 else 1.0
