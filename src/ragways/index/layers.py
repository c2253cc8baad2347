"""The one table of layers, in the order they are built in. The structure is always there and is not in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ragways.core.registry import Registry
from ragways.core.section import parse_section
from ragways.index.chunk_vectors import VECTORS
from ragways.index.communities.layer import COMMUNITIES
from ragways.index.graph.layer import GRAPH
from ragways.index.layer import Layer
from ragways.index.settings import LayerSettings
from ragways.index.windows.layer import WINDOWS
from ragways.index.words import WORDS

LAYERS: Registry[Layer] = Registry("ragways.layers", "layer", Layer, (VECTORS, WORDS, WINDOWS, GRAPH, COMMUNITIES))

USUAL = frozenset({"vectors", "words"})
"""Built unless others are asked for."""


def check_layers(names: Iterable[str]) -> frozenset[str]:
    """The layers that these names mean and what they need, or an error that says which there are."""
    wanted: set[str] = set()
    for name in names:
        wanted |= {name} | check_layers(LAYERS.find(name).needs)
    return frozenset(wanted)


def in_order(names: Iterable[str]) -> list[Layer]:
    """These layers in the order they are built in: that of the table, but each behind those it needs."""
    chosen = set(names)
    ordered: dict[str, Layer] = {}

    def take(layer: Layer) -> None:
        for other in LAYERS.values():
            if other.name in layer.needs and other.name not in ordered:
                take(other)
        if layer.name in chosen:
            ordered[layer.name] = layer

    for layer in LAYERS.values():
        if layer.name not in ordered:
            take(layer)
    return list(ordered.values())


def layer_settings(sections: Mapping[str, Mapping[str, object]], within: str = "") -> dict[str, LayerSettings]:
    """Settings by the name of the layer, from plain values. An error names the setting that is wrong, by its place:
    `within` is what stands before the name of the layer.
    """
    return {
        name: parse_section(f"{within}{name}", LAYERS.find(name).settings, values) for name, values in sections.items()
    }
