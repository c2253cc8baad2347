"""What each feature of a passage weighs. Made by `benchmarks/fusion.py`, which also says how well it does elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "walk": 4.038,
        "meaning": 4.253,
        "bridge": 1.899,
        "named": 2.025,
        "pair": 4.195,
        "joined": 4.057,
        "title": 1.335,
    }
)
BIAS = -12.4
