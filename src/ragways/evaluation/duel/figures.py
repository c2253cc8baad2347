"""Figures of two paradigms from the judge's replies: rounds, win rates, their spread, and what a lead is worth.

A round is one question in one trial, both orders and all samples averaged. An answer that failed loses its rounds by as
many points as the other side usually gets. Questions on one document count as one.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import quantiles
from types import MappingProxyType

from ragways.evaluation.duel.entries import AlignedAnswers, DuelRules
from ragways.evaluation.duel.replies import (
    ORDERS,
    DuelJudge,
    DuelReply,
    ReplyKey,
    by_question,
    duel_prompts,
    scored,
)
from ragways.evaluation.duel.taste import Taste
from ragways.evaluation.statistics.inference import ALPHA, infer, interval, shared_clusters, sign_flip
from ragways.tasks.duel import ASPECTS

NOT_ASKED = "not asked yet"
WHISKER = 1.5
"""Quartile distances beyond which a value is an outlier."""
POINTS = "points of 20"
UNREADABLE_SHARE = 0.1
"""Replies that could not be read, above which they may hide who is better, whomever they concern."""

_Replies = Sequence[DuelReply | None]


# --- Rounds -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DuelRound:
    """Points of a and of b by aspect; None where nobody was asked: the answers are the same, or one failed.

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

    `identical` rounds tied, and `failed` rounds were lost, without a call. `first` and `second`: replies that prefer
    the answer that stood first, and second. `unread`: by question, the share of its replies that have no points.
    """

    rounds: list[DuelRound] = field(default_factory=list)
    identical: int = 0
    failed: int = 0
    wanted: int = 0
    scored: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    rounds_wanted: int = 0
    rounds_unscored: Counter[str] = field(default_factory=Counter)
    first: int = 0
    second: int = 0
    unread: dict[str, float] = field(default_factory=dict)


def rounds_of(
    aligned: Sequence[AlignedAnswers],
    texts: dict[str, str],
    judge: DuelJudge,
    rules: DuelRules,
    replies: Mapping[ReplyKey, DuelReply],
) -> DuelRounds:
    """From the replies alone; one that is not there is counted as not asked yet."""
    found = DuelRounds(rounds_wanted=rules.trials * len(by_question(aligned)))
    by_round: dict[tuple[str, int], dict[str, _Replies]] = defaultdict(dict)
    counts: dict[str, list[bool]] = defaultdict(list)
    for prompt in duel_prompts(aligned, texts, rules.trials):
        samples = [replies.get(prompt.key(judge, sample)) for sample in range(rules.samples)]
        _count(found, prompt.order, samples)
        counts[prompt.question] += [not scored(reply) for reply in samples]
        by_round[prompt.question, prompt.trial][prompt.order] = samples
    for (question, trial), orders in by_round.items():
        if why := _lacking(orders):
            found.rounds_unscored[why] += 1
        else:
            found.rounds.append(_round(question, trial, orders))
    found.unread = {question: sum(some) / len(some) for question, some in counts.items()}
    usual = [_mean([sum(one.points[side]) for one in found.rounds if one.points] or [0.0]) for side in (0, 1)]
    for question, repeats in by_question(aligned).items():
        for trial in range(rules.trials):
            answers = repeats[trial % len(repeats)]
            if answers.failed:
                lost = usual[0] if answers.failed > 0 else -usual[1]
                found.failed += 1
                lost = lost or 1.0 * answers.failed
                found.rounds.append(DuelRound(question, trial, None, lost, (lost / len(ASPECTS),) * len(ASPECTS)))
            elif not answers.judged:
                found.identical += 1
                found.rounds.append(DuelRound(question, trial))
    return found


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
        if not any(map(scored, orders[order])):
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


@dataclass(frozen=True, slots=True)
class AspectFigures:
    """Mean points of each side for one aspect, of 5, and who had more, round by round."""

    name: str
    won: int
    tied: int
    lost: int
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
    """`won`, `tied` and `lost` count rounds: questions × trials. `n` questions have a round; the answers to `differing`
    of them differ. `documents` is not 0 where questions share documents: so many, each taken as one.

    `rate` is the relative win rate (won − lost) / all, the mean of a question's over its trials first, so that its
    interval is one over questions; `trials` are the rates of the trials, and `box` their spread. `difference` is in
    points of 20, and `p` is that of a sign-flip test on it.

    `guarded` is p, and `guarded_low` and `guarded_high` the interval, of the lead less what the judge's taste may have
    added, and with every reply that could not be read spoken against it, where that says more than chance (`unread`).
    """

    n: int
    differing: int
    documents: int
    won: int
    tied: int
    lost: int
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
    guarded: float | None
    guarded_low: float | None
    guarded_high: float | None
    unread: bool
    aspects: tuple[AspectFigures, ...]


def duel_figures(
    found: DuelRounds, taste: Taste | None = None, documents: Mapping[str, tuple[str, ...]] = MappingProxyType({})
) -> DuelFigures:
    """The figures of two paradigms from their rounds, the judge's taste, and the documents that questions share."""
    by_question: dict[str, list[DuelRound]] = defaultdict(list)
    by_trial: dict[int, list[DuelRound]] = defaultdict(list)
    for one in found.rounds:
        by_question[one.question].append(one)
        by_trial[one.trial].append(one)
    clusters = shared_clusters(list(by_question), documents)
    apart = {question: _mean([one.difference for one in some]) for question, some in by_question.items()}
    rates = [_mean([_sign(one.difference) for one in some]) for some in by_question.values()]
    signs = Counter(_sign(one.difference) for one in found.rounds)
    trials = tuple(_mean([_sign(one.difference) for one in by_trial[trial]]) for trial in sorted(by_trial))
    low, high = interval(rates, span=(-1.0, 1.0), clusters=clusters)
    plain = infer(list(apart.values()), clusters) if apart else None
    unread = _unread(found, apart)
    lead = plain.mean if plain else 0.0
    guarded = None
    if plain is not None:
        taken_off = taste.taken_off(lead) if taste is not None else 0.0
        values = _against(lead, apart, taken_off, found if unread else None)
        guarded = infer(list(values.values()), shared_clusters(list(values), documents))
    # Where the lead is turned, nothing of it is left to be shown.
    turned = guarded is not None and guarded.mean * lead <= 0
    return DuelFigures(
        n=len(apart),
        differing=sum(any(one.points or one.difference for one in some) for some in by_question.values()),
        documents=len({names[0] for names in clusters}),
        won=signs[1],
        tied=signs[0],
        lost=signs[-1],
        trials=trials,
        box=box_plot(trials),
        rate=_mean(rates) if rates else None,
        low=low,
        high=high,
        difference=plain.mean if plain else None,
        difference_low=plain.low if plain else None,
        difference_high=plain.high if plain else None,
        deviation=plain.deviation if plain else None,
        p=plain.p if plain else None,
        guarded=None if guarded is None else 1.0 if turned else guarded.p,
        guarded_low=guarded.low if guarded else None,
        guarded_high=guarded.high if guarded else None,
        unread=unread,
        aspects=_aspects(found.rounds),
    )


