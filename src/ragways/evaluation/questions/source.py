"""What questions are drawn from: the texts, subjects, facts and graph of an index, each read when first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from random import Random
from typing import Any, TypeVar

from ragways.core.errors import UsageError, did_you_mean
from ragways.core.types import Piece
from ragways.evaluation.questions.corpus import CorpusTexts, Subjects, chunk_ids, single
from ragways.evaluation.questions.draft import NothingToAsk, QuestionDraft, SupportingChunk
from ragways.evaluation.questions.facts import Fact, FactIndex
from ragways.layers.protocols import Graph, GraphEntity
from ragways.retrieval.resources import Resources

T = TypeVar("T")
K = TypeVar("K")
MAX_CHAINS = 200_000
SHORTEST = 80
"""Characters of a chunk worth asking about."""
SHARES: Mapping[str, float] = {"reasoning": 0.4, "multi-context": 0.4, "comparative": 0.2}
"""How questions on a context are made harder, with the share of each."""
Chain = tuple[Fact, ...]


def read_shares(text: str) -> Mapping[str, float]:
    """`reasoning` alone, `reasoning, comparative` alike, `reasoning=0.4,comparative=0.2`; empty: the usual."""
    given = dict[str, float]()
    for part in filter(None, (part.strip() for part in text.split(","))):
        way, _, share = part.partition("=")
        try:
            given[way.strip()] = float(share or 1)
        except ValueError:
            raise UsageError(f"{share!r} is no share", "write it as reasoning=0.4") from None
    return checked_shares(given or SHARES)


def checked_shares(shares: Mapping[str, float]) -> Mapping[str, float]:
    """The ways to make questions harder that have a share; an unknown way and a share below 0 are errors."""
    for way, share in shares.items():
        if way not in SHARES:
            raise UsageError(f"there is no way {way!r} to make a question harder", did_you_mean(way, SHARES))
        if not 0 <= share < float("inf"):
            raise UsageError(f"a share of {share} makes no sense", "give 0 or more")
    chosen = {way: share for way, share in shares.items() if share}
    if not chosen:
        raise UsageError("no way to make a question harder has a share", f"choose among {', '.join(SHARES)}")
    return chosen


class QuestionSource:
    """`use` is what steps work with; everything else is made from it, in an order that never changes.

    `evolutions` are the ways to make questions on a context harder, each with its share.
    """

    def __init__(self, use: Resources, evolutions: Mapping[str, float] = SHARES) -> None:
        self.use = use
        self.evolutions = evolutions
        self.index = use.index
        self._once: dict[str, Any] = {}
        self._chains: dict[int, dict[tuple[str, ...], list[Chain]]] = {}
        self._pieces: dict[str, dict[str, Piece]] = {}
        self._sentences: dict[str, tuple[str, ...]] = {}
        self._keys = {id: key for id, key, _ in use.index.documents()}

    @cached_property
    def chunks(self) -> list[str]:
        return chunk_ids(self.index)

    @cached_property
    def texts(self) -> CorpusTexts:
        return CorpusTexts(self.index)

    @cached_property
    def subjects(self) -> Subjects:
        return Subjects(self.texts)

    @cached_property
    def facts(self) -> FactIndex:
        return FactIndex(self.index, self.texts, self.subjects)

    @property
    def graph(self) -> Graph:
        return self.index.graph

    def entity(self, id: str) -> GraphEntity:
        """An entity of the graph, read once."""
        return self.once(f"entity {id}", lambda: self.graph.entities([id])[id])

    def chunk(self, random: Random) -> Piece:
        """A random chunk that is long enough to say something."""
        for _ in range(20):
            if not self.chunks:
                break
            id = random.choice(self.chunks)
            piece = self.piece(id)
            if piece is not None and len(piece.text.strip()) >= SHORTEST:
                return piece
        raise NothingToAsk

    def chunks_of(self, document: str) -> list[Piece]:
        """The chunks of a document in reading order, read once."""
        if document not in self._pieces:
            found = self.index.pieces(self._by_document.get(document, ())).values()
            ordered = sorted(found, key=lambda piece: (piece.start, piece.end, piece.id))
            self._pieces[document] = {piece.id: piece for piece in ordered}
        return list(self._pieces[document].values())

    def piece(self, chunk: str) -> Piece | None:
        document = ":".join(chunk.split(":")[:2])
        if document not in self._pieces:
            self.chunks_of(document)
        return self._pieces[document].get(chunk)

    def sentences(self, chunk: str) -> tuple[str, ...]:
        """The sentences of a chunk, each on one line."""
        if chunk not in self._sentences:
            piece, found = self.piece(chunk), list[str]()
            if piece is not None:
                places = [(start - piece.start, end - piece.start) for start, end in self.index.sentences(piece)]
                found = [" ".join(piece.text[start:end].split()) for start, end in single(piece.text, places)]
            self._sentences[chunk] = tuple(found)
        return self._sentences[chunk]

    @cached_property
    def _by_document(self) -> dict[str, list[str]]:
        return grouped(self.chunks, lambda id: ":".join(id.split(":")[:2]))

    def support(self, piece: Piece, quote: str = "") -> SupportingChunk:
        return SupportingChunk(
            piece.id, piece.document, self._keys.get(piece.document, ""), piece.title, piece.text, quote
        )

    def support_of(self, chunk: str, quote: str = "") -> SupportingChunk:
        piece = self.piece(chunk)
        if piece is None:
            raise NothingToAsk
        return self.support(piece, quote)

    def draft(
        self,
        text: str,
        answers: tuple[str, ...],
        facts: Sequence[Fact],
        names: tuple[str, ...],
        *,
        choice: bool = False,
        multi_hop: bool = False,
        note: str = "",
    ) -> QuestionDraft:
        """A question that rests on facts, each of which has to be the only one of its kind."""
        support = tuple(self.support_of(fact.chunk, fact.quote) for fact in facts)
        ids, accepted = tuple(fact.id for fact in facts), tuple(dict.fromkeys(answers))
        return QuestionDraft(
            text, accepted, support, "", names, ids, ids, choice=choice, multi_hop=multi_hop, note=note
        )

    def chains(self, hops: int) -> dict[tuple[str, ...], list[Chain]]:
        """Facts in a row, each about what the one before leads to and of another document; by their relations."""
        if hops not in self._chains:
            self._chains[hops] = self._enumerate(hops)
        return self._chains[hops]

    def leading_to(self, document: str) -> list[Fact]:
        """Facts whose value is what a document is about."""
        return self.once("leading", lambda: grouped(self.facts.every, lambda fact: fact.leads_to)).get(document, [])

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What drafters make of the whole corpus and need again."""
        if name not in self._once:
            self._once[name] = make()
        value: T = self._once[name]
        return value

    def _enumerate(self, hops: int) -> dict[tuple[str, ...], list[Chain]]:
        chains: list[Chain] = [(fact,) for fact in self.facts.every if fact.leads_to]
        for hop in range(1, hops):
            last = hop == hops - 1
            chains = [
                (*chain, fact)
                for chain in chains
                for fact in self.facts.about.get(chain[-1].leads_to, ())
                if (last or fact.leads_to) and _goes_on(chain, fact)
            ][:MAX_CHAINS]
        return dict(sorted(grouped(chains, lambda chain: tuple(fact.wording.name for fact in chain)).items()))


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by what they share, each in the order given."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _goes_on(chain: Chain, fact: Fact) -> bool:
    """No document twice, no way back, and nothing asked for as `Where is the place where`, `Where is the owner`."""
    seen = {one.subject.id for one in chain} | {one.document for one in chain}
    if fact.document in seen or fact.subject.id in {one.subject.id for one in chain} or fact.leads_to in seen:
        return False
    return not (fact.wording.name == "location" and chain[-1].wording.sort in ("place", "person"))
