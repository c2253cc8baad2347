"""The one table of layers, in the order they are built in. The structure is always there and is not in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ragways.core.registry import Registry
from ragways.core.section import parse_section
from ragways.layers.layer import Layer
from ragways.layers.settings import LayerSettings

# A process imports those that its index has: a third of what ragways imports is for graph, communities and windows.
LAYERS: Registry[Layer] = Registry(
    "ragways.layers",
    "layer",
    Layer,
    later={
        "vectors": "ragways.layers.vectors:VECTORS",
        "words": "ragways.layers.words:WORDS",
        "windows": "ragways.layers.windows.layer:WINDOWS",
        "graph": "ragways.layers.graph.layer:GRAPH",
        "communities": "ragways.layers.communities.layer:COMMUNITIES",
    },
)
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
    chosen, ordered = set(names), dict[str, Layer]()

    def take(name: str) -> None:
        layer = LAYERS[name]
        for other in LAYERS:
            if other in layer.needs:
                take(other)
        if name in chosen:
            ordered.setdefault(name, layer)

    for name in LAYERS:
        if name in chosen:
            take(name)
    return list(ordered.values())


def layer_settings(sections: Mapping[str, Mapping[str, object]], within: str = "") -> dict[str, LayerSettings]:
    """Settings by the name of the layer, from plain values. An error names the setting that is wrong, by its place:
    `within` is what stands before the name of the layer.
    """
    return {
        name: parse_section(f"{within}{name}", LAYERS.find(name).settings, values) for name, values in sections.items()
    }
