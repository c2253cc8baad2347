"""Figures of two paradigms from the judge's replies: rounds, win rates, their spread, and who won.

A round is one question in one trial, both orders and all samples averaged. What is missing (a reply that could not be
read, an answer that one side alone failed to give) may be missing because of what it would have shown. So each round
has bounds, in which it speaks for the one side and for the other, as clearly as any reply did that was read; somebody
wins only where both bounds say so.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import quantiles, stdev
from types import MappingProxyType
from typing import Literal

from ragways.evaluation.duel.entries import AlignedAnswers, DuelRules
from ragways.evaluation.duel.replies import ORDERS, DuelJudge, DuelReply, ReplyKey, by_question, duel_prompts
from ragways.evaluation.duel.style import StyleAllowance
from ragways.evaluation.statistics.inference import ALPHA, detectable_effect, in_words, interval, sign_flip
from ragways.tasks.duel import ASPECTS

NOT_ASKED = "not asked yet"
WHISKER = 1.5
"""Quartile distances beyond which a value is an outlier."""
POINTS = "points of 20"
FULL = 20.0
"""Points by which two answers can differ."""

_Replies = Sequence[DuelReply | None]


# --- Rounds -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DuelRound:
    """Points of a and of b by aspect; None where the answers are the same and nobody was asked.

    `difference`: total of a less that of b, of 20; `aspects`: the same, aspect by aspect.
    """

    question: str
    trial: int
    points: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    difference: float = 0.0
    aspects: tuple[float, ...] = (0.0,) * len(ASPECTS)


@dataclass
class DuelRounds:
    """All rounds of two paradigms, and counts: `wanted` replies = `scored` + all of `unscored`; so for rounds.

    `first` and `second`: replies that prefer the answer that stood first, and second. `bounds`: by question, the least
    and the most difference that each round can have had; `one_sided` questions have an answer of one side alone, at
    least in one repeat.
    """

    rounds: list[DuelRound] = field(default_factory=list)
    identical: int = 0
    wanted: int = 0
    scored: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    rounds_wanted: int = 0
    rounds_unscored: Counter[str] = field(default_factory=Counter)
    first: int = 0
    second: int = 0
    bounds: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    one_sided: int = 0


def rounds_of(
    aligned: Sequence[AlignedAnswers],
    texts: dict[str, str],
    judge: DuelJudge,
    rules: DuelRules,
    replies: Mapping[ReplyKey, DuelReply],
    one_sided: Mapping[str, int] = MappingProxyType({}),
) -> DuelRounds:
    """From the replies alone; one that is not there is counted as not asked yet. `one_sided`: of these questions, so
    many repeats have an answer of one side alone.
    """
    found = DuelRounds(rounds_wanted=rules.trials * len(by_question(aligned)))
    by_round: dict[tuple[str, int], dict[str, _Replies]] = defaultdict(dict)
    for prompt in duel_prompts(aligned, texts, rules.trials):
        samples = [replies.get(prompt.key(judge, sample)) for sample in range(rules.samples)]
        _count(found, prompt.order, samples)
        by_round[prompt.question, prompt.trial][prompt.order] = samples
    read = [reply for orders in by_round.values() for some in orders.values() for reply in some if _scored(reply)]
    widest = max((float(abs(reply.difference)) for reply in read if reply is not None), default=0.0) or FULL
    for question, repeats in by_question(aligned).items():
        for trial in range(rules.trials):
            orders = by_round.get((question, trial))
            if orders is None:
                found.identical += 1
                found.rounds.append(DuelRound(question, trial))
                found.bounds[question].append((0.0, 0.0))
                continue
            if why := _lacking(orders):
                found.rounds_unscored[why] += 1
            else:
                found.rounds.append(_round(question, trial, orders))
            found.bounds[question].append((_bound(orders, -widest), _bound(orders, widest)))
        # A repeat that only one side answered weighs as much as one that both did.
        missing = round(rules.trials * one_sided.get(question, 0) / len(repeats))
        found.bounds[question] += [(-widest, widest)] * missing
    for question in one_sided:
        found.one_sided += 1
        if question not in found.bounds:
            found.bounds[question].append((-widest, widest))
    return found


def _scored(reply: DuelReply | None) -> bool:
    return reply is not None and reply.points is not None


def _bound(orders: Mapping[str, _Replies], missing: float) -> float:
    """The difference of a round if each reply that is missing had said this."""
    read = [
        [missing if reply is None or reply.points is None else float(reply.difference) for reply in orders[order]]
        for order in ORDERS
    ]
    return sum(sum(some) / len(some) for some in read) / len(ORDERS)


def _count(found: DuelRounds, order: str, samples: Iterable[DuelReply | None]) -> None:
    for reply in samples:
        found.wanted += 1
        if reply is None or reply.points is None:
            found.unscored[NOT_ASKED if reply is None else reply.why] += 1
            continue
        found.scored += 1
        ahead = reply.difference if order == "ab" else -reply.difference
        found.first += ahead > 0
        found.second += ahead < 0


def _lacking(orders: Mapping[str, _Replies]) -> str:
    """Why there is no round: an order in which nothing was scored. One order alone would be biased."""
    for order in ORDERS:
        if not any(map(_scored, orders[order])):
            return next((reply.why for reply in orders[order] if reply is not None), NOT_ASKED)
    return ""


def _round(question: str, trial: int, orders: Mapping[str, _Replies]) -> DuelRound:
    read = [
        [reply.points for reply in orders[order] if reply is not None and reply.points is not None] for order in ORDERS
    ]
    aspects = range(len(ASPECTS))

    def mean(side: int, aspect: int) -> float:
        return sum(sum(points[side][aspect] for points in some) / len(some) for some in read) / len(ORDERS)

    # Differences are summed as whole numbers before they are divided: then equal totals are equal, not nearly so.
    apart = [sum(sum(p[0][i] - p[1][i] for p in some) / len(some) for some in read) / len(ORDERS) for i in aspects]
    total = sum(sum(sum(p[0]) - sum(p[1]) for p in some) / len(some) for some in read) / len(ORDERS)
    points = (tuple(mean(0, i) for i in aspects), tuple(mean(1, i) for i in aspects))
    return DuelRound(question, trial, points, total, tuple(apart))


# --- Figures ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WinCounts:
    """Who had more points, how often. The relative win rate is (a − b) / (a + b + ties)."""

    a: int
    ties: int
    b: int
    rate: float | None


@dataclass(frozen=True, kw_only=True)
class AspectFigures(WinCounts):
    """Mean points of each side for one aspect, of 5, and who had more, round by round."""

    name: str
    mean_a: float | None
    mean_b: float | None


@dataclass(frozen=True, slots=True)
class BoxPlot:
    """A box plot in numbers. `low` and `high` are the outermost values that are no outliers."""

    n: int
    median: float
    first: float
    third: float
    low: float
    high: float
    outliers: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DuelFigures:
    """`rounds` counts questions × trials, `questions` counts questions by their mean difference.

    `n` questions have a round; on `asked` of them the judge was asked, on the others both answers are the same.

    `rate` is the relative win rate, the mean of a question's over its trials first, so that its interval is one over
    questions; `trials` are the rates of the trials, and `box` their spread. `difference` is in points of 20, and `p` is
    that of a sign-flip test on it over questions.

    `least` and `most` are the difference if all that is missing spoke for b, and for a. `guarded` is p of the bound
    that speaks against who is ahead, less what styles may have added to the lead (1 where that turns it). `reversible`:
    one of the bounds would show a winner where the difference shows none.
    """

    n: int
    asked: int
    rounds: WinCounts
    questions: WinCounts
    trials: tuple[float, ...]
    box: BoxPlot | None
    rate: float | None
    low: float | None
    high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    deviation: float | None
    p: float | None
    least: float | None
    most: float | None
    guarded: float | None
    reversible: bool
    aspects: tuple[AspectFigures, ...]


def duel_figures(found: DuelRounds, styles: StyleAllowance | None = None) -> DuelFigures:
    """The figures of two paradigms from their rounds. `styles`: what a style may have added to each side."""
    by_question: dict[str, list[DuelRound]] = defaultdict(list)
    by_trial: dict[int, list[DuelRound]] = defaultdict(list)
    for one in found.rounds:
        by_question[one.question].append(one)
        by_trial[one.trial].append(one)
    apart = [_mean([one.difference for one in some]) for some in by_question.values()]
    rates = [_mean([_sign(one.difference) for one in some]) for some in by_question.values()]
    trials = tuple(rate for trial in sorted(by_trial) if (rate := _counts(by_trial[trial]).rate) is not None)
    low, high = (None if end is None else max(-1.0, min(1.0, end)) for end in interval(rates))
    low_apart, high_apart = interval(apart)
    lows, highs = ([_mean([one[at] for one in some]) for some in found.bounds.values()] for at in (0, 1))
    p = sign_flip(apart)[0] if apart else None
    return DuelFigures(
        n=len(apart),
        asked=sum(any(one.points is not None for one in some) for some in by_question.values()),
        rounds=_counts(found.rounds),
        questions=win_counts(apart),
        trials=trials,
        box=box_plot(trials),
        rate=_mean(rates) if rates else None,
        low=low,
        high=high,
        difference=_mean(apart) if apart else None,
        difference_low=low_apart,
        difference_high=high_apart,
        deviation=stdev(apart) if len(apart) > 1 else None,
        p=p,
        least=_mean(lows) if lows else None,
        most=_mean(highs) if highs else None,
        guarded=_guarded(apart, lows, highs, styles or StyleAllowance()) if apart else None,
        reversible=p is not None and p > ALPHA and lows != highs and any(_shows(some) for some in (lows, highs)),
        aspects=_aspects(found.rounds),
    )


def _guarded(apart: Sequence[float], lows: Sequence[float], highs: Sequence[float], styles: StyleAllowance) -> float:
    ahead = _sign(_mean(apart))
    worst = [low - styles.for_a for low in lows] if ahead > 0 else [-(high + styles.for_b) for high in highs]
    return sign_flip(worst)[0] if ahead and _mean(worst) > 0 else 1.0


def _shows(values: Sequence[float]) -> bool:
    return sign_flip(values)[0] <= ALPHA


def box_plot(values: Sequence[float]) -> BoxPlot | None:
    """None where there is nothing to show."""
    if not values:
        return None
    ordered = sorted(values)
    # One value alone is all of its quartiles.
    first, median, third = quantiles(ordered, n=4, method="inclusive") if len(ordered) > 1 else ordered * 3
    reach = WHISKER * (third - first)
    inside = [value for value in ordered if first - reach <= value <= third + reach] or [median]
    outside = tuple(value for value in ordered if value < inside[0] or value > inside[-1])
    return BoxPlot(len(ordered), median, first, third, inside[0], inside[-1], outside)


def win_counts(differences: Sequence[float]) -> WinCounts:
    """How often a difference is above 0, 0, and below 0."""
    a, b = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    rate = (a - b) / len(differences) if differences else None
    return WinCounts(a, len(differences) - a - b, b, rate)


def _counts(rounds: Sequence[DuelRound]) -> WinCounts:
    return win_counts([one.difference for one in rounds])


def _aspects(rounds: Sequence[DuelRound]) -> tuple[AspectFigures, ...]:
    asked = [one.points for one in rounds if one.points is not None]
    return tuple(
        AspectFigures(
            **vars(win_counts([one.aspects[at] for one in rounds])),
            name=name,
            mean_a=_mean([points[0][at] for points in asked]) if asked else None,
            mean_b=_mean([points[1][at] for points in asked]) if asked else None,
        )
        for at, name in enumerate(ASPECTS)
    )


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


# --- Verdict ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DuelVerdict:
    """`winner` is empty unless the outcome is a win. `adjusted` is p after Holm's correction over all pairs."""

    outcome: Literal["win", "tie", "no verdict"]
    winner: str
    words: str
    adjusted: float | None = None


