"""Who won: one of the two, neither, or no verdict at all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from ragways.evaluation.duel.figures import Figures
from ragways.evaluation.statistics.inference import ALPHA, in_words, least_effect

Outcome = Literal["win", "tie", "no verdict"]
POINTS = "points of 20"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`winner` is empty unless the outcome is a win. `adjusted` is p after Holm's correction over all pairs."""

    outcome: Outcome
    winner: str
    words: str
    adjusted: float | None = None

    def data(self) -> dict[str, Any]:
        return asdict(self)


def no_verdict(why: str) -> Verdict:
    return Verdict("no verdict", "", f"no verdict: {why}")


def decide(a: str, b: str, found: Figures, adjusted: float | None, *, comparisons: int, why_not: str = "") -> Verdict:
    """By points, question by question; that the wins agree is required besides. `why_not`: no verdict, and why."""
    least = least_effect(found.n, found.deviation, comparisons=comparisons)
    if why := why_not or _too_few(found, least.needed):
        return no_verdict(why)
    if adjusted is None or found.difference is None or found.rate is None:
        return no_verdict("nothing was scored")
    said = f"{found.difference:+.2f} {POINTS}, p = {adjusted:.2g}"
    if not found.asked:
        return Verdict("tie", "", f"tie: the answers to all {found.n:,} questions are the same", adjusted)
    if adjusted > ALPHA:
        shown = in_words(least, scale=1, unit=POINTS) if least.effect is not None else ""
        return Verdict("tie", "", f"tie: no difference shown ({said}). {shown}".strip(), adjusted)
    if found.difference * found.rate <= 0:
        return Verdict("tie", "", f"tie: more points ({said}) but not more wins ({found.rate:+.1%})", adjusted)
    winner = a if found.difference > 0 else b
    return Verdict("win", winner, f"{winner} wins ({said})", adjusted)


def _too_few(found: Figures, needed: int) -> str:
    """Identical answers tie without a judge and show nothing, unless all are: then there is no difference to show."""
    if found.n < needed:
        return f"{found.n:,} questions are too few, {needed:,} at least are needed"
    if 0 < found.asked < needed:
        return (
            f"the answers to {found.asked:,} of {found.n:,} questions differ, too few: {needed:,} at least are needed"
        )
    return ""