def _unread(found: DuelRounds, apart: Mapping[str, float]) -> bool:
    """Whether replies that could not be read may hide who is better: there are many, or more where one side leads."""
    unread = found.unscored.total() - found.unscored[NOT_ASKED]
    if unread > UNREADABLE_SHARE * found.wanted:
        return True
    related = [found.unread.get(question, 0.0) * _sign(value) for question, value in apart.items()]
    return sign_flip(related)[0] <= ALPHA


def _against(lead: float, apart: Mapping[str, float], taken_off: float, unread: DuelRounds | None) -> dict[str, float]:
    """The differences by question, less what may be taste; replies without points count against the lead."""
    if unread is None:
        return {question: value - taken_off for question, value in apart.items()}
    widest = -_sign(lead) * max((abs(one.difference) for one in unread.rounds), default=0.0)
    shares = {**dict.fromkeys(apart, 0.0), **unread.unread}
    return {one: (1 - share) * apart.get(one, 0.0) + share * widest - taken_off for one, share in shares.items()}


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


def _aspects(rounds: Sequence[DuelRound]) -> tuple[AspectFigures, ...]:
    points = [one.points for one in rounds if one.points is not None]
    found = []
    for at, name in enumerate(ASPECTS):
        signs = Counter(_sign(one.aspects[at]) for one in rounds)
        means = [_mean([sides[side][at] for sides in points]) if points else None for side in (0, 1)]
        found.append(AspectFigures(name, signs[1], signs[0], signs[-1], *means))
    return tuple(found)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
