"""Questions that a model writes, from what was drawn from the corpus and the graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from random import Random

from ragways.evaluation.questions.bridges import bridge_walk
from ragways.evaluation.questions.draft import NO_MATERIAL, OTHER_ENTITY, Draft, Nothing, Support, null
from ragways.evaluation.questions.entities import around, connected, edge, node, subgraph
from ragways.evaluation.questions.evolution import drawn
from ragways.evaluation.questions.groupings import Grouping
from ragways.evaluation.questions.material import Material
from ragways.evaluation.questions.walk import HOPS
from ragways.index.graph.reader import Triplet
from ragways.tasks.questions import (
    QUESTION_CONTEXT,
    QUESTION_DIGEST,
    QUESTION_EVOLVED,
    QUESTION_FACTUAL,
    QUESTION_REASONING,
    QUESTION_STRUCTURE,
    QUESTION_SUMMARY,
    QUESTION_UNANSWERABLE,
    EvolvedInput,
    PassagesInput,
    ReasoningInput,
    StructureInput,
    SummaryInput,
    UnanswerableInput,
)

Writer = Callable[[Material, Random], Awaitable[Draft]]
SHOWN = 40
"""Relations of a stretch of the graph that the model is shown."""
TEXTS = 12
"""Chunks behind it that are summarised."""


async def factual(material: Material, random: Random) -> Draft:
    """From a random chunk."""
    support = (material.support(material.chunk(random)),)
    said = (await material.use.model.do(QUESTION_FACTUAL, PassagesInput(passages(support)))).value
    return Draft(said.question, (said.answer,), support, path=_chunks(support))


def reasoning(hops: int) -> Writer:
    """From so many documents that a random walk joined by entities which two of them name."""

    async def write(material: Material, random: Random) -> Draft:
        walk = bridge_walk(material, random, hops)
        given = ReasoningInput(passages(walk.support), walk.bridges)
        said = (await material.use.model.do(QUESTION_REASONING, given)).value
        path = (*_chunks(walk.support), *walk.bridges)
        return Draft(said.question, (said.answer,), walk.support, path=path, multi_hop=True)

    return write


async def summary(material: Material, random: Random) -> Draft:
    """From the documents around a well-connected entity, if they mean the same."""
    found = around(material, connected(material, random))
    given = SummaryInput(found.entity.name, passages(found.support))
    said = (await material.use.model.do(QUESTION_SUMMARY, given)).value
    if not said.same:
        raise Nothing(OTHER_ENTITY)
    used = chosen(found.support, said.passages)
    return Draft(said.question, (said.answer,), used, path=(found.entity.id, *_chunks(used)))


async def entity(material: Material, random: Random) -> Draft:
    """From an entity: what it is joined to, and the text that names it."""
    one = node(material, random)
    support = around(material, one, least=1).support
    structure = "\n".join([f"{one.name} ({one.type or 'entity'})", *_lines(material.graph.triplets([one.id], SHOWN))])
    return await _of_structure(material, "node", structure, "", support, (one.id,))


async def relation(material: Material, random: Random) -> Draft:
    triplet, support = edge(material, random)
    return await _of_structure(material, "edge", "\n".join(_lines([triplet])), "", (support,), (triplet.id,))


async def stretch(material: Material, random: Random) -> Draft:
    """From a random walk: its relations, and a summary of the text behind them."""
    walk = subgraph(material, random)
    ids = [material.graph.ids[n] for n in walk.nodes]
    triplets = material.graph.induced(ids, SHOWN)
    stating = material.graph.relation_chunks([triplet.id for triplet in triplets])
    chunks = dict.fromkeys(chunk for triplet in triplets for chunk in stating.get(triplet.id, [])[:1])
    support = tuple(material.support_of(chunk) for chunk in list(chunks)[:TEXTS])
    if not support:
        raise Nothing(NO_MATERIAL)
    digest = (await material.use.model.do(QUESTION_DIGEST, PassagesInput(passages(support)))).value
    note = "" if walk.whole else f"the walk reached {len(walk.edges)} edges of {HOPS}"
    return await _of_structure(material, "subgraph", "\n".join(_lines(triplets)), digest, support, tuple(ids), note)


async def _of_structure(
    material: Material,
    level: str,
    structure: str,
    summary: str,
    support: tuple[Support, ...],
    path: tuple[str, ...],
    note: str = "",
) -> Draft:
    given = StructureInput(level, structure, summary, passages(support))
    said = (await material.use.model.do(QUESTION_STRUCTURE, given)).value
    return Draft(said.question, (said.answer,), chosen(support, said.passages), path=path, note=note)


def grouped(grouping: Grouping, how: str = "") -> Writer:
    """From a grouped context: a question, and what it evolves into, in a way drawn by weight unless one is given."""

    async def write(material: Material, random: Random) -> Draft:
        support = grouping(material, random)
        way = how or drawn(random)[0]
        first = (await material.use.model.do(QUESTION_CONTEXT, PassagesInput(passages(support)))).value
        given = EvolvedInput(first.question, first.answer, way, passages(support))
        said = (await material.use.model.do(QUESTION_EVOLVED, given)).value
        used = chosen(support, said.passages)
        return Draft(said.question, (said.answer,), used, path=_chunks(support), choice=way == "comparative", note=way)

    return write


def pair(material: Material, random: Random) -> tuple[Support, ...]:
    """A random chunk and the one nearest to it of another document."""
    first = material.chunk(random)
    vectors = material.index.vectors
    at = vectors.ids.index(first.id)
    for id, _ in vectors.search(vectors.matrix[at], 20):
        other = material.index.pieces([id]).get(id)
        if other is not None and other.document != first.document:
            return material.support(first), material.support(other)
    raise Nothing(NO_MATERIAL)


compared = grouped(pair, "comparative")
"""Two texts that are near each other, compared."""


def unanswerable(change: str) -> Writer:
    """From a random chunk, changed so that nothing answers it."""

    async def write(material: Material, random: Random) -> Draft:
        piece = material.chunk(random)
        other = material.chunk(random).title if change == "swapped" else ""
        if other and other == piece.title:
            raise Nothing(NO_MATERIAL)
        support = (material.support(piece),)
        given = UnanswerableInput(passages(support), change, other)
        said = (await material.use.model.do(QUESTION_UNANSWERABLE, given)).value
        return null(said.question, support=support, path=(piece.id, other) if other else (piece.id,), note=change)

    return write


def passages(support: Sequence[Support]) -> list[tuple[str, str]]:
    """What the model is shown: what is quoted of a chunk, else all of it."""
    return [(one.title, one.quote or one.text) for one in support]


def chosen(support: Sequence[Support], numbers: Sequence[int]) -> tuple[Support, ...]:
    return tuple(support[number - 1] for number in dict.fromkeys(numbers))


def _chunks(support: Sequence[Support]) -> tuple[str, ...]:
    return tuple(one.chunk for one in support)


def _lines(triplets: Sequence[Triplet]) -> list[str]:
    return [triplet.text for triplet in triplets]
