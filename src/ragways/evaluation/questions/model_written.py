"""Questions that a model writes, from what was drawn from the corpus and the graph."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from random import Random

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.draws import Grouping, bridge_walk, connected, edge, naming, node, random_walk
from ragways.evaluation.questions.source import (
    OTHER_ENTITY,
    SHORTCUT,
    NothingToAsk,
    QuestionDraft,
    QuestionSource,
    SupportingChunk,
    drawn_ways,
    null,
)
from ragways.layers.protocols import GraphEntity, Triplet
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

Writer = Callable[[QuestionSource, Random], Awaitable[QuestionDraft]]
SHOWN = 40
"""Relations of a stretch of the graph that the model is shown."""
TEXTS = 12
"""Chunks behind it that are summarised."""
_END = re.compile(r"(?<=[.!?])\s+|\n+")


def by_template(draft: Callable[[QuestionSource, Random], QuestionDraft]) -> Writer:
    """What a template drafts, which the model then only verifies."""

    async def write(source: QuestionSource, random: Random) -> QuestionDraft:
        return draft(source, random)

    return write


async def factual(source: QuestionSource, random: Random) -> QuestionDraft:
    """From a random chunk."""
    support = (source.support(source.chunk(random)),)
    reply = (await source.use.model.do(QUESTION_FACTUAL, PassagesInput(passages(support)))).value
    return QuestionDraft(reply.question, (reply.answer,), support, path=_chunks(support))


def reasoning(hops: int) -> Writer:
    """From so many documents that a random walk joined by entities which two of them name."""

    async def write(source: QuestionSource, random: Random) -> QuestionDraft:
        support, bridges = bridge_walk(source, random, hops)
        reply = (await source.use.model.do(QUESTION_REASONING, ReasoningInput(passages(support), bridges))).value
        path = (*_chunks(support), *bridges)
        return QuestionDraft(reply.question, (reply.answer,), support, path=path, multi_hop=True)

    return write


async def summary(source: QuestionSource, random: Random) -> QuestionDraft:
    """From the documents around a well-connected entity, if they mean the same."""
    drawn = connected(source, random)
    support = naming(source, drawn)
    given = SummaryInput(drawn.name, passages(support))
    reply = (await source.use.model.do(QUESTION_SUMMARY, given)).value
    if not reply.same:
        raise NothingToAsk(OTHER_ENTITY)
    used = chosen(support, reply.passages)
    return QuestionDraft(reply.question, (reply.answer,), used, path=(drawn.id, *_chunks(used)))


async def entity(source: QuestionSource, random: Random) -> QuestionDraft:
    """From an entity: what it is joined to, and the text that names it."""
    drawn = node(source, random)
    support = naming(source, drawn, minimum=1)
    structure = "\n".join((_described(drawn), *map(_stated, source.graph.triplets([drawn.id], SHOWN))))
    return await _of_structure(source, "node", structure, "", support, (drawn.id,))


async def relation(source: QuestionSource, random: Random) -> QuestionDraft:
    """From a relation: its ends, and the text that states it."""
    triplet, support = edge(source, random)
    ends = source.graph.entities([triplet.subject, triplet.object]).values()
    structure = "\n".join((_stated(triplet), *map(_described, ends)))
    return await _of_structure(source, "edge", structure, "", support, (triplet.id,))


def _described(entity: GraphEntity) -> str:
    """`radiation therapy (treatment): High-energy rays that kill cells.`"""
    return f"{entity.name} ({entity.type or 'entity'})" + (f": {entity.description}" if entity.description else "")


def _stated(triplet: Triplet) -> str:
    return f"{triplet.text}: {triplet.description}" if triplet.description else triplet.text


async def stretch(source: QuestionSource, random: Random) -> QuestionDraft:
    """From a random walk: its relations, and a summary of the text behind them."""
    walk = random_walk(source.graph, random)
    triplets = source.graph.triplets(walk.nodes, SHOWN, induced=True)
    stating = source.graph.relation_chunks([triplet.id for triplet in triplets])
    chunks = dict.fromkeys(chunk for triplet in triplets for chunk in stating.get(triplet.id, [])[:1])
    support = tuple(source.support_of(chunk) for chunk in list(chunks)[:TEXTS])
    if not support:
        raise NothingToAsk
    digest = (await source.use.model.do(QUESTION_DIGEST, PassagesInput(passages(support)))).value
    structure = "\n".join(map(_stated, triplets))
    return await _of_structure(source, "subgraph", structure, digest, support, walk.nodes, walk.note)


async def _of_structure(
    source: QuestionSource,
    level: str,
    structure: str,
    summary: str,
    support: tuple[SupportingChunk, ...],
    path: tuple[str, ...],
    note: str = "",
) -> QuestionDraft:
    given = StructureInput(level, structure, summary, passages(support))
    reply = (await source.use.model.do(QUESTION_STRUCTURE, given)).value
    return QuestionDraft(reply.question, (reply.answer,), chosen(support, reply.passages), path=path, note=note)


def grouped(grouping: Grouping, how: str = "") -> Writer:
    """From a grouped context: a question, and what it evolves into, in a way drawn by weight unless one is given."""

    async def write(source: QuestionSource, random: Random) -> QuestionDraft:
        support = grouping(source, random)
        way = how or drawn_ways(random, source.evolutions)[0]
        first = (await source.use.model.do(QUESTION_CONTEXT, PassagesInput(passages(support)))).value
        given = EvolvedInput(first.question, first.answer, way, passages(support))
        reply = (await source.use.model.do(QUESTION_EVOLVED, given)).value
        used, several = chosen(support, reply.passages), way in ("multi-context", "comparative")
        if several and len(used) < 2:
            raise NothingToAsk(SHORTCUT)
        choice, path = way == "comparative", _chunks(support)
        return QuestionDraft(
            reply.question, (reply.answer,), used, path=path, choice=choice, multi_hop=several, note=way
        )

    return write


def pair(source: QuestionSource, random: Random) -> tuple[SupportingChunk, ...]:
    """A random chunk and the one nearest to it of another document."""
    first = source.chunk(random)
    for id, _ in source.index.vectors.nearest_to(first.id, 20):
        other = source.index.pieces([id]).get(id)
        if other is not None and other.document != first.document:
            return source.support(first), source.support(other)
    raise NothingToAsk


compared = grouped(pair, "comparative")
"""Two texts that are near each other, compared."""


def unanswerable(change: str) -> Writer:
    """From a random chunk, changed so that nothing answers it."""

    async def write(source: QuestionSource, random: Random) -> QuestionDraft:
        piece = source.chunk(random)
        other = source.chunk(random).title if change == "swapped" else ""
        if other and other == piece.title:
            raise NothingToAsk
        support = (source.support(piece),)
        given = UnanswerableInput(passages(support), change, other)
        reply = (await source.use.model.do(QUESTION_UNANSWERABLE, given)).value
        return null(reply.question, support=support, path=(piece.id, other) if other else (piece.id,), note=change)

    return write


def passages(support: Sequence[SupportingChunk]) -> list[tuple[str, str]]:
    """What the model is shown: what is quoted of a chunk, else all of it."""
    return [(one.title, one.quote or one.text) for one in support]


def chosen(support: Sequence[SupportingChunk], numbers: Sequence[int]) -> tuple[SupportingChunk, ...]:
    return tuple(support[number - 1] for number in dict.fromkeys(numbers))


def _chunks(support: Sequence[SupportingChunk]) -> tuple[str, ...]:
    return tuple(one.chunk for one in support)


def quote(support: SupportingChunk, draft: QuestionDraft) -> str:
    """The sentence that shares most words with answer and question, those of the answer first; of equals, the first.

    A sentence, not the chunk: what a paradigm finds may be cut otherwise.
    """
    sentences = [" ".join(sentence.split()) for sentence in _END.split(support.quote or support.text)]
    answer, question = (set(plain_words(text).split()) for text in (" ".join(draft.answers), draft.text))

    def shared(sentence: str) -> tuple[int, int]:
        words = set(plain_words(sentence).split())
        return len(words & answer), len(words & question)

    return max((sentence for sentence in sentences if sentence), key=shared, default="")
