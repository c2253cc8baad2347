"""What the test of a judge on itself shows, from its replies to the probes, and every such test that was made.

The unit is the answer: replies about one answer hang together. A bias is the share of comparisons that prefer one side
less the share that prefer the other, ties counted as fair. The judge fails where a sign-flip test over the answers says
that this is no accident and it is large enough to matter. The control is the other way round: that it tells right
answers must be shown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Literal

from ragways.core import __version__
from ragways.core.log import Log
from ragways.evaluation.duel.entries import DuelRules, Mode, padded_copy, padding_words
from ragways.evaluation.duel.replies import DuelJudge, DuelPrompt, DuelReply, Kind, ReplyKey
from ragways.evaluation.duel.style import DRESSES, Dress, StyleName
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
