"""The judge's test, made of the duel's own answers: does it pay for words instead of what is said?

Nobody can list what a judge may like: hedges, quotations, years, politeness. But what it likes can make a false winner
only where one side has more of it. So the words and marks that tell a's answers from b's are looked up in the answers
themselves (`telling`). Ten words around them, from an answer to another question, are put to one and the same answer:
once words of a, once words of b. They are off topic on both sides, so a fair judge prefers neither. What a judge gives
for a's words is its taste, in points. These prompts are spread over the whole duel, so that a judge cannot be fair
while it is tested and otherwise later.

A judge that gives nobody a point, or points at random, has no taste. So it must also prefer right answers to answers to
other questions (`control_prompts`).
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from statistics import fmean

from ragways.evaluation.duel.entries import TOLERANCE, AlignedAnswers, DuelEntries, PairNames, apart, words
from ragways.evaluation.duel.replies import ORDERS, DuelJudge, DuelPrompt, DuelReply, ReplyKey, scored
from ragways.evaluation.judges.judge import answer_of
from ragways.evaluation.metrics import METRICS
from ragways.evaluation.question import normal
from ragways.evaluation.record import Record
from ragways.evaluation.statistics.inference import ALPHA, detectable_effect, interval, sign_flip

TELLING = 4.2
"""Standard deviations from which a word tells a's answers from b's: of 10,000 words, chance alone gives one in four
duels.
"""
WINDOW = 10
"""Words that are put to an answer."""
COMPARISONS = 80
"""Of words of a with words of b, each in both orders: 160 replies find a taste of .6 points of 20 in two duels of
three, and one of 1 point practically always.
"""
FEWEST = 4
"""Comparisons in each trial at least."""
CONTROL = 50
"""Replies about right answers against answers to other questions. A judge that sees the difference 4 times of 5 passes
19 times of 20; one that throws a coin, once in a hundred.
"""
TIMES = 2.0
"""The taste for ten words at least so many times is taken for that for an answer: half of the words are put to answers
that have such words already, and there some judges show nothing.
"""
CONTROL_LEVEL = 0.01
MINIMUM = 8
"""Answers, with fewer of which no test by signs reaches that level."""
SHOWN = 8
"""Telling words of each side that a result names."""
LONG = 10
"""Letters of a long word."""
_TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")


# --- Words and marks that tell the sides apart ----------------------------------------------------------------------


def traits(word: str) -> list[str]:
    """What a judge may like about a word: the word itself, each mark, and whether it is long, a number, or capitals."""
    found = []
    for token in _TOKEN.findall(word):
        found.append(token.casefold())
        if token.isdigit():
            found.append(f"number of {len(token)} digits")
        elif len(token) >= LONG:
            found.append("long word")
        if token[0].isupper():
            found.append("CAPITALS" if token.isupper() and len(token) > 1 else "Capital")
    return found


def telling(pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
    """The words and marks of which one side has more in more questions than chance gives, each with its z: above 0
    where it is a.
    """
    more, less = Counter[str](), Counter[str]()
    for a, b in pairs:
        ours, theirs = (Counter(trait for word in text.split() for trait in traits(word)) for text in (a, b))
        more.update((ours - theirs).keys())
        less.update((theirs - ours).keys())
    # Of few questions even all together are not so far from chance.
    limit = min(TELLING, 0.99 * math.sqrt(len(pairs)))
    z = {trait: (more[trait] - less[trait]) / math.sqrt(more[trait] + less[trait]) for trait in more | less}
    return {trait: value for trait, value in sorted(z.items()) if abs(value) > limit}


def worth(text: str, weights: Mapping[str, float]) -> list[float]:
    """Word by word, how much it tells for a."""
    return [sum(weights.get(trait, 0.0) for trait in traits(word)) for word in text.split()]


def places(worths: Sequence[float], sign: int) -> int:
    """In how many places words that follow each other tell for a (sign 1) or for b (−1)."""
    return sum(sign * one > 0 and sign * before <= 0 for before, one in pairwise([0.0, *worths]))


@dataclass(frozen=True, slots=True)
class _Words:
    """Some words of an answer, and whether they stood in its first half."""

    text: str
    early: bool

    def put_to(self, answer: str) -> str:
        return f"{self.text} {answer}" if self.early else f"{answer} {self.text}"


def _window(text: str, weights: Mapping[str, float], sign: int, size: int) -> _Words:
    """The words that tell most for a (sign 1) or for b (−1); of equals the last, which are rarely the topic."""
    shown, worths = text.split(), worth(text, weights)

    def telling(start: int) -> tuple[int, float, int]:
        some = worths[start : start + size]
        return places(some, sign), sign * sum(some), start

    at = max(range(max(1, len(shown) - size + 1)), key=telling)
    return _Words(" ".join(shown[at : at + size]), at + size / 2 < len(shown) / 2)


# --- The prompts ----------------------------------------------------------------------------------------------------


def taste_prompts(aligned: Sequence[AlignedAnswers], texts: Mapping[str, str], trials: int) -> list[DuelPrompt]:
    """The test of the judge's taste in a duel of so many trials: none where nothing tells the sides apart.

    Half of the words are put to answers of a, half to answers of b. With more trials each has fewer of the same
    prompts, so that nothing is asked twice.
    """
    fit = list({one.question: one for one in reversed(aligned) if one.judged}.values())[::-1]
    weights = telling([one.answers for one in fit])
    lengths = [words(one.answers[0]) - words(one.answers[1]) for one in fit]
    longer = round(fmean(lengths)) if fit and sign_flip(lengths)[0] <= ALPHA else 0
    if len(fit) < 2 or not (weights or longer):
        return []
    sizes = WINDOW + max(0, longer), WINDOW + max(0, -longer)
    windows = {
        one.question: (_window(one.answers[0], weights, 1, sizes[0]), _window(one.answers[1], weights, -1, sizes[1]))
        for one in fit
    }
    gaps = {one: _gap([(ours.text, theirs.text)], weights) for one, (ours, theirs) in windows.items()}
    # Words that tell little would show less than the judge gives in the duel.
    sources = [question for question in gaps if gaps[question] >= fmean(gaps.values())]
    random.Random(f"{fit[0].a}|{fit[0].b}").shuffle(fit)  # noqa: S311 - a draw, not a secret
    each = min(max(FEWEST, 2 * -(-COMPARISONS // (2 * trials))), len(fit) * max(1, len(sources) - 1))
    found = []
    for trial in range(trials):
        for at in range(each):
            turn, place = divmod(at + trial * FEWEST, len(fit))
            base = fit[place]
            others = [one for one in sources if one != base.question] or [one for one in gaps if one != base.question]
            words_of = windows[others[(turn + place) % len(others)]]
            answer = base.answers[(turn + place) % 2]
            about = base.question, texts[base.question], base.repeat, base.a, base.b
            put = (words_of[0].put_to(answer), words_of[1].put_to(answer))
            found += [DuelPrompt("taste", *about, order, trial, put) for order in ORDERS]
    return found


def control_prompts(records: Iterable[Record]) -> list[DuelPrompt]:
    """Right answers against answers to other questions, which must lose, in both orders; more often where answers are
    few. Answers that are known to be right come first: a wrong one need not win against anything.
    """
    fit = [one for one in records if not one.error and not one.abstained and answer_of(one)]
    different = list({(one.question, answer_of(one)): one for one in fit}.values())
    random.Random(len(different)).shuffle(different)  # noqa: S311 - a draw, not a secret
    ordered = sorted(different, key=lambda record: not _is_right(record, answer_of(record)))
    pairs = list(islice(_against_others(ordered), CONTROL // len(ORDERS)))
    each = max(1, CONTROL // max(1, len(ORDERS) * len(pairs)))
    return [
        DuelPrompt("other", one.question, one.text, one.repeat, one.paradigm, one.paradigm, order, trial, answers)
        for one, answers in pairs
        for trial in range(each)
        for order in ORDERS
    ]


def _against_others(records: Sequence[Record]) -> Iterator[tuple[Record, tuple[str, str]]]:
    answers = [answer_of(record) for record in records]
    keys = [(one.question, normal(one.text), normal(answer)) for one, answer in zip(records, answers, strict=True)]
    for at, (record, own) in enumerate(zip(records, answers, strict=True)):
        # Each looks on from its own place, so that not all get the same one; the nearest in length are taken first.
        places = (*range(at + 1, len(records)), *range(at))
        others = [answers[place] for place in places if all(a != b for a, b in zip(keys[at], keys[place], strict=True))]
        others.sort(key=lambda text: max(0, apart((own, text)) - TOLERANCE))
        wrong = next((text for text in others if not _is_right(record, text)), None)
        if wrong is not None:
            yield record, (own, wrong)


def _is_right(record: Record, answer: str) -> bool:
    """Whether this would be an accepted answer to the record's question; False where nobody knows."""
    return METRICS["accuracy"].score(replace(record, answer=answer, abstained=False)).value == 1.0


