"""Which paradigms are worth their cost.

The Pareto front has those that no other beats in both quality and cost. The break-even says after how many questions
the layers of a paradigm have paid for themselves, against another that needs other ones. A saving counts only where
quality does not suffer: a paradigm that was shown to be worse pays for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from ragways.core.table import Cell, Table
from ragways.core.text import counted
from ragways.evaluation.resources.usage import LayerCosts
from ragways.evaluation.statistics.comparison import Comparison, Quality
from ragways.store.cache import Spent

_QUALITY: dict[Quality, str] = {
    "better": "at better quality",
    "worse": "at worse quality",
    "no difference shown": "no difference in quality shown",
    "depends on missing values": "quality not known, values are missing",
    "not compared": "quality not compared",
}
_UNPAID: frozenset[Quality] = frozenset({"worse", "depends on missing values", "not compared"})
_TURNED: dict[Quality, Quality] = {"better": "worse", "worse": "better"}


def break_evens(costs: Table, comparisons: Iterable[Comparison], built: LayerCosts) -> list[dict[str, Cell]]:
    """For every two paradigms that were compared, the one that needs layers which the other does not; soonest first.

    `costs` are those of `usage`, in tokens. A row has the paradigm, the one it is `against`, the `layers` that only it
    needs, their cost less that of the other's own (`construction`), what is `saved` per question, after how many
    `questions` that pays for the layers (None where it never does), and all of this in `words`. What is cheaper to
    build and dearer to use is left out: the row of the other one says so.
    """
    known = {row["paradigm"]: row for row in costs.to_plain() if None not in (row["index_layers"], row["tokens"])}
    rows: list[dict[str, Cell]] = []
    for row in comparisons:
        for one, other, quality in ((row.a, row.b, row.verdict), (row.b, row.a, _TURNED.get(row.verdict, row.verdict))):
            if one not in known or other not in known:
                continue
            mine, theirs = (set(filter(None, str(known[name]["index_layers"]).split(", "))) for name in (one, other))
            own, price = sorted(mine - theirs), _tokens(mine - theirs, built)
            construction = price - _tokens(theirs - mine, built)
            saved = float(known[other]["tokens"] or 0) - float(known[one]["tokens"] or 0)
            if own and not (construction < 0 and saved < 0):
                questions = None if quality in _UNPAID else questions_until(construction, saved)
                free = "" if price else "costs no tokens; "
                words = f"{' and '.join(own)} (for {one}): {free}{_words(other, questions, saved, quality)}"
                rows.append({
                    "paradigm": one, "against": other, "layers": ", ".join(own), "construction": construction,
                    "saved": saved, "questions": questions, "words": words,
                })  # fmt: skip
    never = float("inf")
    return sorted(rows, key=lambda row: (
        never if row["questions"] is None else row["questions"], row["paradigm"], row["against"]
    ))  # fmt: skip


def _tokens(layers: Iterable[str], built: LayerCosts) -> float:
    spent = [built.get(layer, Spent()) for layer in layers]
    return float(sum(cost.input + cost.output for cost in spent))


def questions_until(construction: float, saved: float) -> int | None:
    """The least n with construction ≤ n · saved; None where there is none, or where the lead does not last."""
    if construction <= 0 and saved >= 0:
        return 0
    return math.ceil(construction / saved - 1e-9) if saved > 0 else None


def _words(against: str, questions: int | None, saved: float, quality: Quality) -> str:
    compared, price = _QUALITY[quality], f"{abs(saved):,.0f} tokens"
    if quality in _UNPAID:
        return f"no break-even against {against}: {compared}"
    if questions is None:
        loss = f"takes {price} more per question" if saved else "saves no tokens"
        return f"never pays for itself against {against}: {loss} ({compared})"
    if not questions:
        return f"pays from the first question against {against} ({compared})"
    return (
        f"pays for itself after {counted(questions, 'question')} against {against}, {price} saved on each ({compared})"
    )


def pareto(points: Mapping[str, tuple[float | None, float | None]], *, less_is_better: bool = False) -> list[str]:
    """The names of the points, given as (quality, cost), that no other dominates; cheapest first.

    One dominates another where it is as good and as cheap at least, and better in one. Points without a figure take no
    part.
    """
    sign = -1.0 if less_is_better else 1.0
    placed = {
        name: (sign * quality, cost)
        for name, (quality, cost) in points.items()
        if quality is not None and cost is not None and math.isfinite(quality) and math.isfinite(cost)
    }

    def dominated(own: tuple[float, float]) -> bool:
        return any(other != own and other[0] >= own[0] and other[1] <= own[1] for other in placed.values())

    front = [name for name, own in placed.items() if not dominated(own)]
    return sorted(front, key=lambda name: (placed[name][1], name))
