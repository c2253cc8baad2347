"""Passages by PageRank: from the entities that a question names, over the passages that name them, and on.

A question of several hops names its first entity and asks for its last; the passages between share entities, so the
walk finds them where neither words nor vectors do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ragways.index.graph.names import NameMatch
from ragways.index.graph.reader import Graph
from ragways.index.reached import reach, seeds_of
from ragways.index.vectors import Scored, best

_WORD = re.compile(r"\w+")

HOMONYMS = 3
"""Entities of one name that are followed, where the question does not say which it means."""


class _Named(NamedTuple):
    question: str
    names: tuple[NameMatch, ...]
    seeds: dict[str, float]


_last: WeakKeyDictionary[Graph, _Named] = WeakKeyDictionary()
"""The last question and what it names: several steps ask for that."""


def question_seeds(graph: Graph, question: str) -> dict[str, float]:
    """Entities that the question names. One that few passages name says more about where to look than one of many."""
    return dict(_named(graph, question).seeds)


def question_names(graph: Graph, question: str) -> tuple[NameMatch, ...]:
    """Where the question names entities, and which may be meant."""
    return _named(graph, question).names


def _named(graph: Graph, question: str) -> _Named:
    known = _last.get(graph)
    if known is None or known.question != question:
        found = graph.in_question(question)
        names = tuple(name for name in found if _may_be_name(question, name.start, name.end))
        known = _last[graph] = _Named(question, names, _seeds(graph, names))
    return known


def sureness(seeds: Mapping[str, float]) -> float:
    """How much a walk from these entities tells: 1 where a single passage names one of them, little from hubs alone."""
    return math.sqrt(min(1.0, max(seeds.values(), default=0.0)))


def _seeds(graph: Graph, names: Sequence[NameMatch]) -> dict[str, float]:
    seeds: dict[str, float] = {}
    for name in names:
        chosen = name.entities[:HOMONYMS]
        for id, entity in graph.entities(chosen, described=False).items():
            seeds[id] = seeds.get(id, 0.0) + 1.0 / (max(1, entity.chunks) * len(chosen))
    return seeds


def _may_be_name(question: str, start: int, end: int) -> bool:
    """Where a question writes names with capitals, "die" and "place of birth" are none, whatever the corpus has."""
    rest = _WORD.findall(question)[1:]
    if not any(word[:1].isupper() for word in rest):
        return True
    return any(letter.isupper() or letter.isdigit() for letter in question[start:end])


def passages(
    graph: Graph,
    question: str,
    *,
    k: int = 50,
    seeds: Mapping[str, float] | None = None,
    prior: Mapping[str, float] | None = None,
    damping: float = 0.7,
    epsilon: float = 1e-5,
) -> Scored:
    """The k chunks that a walk from the seeds visits most.

    `seeds`: entities with weights, instead of those the question names. `prior`: chunks with weights to start from as
    well (another retriever's scores, scaled to the share they should have beside the seeds' 1). Nothing to start from
    gives nothing.
    """
    chosen = question_seeds(graph, question) if seeds is None else seeds
    total = sum(chosen.values())
    start = {graph.ids[id]: weight / total for id, weight in chosen.items() if weight > 0 and id in graph.ids}
    start |= {graph.places[id]: weight for id, weight in (prior or {}).items() if weight > 0 and id in graph.places}
    if not start:
        return []
    reached = reach(graph.passages, *seeds_of(start), damping=damping, epsilon=epsilon)
    nodes, mass = reached.candidates(k, first=graph.first_chunk)
    scores = mass.astype(np.float32)
    if k < len(scores):
        able = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
        nodes, scores = nodes[able], scores[able]
    return best(graph.chunks.take(nodes - graph.first_chunk), scores, k, minimum=1e-12)
