"""What the layers that a paradigm needs have cost to build.

A layer that several paradigms need is counted in full for each of them: it is what one would pay to use that paradigm
alone, so these figures must not be added up over paradigms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ragways.index.layers import check_layers

Spent = Mapping[str, Mapping[str, float]]
"""By layer, what its work has cost so far: `calls`, `input`, `output`, `usd`, `seconds`; failures and work for
documents that were removed since are among it.
"""


@dataclass(frozen=True, slots=True)
class Construction:
    """Of all the layers, and shared out over the questions that were answered. Seconds are those of all work, much of
    which may have run side by side. `unknown` layers are those of whose cost nothing was written down.
    """

    layers: tuple[str, ...]
    unknown: tuple[str, ...]
    calls: float
    input: float
    output: float
    usd: float
    seconds: float
    questions: int

    @property
    def tokens(self) -> float:
        return self.input + self.output

    def per_question(self, figure: float) -> float | None:
        return figure / self.questions if self.questions else None

    def data(self) -> dict[str, Any]:
        shared = {f"{name}_per_question": self.per_question(getattr(self, name)) for name in ("tokens", "usd")}
        return {**asdict(self), "tokens": self.tokens, **shared}


def construction(needs: Iterable[str], spent: Spent, *, questions: int) -> Construction:
    """Of the layers that are needed, those that they need themselves among them."""
    layers = sorted(check_layers(needs))
    total = {
        name: sum(float(spent.get(layer, {}).get(name, 0)) for layer in layers)
        for name in ("calls", "input", "output", "usd", "seconds")
    }
    unknown = tuple(layer for layer in layers if layer not in spent)
    return Construction(tuple(layers), unknown, **total, questions=questions)


def costs(needs: Iterable[str], spent: Spent, *, unit: str = "tokens") -> dict[str, float]:
    """The cost of each layer that is needed, in `tokens` or `USD`, as `break_even` takes them."""
    found = {layer: spent.get(layer, {}) for layer in sorted(check_layers(needs))}
    if unit == "USD":
        return {layer: float(cost.get("usd", 0)) for layer, cost in found.items()}
    return {layer: float(cost.get("input", 0) + cost.get("output", 0)) for layer, cost in found.items()}
