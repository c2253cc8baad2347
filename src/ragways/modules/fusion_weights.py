"""What each feature of a passage weighs. Made by `benchmarks/fusion.py`, which also says how well it does elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """Features that are not named weigh nothing."""

    features: Mapping[str, float]
    bias: float


WHOLE = Weights(
    {
        "walk": 4.038,
        "meaning": 4.253,
        "bridge": 1.899,
        "named": 2.025,
        "pair": 4.195,
        "joined": 4.057,
        "title": 1.335,
    },
    -12.4,
)
"""For passages that are articles by themselves."""

PARTS = Weights(
    {
        "walk": 0.997,
        "meaning": 3.538,
        "agreed": 1.612,
        "text": 4.673,
    },
    -6.603,
)
"""For passages of long articles: what is true of an article does not tell its passages apart."""


def mixed(whole: float, one: Weights = WHOLE, other: Weights = PARTS) -> Weights:
    """`whole` parts of the one, and the rest of the other."""
    names = dict.fromkeys((*one.features, *other.features))
    features = {
        name: whole * one.features.get(name, 0.0) + (1 - whole) * other.features.get(name, 0.0) for name in names
    }
    return Weights(features, whole * one.bias + (1 - whole) * other.bias)
