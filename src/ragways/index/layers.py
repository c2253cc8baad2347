"""The one table of layers, in the order they are built in. The structure is always there and is not in it."""

from __future__ import annotations

from collections.abc import Iterable

from ragways.core.errors import UsageError, did_you_mean
from ragways.index.chunks import VECTORS, WORDS
from ragways.index.communities.layer import COMMUNITIES
from ragways.index.graph.layer import GRAPH
from ragways.index.layer import Layer
from ragways.index.windows.layer import WINDOWS

LAYERS: dict[str, Layer] = {layer.name: layer for layer in (VECTORS, WORDS, WINDOWS, GRAPH, COMMUNITIES)}

USUAL = frozenset({"vectors", "words"})
"""Built unless others are asked for."""


def check_layers(names: Iterable[str]) -> frozenset[str]:
    """The layers that these names mean and what they need, or an error that says which there are."""
    wanted: set[str] = set()
    for name in names:
        if name not in LAYERS:
            raise UsageError(f"there is no layer {name!r}", did_you_mean(name, LAYERS))
        wanted |= {name} | check_layers(LAYERS[name].needs)
    return frozenset(wanted)


def in_order(names: Iterable[str]) -> list[Layer]:
    chosen = set(names)
    return [layer for name, layer in LAYERS.items() if name in chosen]
