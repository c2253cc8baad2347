"""The judge tested on itself: an answer against itself, against a copy with remarks that say nothing, and in another
style must tie; against an answer to another question it must win. Without the last, a judge that gives nobody a point
would pass.

What counts is the bias that is left in a duel. A liking for the first place is cancelled by exchanging the places,
unless it is larger for one paradigm's answers than for the other's: that is tested. Styles that the normal form takes
off are not asked about. The others are put on answers made of halves of the duel's own pairs, on one side and then on
the other. Such answers are alike in style without being alike, and nobody can know them for a test, so that a judge
that only sees to it that an answer and its copy tie is tested too.

The unit is the answer: replies about one answer hang together. A bias is the share of comparisons that prefer one side
less the share that prefer the other, ties counted as fair. The judge fails where a sign-flip test over the answers says
that this is no accident and it is large enough to matter.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from pathlib import Path
from typing import Literal

from ragways.core import __version__
from ragways.core.log import Log
from ragways.evaluation.duel.entries import TOLERANCE, DuelRules, Mode, apart, padded_copy, padding_words
from ragways.evaluation.duel.replies import ORDERS, DuelJudge, DuelPrompt, DuelReply, Kind, ReplyKey
from ragways.evaluation.duel.style import DRESSES, Dress, StyleName, normal_form
from ragways.evaluation.judges.judge import answer_of
from ragways.evaluation.metrics import METRICS
from ragways.evaluation.question import normal
from ragways.evaluation.record import Record
from ragways.evaluation.statistics.inference import interval, sign_flip

ALPHA = 0.01
EFFECT = 0.1
"""A bias below this is no reason to dismiss a judge: places are exchanged and lengths aligned, and a verdict allows for
what styles may have added."""
MINIMUM = 8
"""Answers, with fewer of which no test by signs reaches ALPHA."""
SAMPLE = 0
FILE = "selftests.jsonl"

ProbeName = Literal["position", "length", "control"] | StyleName
_TESTED_FOR: dict[ProbeName, str] = {
    "position": "position bias",
    "length": "length bias",
    "control": "telling right answers from answers to other questions",
}


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """How often a side was preferred (`for_it`), or the other (`against`): the first of two equal answers (position),
    the padded copy (length), the answer to the question itself rather than one to another (control), the answer that
    wears a style.

    `replies` were asked for, and each is a comparison; of a style two make one, with the style on either side.
    Comparisons = for_it + ties + against + unscored. `difference`: mean points for that side less the other's, of 20,
    with its interval. `p` is two-sided, that of the control one-sided. `judged`: there is enough to tell, enough
    answers, and most replies could be read. `fails`: a bias is shown; or, of the control, that it tells right answers
    is not shown. `left`: of a position bias, what exchanging the places leaves of it between two paradigms, at most;
    `p` is that of it. `amount`: how much of a style was put on, as its measure counts it.
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
    difference_low: float | None
    difference_high: float | None
    p: float | None
    judged: bool
    fails: bool
    left: float | None = None
    amount: float = 0.0

    @property
    def tested_for(self) -> str:
        return _TESTED_FOR.get(self.name, f"a liking for {self.name}")

    @property
    def fault(self) -> str:
        if self.name == "control":
            return "it does not tell a right answer from one to another question"
        if self.name == "position":
            return f"position bias that exchanging places leaves, of {self.left:+.0%}".replace("%", " %")
        return f"{self.tested_for} of {self.bias:+.0%}".replace("%", " %")


@dataclass(frozen=True, slots=True)
class SelfTest:
    """`why` says why there can be no verdict; it is empty where the judge passed."""

    passed: bool
    why: str
    position: ProbeResult
    length: ProbeResult
    control: ProbeResult
    styles: tuple[ProbeResult, ...]

    @property
    def failed(self) -> bool:
        """Whether a fault is shown, rather than too little known."""
        return any(probe.fails for probe in (self.position, self.length, self.control, *self.styles))


# --- What the judge is asked --------------------------------------------------------------------------------------


