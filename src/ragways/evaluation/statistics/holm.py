"""Many comparisons at once: Holm's step-down correction, which holds whatever hangs together among them."""

from __future__ import annotations

from collections.abc import Sequence


def holm(ps: Sequence[float]) -> list[float]:
    """Adjusted p in the order given: the chance that even one of those so small is found where nothing differs."""
    if not all(0 <= p <= 1 for p in ps):
        raise ValueError("p lies between 0 and 1")
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, at in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[at]))
        adjusted[at] = largest
    return adjusted
