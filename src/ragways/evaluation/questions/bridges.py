"""Random walks over documents: from one to the next by an entity that both name."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from ragways.evaluation.questions.draft import NO_MATERIAL, Nothing, Support
from ragways.evaluation.questions.entities import nameable
from ragways.evaluation.questions.material import Material

MOST_CHUNKS = 30
"""Chunks that may name a bridge: what is named everywhere joins nothing."""


@dataclass(frozen=True, slots=True)
class BridgeWalk:
    """Documents in order, and between each two the name that joins them."""

    support: tuple[Support, ...]
    bridges: tuple[str, ...]


def bridge_walk(material: Material, random: Random, documents: int) -> BridgeWalk:
    """So many documents, none twice and no bridge twice; `Nothing` where the walk cannot go on."""
    piece = material.chunk(random)
    support, bridges, seen = [material.support(piece)], list[str](), {piece.document}
    while len(support) < documents:
        steps = _steps(material, support[-1].chunk, seen, bridges)
        if not steps:
            raise Nothing(NO_MATERIAL)
        name, chunk = random.choice(steps)
        support.append(material.support_of(chunk))
        bridges.append(name)
        seen.add(support[-1].document)
    return BridgeWalk(tuple(support), tuple(bridges))


def _steps(material: Material, chunk: str, seen: set[str], bridges: list[str]) -> list[tuple[str, str]]:
    """Where a chunk leads: names in it, each with a chunk of another document that names it too."""
    graph = material.graph
    named = [id for id, _ in graph.mentioned([chunk], 50)]
    found = []
    for entity in graph.entities(named).values():
        if not 2 <= entity.chunks <= MOST_CHUNKS or entity.name in bridges or not nameable(material, entity):
            continue
        others = [id for id, _ in graph.mentions([entity.id], MOST_CHUNKS) if ":".join(id.split(":")[:2]) not in seen]
        found += [(entity.name, others[0])] if others else []
    return sorted(found)