def too_few(entries: DuelEntries, aligned: Mapping[PairNames, Sequence[AlignedAnswers]] | None = None) -> str:
    """Say why no verdict could come of any replies; empty where one could. That is known before anything is paid for,
    and known better once answers are `aligned`: those that stay unequal are left out.
    """
    answers = len({(one.question, one.answers[0]) for one in control_prompts(entries.records)})
    if answers < MINIMUM:
        return f"{answers:,} different answers are too few to test the judge, {MINIMUM} at least are needed"
    most, needed = 0, detectable_effect(0, None).needed
    for names, pairs in entries.pairs.items():
        done = aligned[names] if aligned is not None else ()
        some = [one for one in done if one.usable] if done and len(done) == len(pairs) else pairs
        asked = {one.question for one in some}
        differing = {one.question for one in some if one.answers[0] != one.answers[1]}
        most = max(most, len(differing) if differing else len(asked))
    return "" if most >= needed else f"{most:,} questions are too few, {needed:,} at least are needed"


# --- What the replies show ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JudgeTest:
    """Whether the judge prefers right answers to answers to other questions; `why` is empty where it does."""

    passed: bool
    why: str
    preferred: int
    ties: int
    other: int
    unscored: int


@dataclass(frozen=True, slots=True)
class Taste:
    """What the judge gives for words of a, less what it gives for words of b: `points` of 20 with their interval.

    `words_a` and `words_b` tell the sides apart. `read` of `wanted` comparisons have both orders. `shown`: that it is
    no accident (p at most .05); its far end is then taken off a lead.
    """

    words_a: tuple[str, ...] = ()
    words_b: tuple[str, ...] = ()
    wanted: int = 0
    read: int = 0
    points: float = 0.0
    low: float = 0.0
    high: float = 0.0
    p: float = 1.0

    @property
    def shown(self) -> bool:
        return self.p <= ALPHA

    @property
    def unknown(self) -> bool:
        """Whether most of the comparisons could not be read."""
        return 2 * self.read < self.wanted

    def taken_off(self, lead: float) -> float:
        """The points that may be taste in a lead of a (above 0) or of b (below 0), at most."""
        far = max(0.0, self.high) if lead > 0 else min(0.0, self.low)
        return far if self.shown else 0.0