def probe_prompts(records: Iterable[Record], names: Iterable[str], rules: DuelRules) -> list[DuelPrompt]:
    """What the judge is tested on: answers drawn from those of the duel, each different; more replies about each where
    there are few.
    """
    chosen = sorted(set(names))
    fit = [
        record
        for record in records
        if record.paradigm in chosen and not record.error and not record.abstained and answer_of(record)
    ]
    drawn = _drawn(fit, rules)
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
    return [*found, *_controls(drawn, rules), *_styled(_meetings(drawn, fit), chosen, rules)]


def _drawn(fit: Iterable[Record], rules: DuelRules) -> list[Record]:
    different = {(record.question, answer_of(record)): record for record in fit}
    every = [different[key] for key in sorted(different)]
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
    answers = [answer_of(record) for record in drawn]
    told = [(one.question, normal(one.text), normal(answer)) for one, answer in zip(drawn, answers, strict=True)]
    for at, (record, own) in enumerate(zip(drawn, answers, strict=True)):
        # Each looks on from its own place, so that not all get the same one; the nearest in length are taken first.
        places = (*range(at + 1, len(drawn)), *range(at))
        others = [answers[place] for place in places if _differs(told[at], told[place])]
        others.sort(key=lambda text: max(0, apart((own, text)) - TOLERANCE))
        wrong = next((text for text in others if not _is_right(record, text)), None)
        if wrong is not None:
            yield record, (own, wrong)


