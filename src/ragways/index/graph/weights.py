"""What relations and links weigh, as the arrays have it: rules weigh in halves, which take two bytes each.

Other weights, as models give them, take four. So do halves of a graph so large that two bytes would soon not do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.index.pagerank import CodedWeights, Weights

Ints = NDArray[np.int64]
Kept = NDArray[Any]
"""Weights as they are kept: the number of their halves in two bytes, or themselves."""
_STEPS = 1 << 24
_HALVES = np.arange(1 << 16, dtype=np.float32) * np.float32(0.5)
"""What each number of halves weighs."""
PARTS = 1 << 10
"""Sums of weights are kept as so many parts of one, where they are that."""
_LARGE = float(_HALVES[-1]) / 2
"""Where a weight is larger when arrays are written, there is little room for it to grow."""


def link_weights(millionths: Ints) -> NDArray[np.float32]:
    """What relations weigh in the arrays: multiples of 2⁻²⁴, so that sums of up to 2²⁹ are exact, in any order."""
    return (np.round(millionths * (_STEPS / 1e6)) / _STEPS).astype(np.float32)


def exact_weights(weights: Weights) -> NDArray[np.float64]:
    """Shares of weights as multiples of 2⁻²⁴, of which sums are exact, in any order."""
    return np.round(np.asarray(weights, np.float64) * _STEPS) / _STEPS


def kept_weights(weights: NDArray[np.float32]) -> Kept:
    """Weights as arrays are written with them."""
    fit = not len(weights) or float(weights.max()) <= _LARGE
    halves = kept_as(weights, np.dtype(np.uint16)) if fit else None
    return weights if halves is None else halves


def kept_as(weights: NDArray[np.floating], kind: np.dtype[Any]) -> Kept | None:
    """Weights as an array of this type keeps them; None where it cannot."""
    if kind != np.uint16:
        return weights.astype(np.float32)
    halves = weights * 2
    if ((halves < 0) | (halves >= len(_HALVES)) | (halves != np.floor(halves))).any():
        return None
    return halves.astype(np.uint16)


def kept_sums(sums: NDArray[np.float64]) -> Kept:
    """Sums of weights as arrays are written with them: in four bytes where these do, or in eight."""
    parts = sums_as(sums, np.dtype(np.uint32))
    return sums if parts is None else parts


def sums_as(sums: NDArray[np.float64], kind: np.dtype[Any]) -> Kept | None:
    """Sums of weights as an array of this type keeps them; None where it cannot."""
    if kind != np.uint32:
        return sums
    parts = sums * PARTS
    if ((parts < 0) | (parts >= 1 << 32) | (parts != np.floor(parts))).any():
        return None
    return parts.astype(np.uint32)


def sums_of(kept: Kept) -> NDArray[np.float64]:
    """What they are."""
    sums = kept.astype(np.float64)
    return sums / PARTS if kept.dtype == np.uint32 else sums


def weights_of(kept: Kept) -> NDArray[np.float64]:
    """What they weigh."""
    weights = kept.astype(np.float64)
    return weights / 2 if kept.dtype == np.uint16 else weights


def readable(kept: Kept) -> Weights:
    """The same for many, of which few are read."""
    return CodedWeights(kept, _HALVES) if kept.dtype == np.uint16 else kept
