"""A round: one question in one trial, both orders and all samples averaged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragways.evaluation.duel.aspects import ASPECTS
from ragways.evaluation.duel.lengths import Aligned
from ragways.evaluation.duel.line import Key, Line
from ragways.evaluation.duel.rules import Rules
from ragways.evaluation.duel.sitting import ORDERS, Judged, by_question, sittings

NOT_ASKED = "not asked yet"


@dataclass(frozen=True, slots=True)
class Round:
    """Points of a and of b by aspect; None where the answers are the same and nobody was asked."""

    question: str
    trial: int
    points: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    difference: float = 0.0
    """Total of a less that of b, of 20."""
    aspects: tuple[float, ...] = (0.0,) * len(ASPECTS)
    """The same, aspect by aspect."""


@dataclass
class Rounds:
    """All rounds of two paradigms, and counts: `wanted` replies = `scored` + all of `unscored`; so for rounds."""

    rounds: list[Round] = field(default_factory=list)
    identical: int = 0
    wanted: int = 0
    scored: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    rounds_wanted: int = 0
    rounds_unscored: Counter[str] = field(default_factory=Counter)
    first: int = 0
    second: int = 0
    """Replies that prefer the answer that stood first, and second."""


def rounds_of(
    aligned: Sequence[Aligned], texts: dict[str, str], by: Judged, rules: Rules, lines: Mapping[Key, Line]
) -> Rounds:
    """From lines alone."""
    found = Rounds(rounds_wanted=rules.trials * len(by_question(aligned)))
    replies: dict[tuple[str, int], dict[str, list[Line | None]]] = defaultdict(dict)
    for sitting in sittings(aligned, texts, rules.trials):
        got = [lines.get(sitting.key(by, sample)) for sample in range(rules.samples)]
        _count(found, sitting.order, got)
        replies[sitting.question, sitting.trial][sitting.order] = got
    for question in by_question(aligned):
        for trial in range(rules.trials):
            orders = replies.get((question, trial))
            if orders is None:
                found.identical += 1
                found.rounds.append(Round(question, trial))
            elif why := _lacking(orders):
                found.rounds_unscored[why] += 1
            else:
                found.rounds.append(_round(question, trial, orders))
    return found


def _count(found: Rounds, order: str, got: Iterable[Line | None]) -> None:
    for line in got:
        found.wanted += 1
        if line is None or line.points is None:
            found.unscored[NOT_ASKED if line is None else line.why] += 1
            continue
        found.scored += 1
        ahead = line.difference if order == "ab" else -line.difference
        found.first += ahead > 0
        found.second += ahead < 0


def _lacking(orders: Mapping[str, list[Line | None]]) -> str:
    """Why there is no round: an order in which nothing was scored. One order alone would be biased."""
    for order in ORDERS:
        if not any(line is not None and line.points is not None for line in orders[order]):
            return next((line.why for line in orders[order] if line is not None), NOT_ASKED)
    return ""


def _round(question: str, trial: int, orders: Mapping[str, list[Line | None]]) -> Round:
    read = [[line.points for line in orders[order] if line is not None and line.points is not None] for order in ORDERS]
    count = range(len(ASPECTS))

    def mean(side: int, aspect: int) -> float:
        return sum(sum(points[side][aspect] for points in some) / len(some) for some in read) / len(ORDERS)

    # Differences are summed as whole numbers before they are divided: then equal totals are equal, not nearly so.
    apart = [sum(sum(p[0][i] - p[1][i] for p in some) / len(some) for some in read) / len(ORDERS) for i in count]
    total = sum(sum(sum(p[0]) - sum(p[1]) for p in some) / len(some) for some in read) / len(ORDERS)
    points = (tuple(mean(0, i) for i in count), tuple(mean(1, i) for i in count))
    return Round(question, trial, points, total, tuple(apart))