def _differs(one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    """Whether they answer different questions, in different words: ids, questions and answers all differ."""
    return all(mine != theirs for mine, theirs in zip(one, other, strict=True))


def _is_right(record: Record, answer: str) -> bool:
    """Whether this would be an accepted answer to the record's question; False where nobody knows."""
    return METRICS["accuracy"].score(replace(record, answer=answer, abstained=False)).value == 1.0


def _meetings(drawn: Sequence[Record], fit: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Answers with one of another paradigm to the same question: those that differ first, and of these those drawn."""
    asked: dict[tuple[str, int], dict[str, Record]] = defaultdict(dict)
    for record in fit:
        asked[record.question, record.repeat][record.paradigm] = record
    met: dict[frozenset[tuple[str, str, int]], tuple[Record, Record]] = {}
    for record in (*drawn, *sorted(fit, key=lambda record: record.key)):  # the others where those drawn are too few
        others = asked[record.question, record.repeat]
        name = min((name for name in others if name > record.paradigm), default=min(others))
        if name != record.paradigm:
            met.setdefault(frozenset((record.key, others[name].key)), (record, others[name]))
    return sorted(met.values(), key=lambda pair: answer_of(pair[0]) == answer_of(pair[1]))  # stable: else as drawn


def _styled(met: Sequence[tuple[Record, Record]], names: Sequence[str], rules: DuelRules) -> Iterator[DuelPrompt]:
    """Two prompts after each other: the first answer wears the style, then the second does."""
    pairs = met[: max(MINIMUM, rules.selftest // (2 * len(ORDERS)))]
    each = -(-rules.selftest // max(1, 2 * len(ORDERS) * len(pairs)))
    for dress in DRESSES:
        for record, other in pairs:
            one, two = _crossed(answer_of(record), answer_of(other))
            dressed, plain = _worn(dress, one, record, names)
            other_dressed, other_plain = _worn(dress, two, other, names)
            if (dressed, other_dressed) == (plain, other_plain):
                continue  # the normal form takes it off: there is nothing to like
            about = (record.question, record.text, record.repeat, record.paradigm, other.paradigm)
            for trial in range(each):
                for order in ORDERS:
                    yield DuelPrompt(dress.name, *about, order, trial, (dressed, other_plain))
                    yield DuelPrompt(dress.name, *about, order, trial, (plain, other_dressed))


def _crossed(first: str, second: str) -> tuple[str, str]:
    """Of two answers, cut to one length, the beginning of each with the end of the other: what is a paradigm's own way
    to write stands on both sides then.
    """
    ours, theirs = first.split(), second.split()
    length = min(len(ours), len(theirs))
    half = -(-length // 2)
    return " ".join((*ours[:half], *theirs[half:length])), " ".join((*theirs[:half], *ours[half:length]))


def _worn(dress: Dress, text: str, record: Record, names: Sequence[str]) -> tuple[str, str]:
    dressed, plain = dress.wear(text, record.text, record.paradigm)
    return normal_form(dressed, names, record.text), normal_form(plain, names, record.text)


# --- What the replies show ----------------------------------------------------------------------------------------

_Comparison = tuple[Hashable, float | str]
"""What it is about, and the difference in points, or why there is none."""


def self_test(prompts: Sequence[DuelPrompt], judge: DuelJudge, replies: Mapping[ReplyKey, DuelReply]) -> SelfTest:
    """The result of the test, from the replies alone."""

    def of(kind: Kind) -> list[tuple[DuelPrompt, DuelReply | None]]:
        return [(prompt, replies.get(prompt.key(judge, SAMPLE))) for prompt in prompts if prompt.kind == kind]

    position = _position(of("same"))
    padding = float(padding_words(padded_copy("")))
    length = replace(_probe("length", _each(of("padded"), sign=-1)), amount=padding)  # the padded copy is b
    control = _probe("control", _each(of("other"), sign=1))  # the answer to another question is b
    styles = tuple(_style(dress, of(dress.name)) for dress in DRESSES)
    why = _why_not((position, length, control, *styles))
    return SelfTest(not why, why, position, length, control, styles)


def _why_not(probes: Sequence[ProbeResult]) -> str:
    failed = [probe.fault for probe in probes if probe.fails]
    if failed:
        return f"the judge failed its own test: {' and '.join(failed)}"
    thin = next((probe for probe in probes if not probe.judged), None)
    if thin is None:
        return ""
    lacking = sum(thin.unscored.values())
    wanted = thin.for_it + thin.ties + thin.against + lacking
    return (
        f"the judge could not be tested for {thin.tested_for}: {wanted - lacking:,} of {wanted:,} replies could be "
        f"read, about {thin.answers:,} answers; {MINIMUM} answers and half of the replies are needed"
    )


def _each(replies: Iterable[tuple[DuelPrompt, DuelReply | None]], *, sign: int) -> list[_Comparison]:
    """Each reply is a comparison."""
    found: list[_Comparison] = []
    for prompt, reply in replies:
        said = _difference(reply)
        found.append(((prompt.question, prompt.answers[0]), said if isinstance(said, str) else sign * said))
    return found


def _difference(reply: DuelReply | None) -> float | str:
    if reply is None:
        return "not asked"
    return float(reply.difference) if reply.points is not None else reply.why


def _style(dress: Dress, replies: Sequence[tuple[DuelPrompt, DuelReply | None]]) -> ProbeResult:
    """Two replies are a comparison: the style on one side, and on the other. Half of what lies between is its worth."""
    found: list[_Comparison] = []
    amounts = [0.0]
    for (prompt, one), (swapped, other) in zip(replies[::2], replies[1::2], strict=True):
        on, off = _difference(one), _difference(other)
        key = prompt.question, prompt.repeat, prompt.a, prompt.b
        if isinstance(on, str) or isinstance(off, str):
            found.append((key, on if isinstance(on, str) else str(off)))
        else:
            found.append((key, (on - off) / 2))
        if dress.measure is not None:
            amounts.append(dress.measure(prompt.answers[0]) - dress.measure(swapped.answers[0]))
    result = _probe(dress.name, found)
    if dress.measure is None and not replies:
        return replace(result, judged=True)
    return replace(result, replies=len(replies), amount=sum(amounts) / max(1, len(amounts) - 1))


def _position(replies: Sequence[tuple[DuelPrompt, DuelReply | None]]) -> ProbeResult:
    """Exchanged places cancel what the first place is worth to both. Left is half of what it is worth more to one."""
    by_paradigm: dict[str, dict[Hashable, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (prompt, _), (key, said) in zip(replies, _each(replies, sign=1), strict=True):
        if not isinstance(said, str):
            by_paradigm[prompt.a][key].append((said > 0) - (said < 0))
    found: list[tuple[float, float]] = []
    for a, b in combinations(sorted(by_paradigm), 2):
        ours, theirs = ([sum(row) / len(row) for row in by_paradigm[name].values()] for name in (a, b))
        # Answers are drawn in no order, so that any of one side can stand against any of the other.
        between = [(x - y) / 2 for x, y in zip(ours, theirs, strict=False)]
        found.append((sign_flip(between)[0], sum(between) / len(between)))
    result = _probe("position", _each(replies, sign=1))
    if not found:
        return replace(result, fails=False)
    p, left = min(found, key=lambda one: (one[0], -abs(one[1])))
    p = min(1.0, p * len(found))
    return replace(result, left=left, p=p, fails=p < ALPHA and abs(left) > EFFECT)


def _probe(name: ProbeName, comparisons: Sequence[_Comparison]) -> ProbeResult:
    by_answer: dict[Hashable, list[float]] = defaultdict(list)
    unscored: Counter[str] = Counter()
    for key, said in comparisons:
        if isinstance(said, str):
            unscored[said] += 1
        else:
            by_answer[key].append(said)
    every = [difference for row in by_answer.values() for difference in row]
    for_it, against = sum(d > 0 for d in every), sum(d < 0 for d in every)
    bias = low = high = difference = least = most = p = None
    if every:
        preferred = [sum((d > 0) - (d < 0) for d in row) / len(row) for row in by_answer.values()]
        points = [sum(row) / len(row) for row in by_answer.values()]
        low, high = interval(preferred)
        least, most = interval(points)
        bias, difference = (for_it - against) / len(every), sum(every) / len(every)
        p = _one_sided(preferred) if name == "control" else sign_flip(preferred)[0]
    judged = len(by_answer) >= MINIMUM and 2 * unscored.total() <= len(comparisons)
    shown = p is not None and p < ALPHA
    if name == "control":
        # Unlike a bias, it must be shown, so a judge that ties everything fails.
        fails = judged and not (shown and difference is not None and difference > 0)
    else:
        fails = shown and bias is not None and abs(bias) > EFFECT
    return ProbeResult(
        name, len(by_answer), len(comparisons), for_it, len(every) - for_it - against, against, dict(unscored), bias,
        low, high, difference, least, most, p, judged, fails,
    )  # fmt: skip


def _one_sided(values: Sequence[float]) -> float:
    """p that the sum is above 0: under changed signs a sum above 0 is as likely as one below."""
    both, total = sign_flip(values)[0], sum(values)
    return both / 2 if total > 0 else 1 - both / 2 if total < 0 else 1.0


# --- Every test that was made -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SelfTestRun:
    """A test of a judge that was made in this folder, by which rules, and how it ended. `failed`: a fault was shown."""

    judge: str
    prompt: str
    mode: Mode
    names: tuple[str, ...]
    rules: DuelRules
    passed: bool
    failed: bool
    why: str
    version: str = __version__


class SelfTestRuns(Log[SelfTestRun]):
    """All tests of judges in the folder of a run: who draws until a judge passes is seen to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / FILE, SelfTestRun)

    def of(self, judge: DuelJudge) -> tuple[SelfTestRun, ...]:
        """Those of this judge with these prompts, in their order."""
        return tuple(run for run in self if (run.judge, run.prompt, run.mode) == (judge.name, judge.prompt, judge.mode))

    def keep(self, test: SelfTest, judge: DuelJudge, names: Iterable[str], rules: DuelRules) -> None:
        """One line more, unless the same test ended the same way before."""
        made = SelfTestRun(
            judge.name, judge.prompt, judge.mode, tuple(names), rules, test.passed, test.failed, test.why
        )
        if made not in self.of(judge):
            self.append(made)


def with_earlier(test: SelfTest, runs: Iterable[SelfTestRun]) -> SelfTest:
    """A test that was failed earlier counts, whatever was drawn since: else one could draw until a judge passes."""
    failed = next((run for run in runs if run.failed), None)
    if failed is None or test.failed:
        return test
    return replace(test, passed=False, why=f"in an earlier test here, drawn by seed {failed.rules.seed}, {failed.why}")
