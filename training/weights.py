"""Weights as they travel: half precision between machines, int8 as the product runs them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Weights = Mapping[str, NDArray[np.float32]]
WORDS = "embeddings.word_embeddings.weight"
LEVELS = 63
"""As the product's graph quantises weights: 7 bits, because processors without VNNI overflow with 8."""


def is_matrix(name: str, value: NDArray[np.float32]) -> bool:
    """Whether this is a matrix that the product multiplies in int8."""
    return value.ndim == 2 and value.shape[0] >= 384 and "embeddings" not in name


def write_quantised(file: Path, weights: Weights, *, words: bool = False, levels: int = LEVELS) -> None:
    """Every matrix in int8 with a scale for each output, the rest in half precision.

    The table of words is left out unless asked for: the product has it already.
    """
    packed: dict[str, NDArray[np.generic]] = {}
    for name, value in weights.items():
        if name.endswith(WORDS) and not words:
            continue
        if name.endswith(WORDS) or is_matrix(name, value):
            top = 127 if name.endswith(WORDS) else levels
            scale = np.maximum(np.abs(value).max(axis=1, keepdims=True) / top, 1e-20).astype(np.float32)
            packed[name] = np.rint(value / scale).clip(-top, top).astype(np.int8)
            packed[f"{name}.scale"] = scale
        else:
            packed[name] = value.astype(np.float16)
    np.savez_compressed(file, allow_pickle=False, **packed)


def read_quantised(file: Path) -> dict[str, NDArray[np.float32]]:
    """What `write_quantised` wrote, as numbers again."""
    with np.load(file, allow_pickle=False) as packed:
        values = {name: packed[name].astype(np.float32) for name in packed.files}
    for name in [name for name in values if name.endswith(".scale")]:
        values[name.removesuffix(".scale")] *= values.pop(name)
    return values