def decide(
    a: str,
    b: str,
    figures: DuelFigures,
    adjusted: float | None,
    *,
    comparisons: int,
    guarded: float | None = None,
    doubt: str = "",
    why_not: str = "",
) -> DuelVerdict:
    """By points, question by question; that the wins agree is required besides.

    `guarded`: p of the bound, corrected too, where it differs; `doubt`: what makes the bounds differ, in words.
    `why_not`: no verdict, and why.
    """
    detectable = detectable_effect(figures.n, figures.deviation, comparisons=comparisons)
    why = why_not or _too_few(figures, detectable.needed)
    if why or adjusted is None or figures.difference is None or figures.rate is None:
        return _no_verdict(why or "nothing was scored")
    shown = f"{figures.difference:+.2f} {POINTS}, p = {adjusted:.2g}"
    if not figures.asked:
        return DuelVerdict("tie", "", f"tie: the answers to all {figures.n:,} questions are the same", adjusted)
    if adjusted > ALPHA and figures.reversible:
        return _no_verdict(f"{doubt} could decide it ({_bounds(figures)})")
    if adjusted > ALPHA or figures.difference * figures.rate <= 0:
        missed = in_words(detectable, scale=1, unit=POINTS) if detectable.effect is not None else ""
        why = f"more points ({shown}) but not more wins ({figures.rate:+.1%})"
        words = f"tie: no difference shown ({shown}). {missed}".strip() if adjusted > ALPHA else f"tie: {why}"
        return DuelVerdict("tie", "", words, adjusted)
    winner = a if figures.difference > 0 else b
    if guarded is not None and guarded > ALPHA:
        return _no_verdict(f"{winner} leads ({shown}), but {doubt} could account for it ({_bounds(figures)})")
    return DuelVerdict("win", winner, f"{winner} wins ({shown})", adjusted)


def _bounds(figures: DuelFigures) -> str:
    return f"{figures.least or 0.0:+.2f} to {figures.most or 0.0:+.2f} {POINTS}"


def _no_verdict(why: str) -> DuelVerdict:
    return DuelVerdict("no verdict", "", f"no verdict: {why}")


def _too_few(figures: DuelFigures, needed: int) -> str:
    """Identical answers tie without a judge and show nothing, unless all are: then there is no difference to show."""
    if figures.n < needed:
        return f"{figures.n:,} questions are too few, {needed:,} at least are needed"
    if 0 < figures.asked < needed:
        return (
            f"the answers to {figures.asked:,} of {figures.n:,} questions differ, too few: {needed:,} at least are "
            "needed"
        )
    return ""
