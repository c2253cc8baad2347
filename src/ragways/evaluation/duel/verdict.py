"""Who won: one of the two, neither, or no verdict at all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from ragways.evaluation.duel.figures import Figures
from ragways.evaluation.statistics.power import ALPHA, in_words, least_effect

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
    if why_not:
        return no_verdict(why_not)
    least = least_effect(found.n, found.deviation, comparisons=comparisons)
    if found.n < least.needed:
        return no_verdict(f"{found.n:,} questions are too few, {least.needed:,} at least are needed")
    if adjusted is None or found.difference is None or found.rate is None:
        return no_verdict("nothing was scored")
    said = f"{found.difference:+.2f} {POINTS}, p = {adjusted:.2g}"
    if adjusted > ALPHA:
        shown = in_words(least, scale=1, unit=POINTS) if least.effect is not None else ""
        return Verdict("tie", "", f"tie: no difference shown ({said}). {shown}".strip(), adjusted)
    if found.difference * found.rate <= 0:
        return Verdict("tie", "", f"tie: more points ({said}) but not more wins ({found.rate:+.1%})", adjusted)
    winner = a if found.difference > 0 else b
    return Verdict("win", winner, f"{winner} wins ({said})", adjusted)