_Replies = Mapping[ReplyKey, DuelReply]


def judge_test(prompts: Sequence[DuelPrompt], judge: DuelJudge, replies: _Replies) -> JudgeTest:
    """The result of the control, from the replies alone."""
    by_answer: dict[tuple[str, str], list[int]] = defaultdict(list)
    for prompt in prompts:
        reply = replies.get(prompt.key(judge, 0))
        if reply is not None and scored(reply):
            by_answer[prompt.question, prompt.answers[0]].append((reply.difference > 0) - (reply.difference < 0))
    every = [sign for signs in by_answer.values() for sign in signs]
    preferred, other = every.count(1), every.count(-1)
    why = ""
    if len(by_answer) < MINIMUM or 2 * len(every) < len(prompts):
        why = (
            f"the judge could not be tested: {len(every):,} of {len(prompts):,} replies could be read, about "
            f"{len(by_answer):,} answers; {MINIMUM} answers and half of the replies are needed"
        )
    elif preferred <= other or sign_flip([fmean(signs) for signs in by_answer.values()])[0] / 2 > CONTROL_LEVEL:
        why = "the judge failed its test: it does not tell a right answer from one to another question"
    return JudgeTest(not why, why, preferred, len(every) - preferred - other, other, len(prompts) - len(every))


def taste_of(
    prompts: Sequence[DuelPrompt], aligned: Sequence[AlignedAnswers], judge: DuelJudge, replies: _Replies
) -> Taste:
    """The judge's taste, from its replies to these prompts."""
    by_question: dict[str, list[float]] = defaultdict(list)
    read = 0
    for pair in zip(prompts[::2], prompts[1::2], strict=True):
        both = [reply for prompt in pair if (reply := replies.get(prompt.key(judge, 0))) is not None and scored(reply)]
        if len(both) == len(ORDERS):
            read += 1
            by_question[pair[0].question].append(fmean(reply.difference for reply in both))
    duelled = [one.answers for one in aligned if one.judged] if prompts else []
    weights = telling(duelled)
    ordered = sorted(weights, key=lambda trait: -abs(weights[trait]))
    ours, theirs = (tuple(one for one in ordered if sign * weights[one] > 0)[:SHOWN] for sign in (1, -1))
    if not by_question:
        return Taste(ours, theirs, len(prompts) // 2)
    times = max(TIMES, _gap(duelled, weights) / max(1e-9, _gap([one.answers for one in prompts], weights)))
    values = [times * fmean(some) for some in by_question.values()]
    low, high = interval(values)
    points = fmean(values)
    return Taste(
        ours, theirs, len(prompts) // 2, read, points,
        points if low is None else low, points if high is None else high, sign_flip(values)[0],
    )  # fmt: skip


def _gap(pairs: Sequence[tuple[str, str]], weights: Mapping[str, float]) -> float:
    """In how many places more the first answers tell for a, and the second for b, than the other way round."""
    both = [(worth(a, weights), worth(b, weights)) for a, b in pairs]
    return fmean(places(a, 1) - places(b, 1) + places(b, -1) - places(a, -1) for a, b in both)
