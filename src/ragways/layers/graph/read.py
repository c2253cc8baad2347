"""The graph as paradigms read it: they say what they want of it, and get ids. All lists are bounded and best first;
equal ones go by number, which is the same in every history.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.layers.graph.csr import (
    UNSIGNED,
    WIDE,
    Floats,
    GraphArrays,
    Ints,
    Relations,
    distinct,
    firsts,
    largest,
    places_between,
    places_in,
    rows_of,
)
from ragways.layers.graph.names import TOKEN, NameMatch, fold, hash_of, name_spans
from ragways.layers.graph.texts import ChunkIds, EntityTexts, Meanings, NameWords, RelationTexts
from ragways.layers.graph.walk import (
    Adjacency,
    PassageLinks,
    Reached,
    RelationLinks,
    Strengths,
    mention_weights,
    pagerank,
    reach,
    shortest_paths,
)
from ragways.layers.layer import Scored
from ragways.layers.protocols import (
    LIMIT,
    Around,
    Edge,
    Graph,
    GraphEntity,
    Leading,
    RankedEdge,
    SourceChunk,
    Triplet,
)
from ragways.layers.vectors import StoredVectors
from ragways.store.store import Store

EXACT = 2_000
"""Nodes up to which power iteration is as quick as pushing; beyond it, work must not grow with the graph."""
NEAR = 5e-5
"""How fine PageRank is on a large graph. On that of 2Wiki, 95 of the 100 best are then those of the exact one.
A coarser one saves little and misses the shares themselves by more.
"""
STATED = 20_000
"""Places where relations are stated that are looked at: a relation of two hubs is stated all over a large corpus."""
HOMONYMS = 3
"""Entities of one name that are followed, where the question does not say which it means."""
FAR = 3
"""Relations between two entities that have nothing to do with each other, or more."""
_NEIGHBOURS = 2000  # of an entity that are looked at for `hops`
_SAME = 1.0
"""Two vectors of one text have a cosine of 1 give or take their rounding, which must not decide on an order."""
_WORD_LIMIT = 400  # of a question that are looked at
_NAME_WORDS = 20  # of a name that are looked for
_PREFIXED = 5000  # names with one beginning that are looked at: a letter alone begins a million
_WORD = re.compile(r"\w+")


ENTITIES, RELATIONS = "entities", "relations"


def load_vectors(view: Path, name: str) -> StoredVectors | None:
    """The vectors of entities or relations of a view, where it has them."""
    return StoredVectors.load(view, name) if (view / f"{name}.npy").is_file() else None


class StoredGraph(Graph):
    """Read-only: what each method answers is written at `Graph`. Rows are read from the store, at the commit that its
    connection reads.
    """

    def __init__(
        self,
        arrays: GraphArrays,
        store: Store,
        *,
        strengths: Strengths | None = None,
        words: NameWords | None = None,
        vectors: StoredVectors | None = None,
        relation_vectors: StoredVectors | None = None,
    ) -> None:
        """`vectors`, of entities and of relations: where the index has them. What is not given is made."""
        self.arrays = arrays
        """For views that are made of the graph; paradigms ask by the methods."""
        self._store = store
        self._strengths = Strengths.of(arrays) if strengths is None else strengths
        self._words = NameWords.of(arrays) if words is None else words
        self.vectors, self.relation_vectors = vectors, relation_vectors
        meanings = Meanings(arrays)
        self._texts = EntityTexts(arrays, store, meanings)
        self._relation_texts = RelationTexts(arrays, store, meanings)
        self._relations = Relations(arrays)
        self._chunks = ChunkIds(arrays, store)
        self._last: tuple[str, tuple[NameMatch, ...], dict[str, float]] | None = None

    @classmethod
    def open(cls, view: Path, store: Store) -> StoredGraph:
        """The graph of a view: arrays are mapped, and next to nothing is read."""
        return cls(
            GraphArrays.load(view), store, strengths=Strengths.load(view), words=NameWords.load(view),
            vectors=load_vectors(view, ENTITIES), relation_vectors=load_vectors(view, RELATIONS),
        )  # fmt: skip

    def only(self, documents: frozenset[int]) -> StoredGraph:
        """The graph of what these documents say; what only others say is not in it."""
        part = self.arrays.only(documents)
        made = StoredGraph(part, self._store, words=self._words)
        if self.vectors is not None:
            there = part.numbers(self.vectors.ids)
            made.vectors = self.vectors.only(np.array([id in there for id in self.vectors.ids], np.bool_))
        if self.relation_vectors is not None:
            known = made._relations.numbers(self.relation_vectors.ids)
            made.relation_vectors = self.relation_vectors.only(known >= 0)
        return made

    # Entities

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.arrays.number(id) >= 0

    def entities(self, ids: Collection[str], *, described: bool = True) -> dict[str, GraphEntity]:
        wanted = self.arrays.numbers(ids)
        numbers = np.array(list(wanted.values()), np.int64)
        texts = self._texts.of(numbers.tolist())
        descriptions = self._texts.descriptions(numbers.tolist()) if described else {}
        chunks = self.arrays.naming_begins[numbers + 1] - self.arrays.naming_begins[numbers]
        columns = zip(wanted.items(), self.arrays.counts[numbers].tolist(), chunks.tolist(), strict=True)
        return {
            id: GraphEntity(
                id, texts[number].name, texts[number].type, descriptions.get(number, ""), texts[number].aliases, count,
                named, texts[number].way,
            )
            for (id, number), count, named in columns
        }  # fmt: skip

    def entity_at(self, number: int) -> str:
        return self.arrays.ids([number])[0]

    def named(self, text: str, limit: int = 20) -> list[str]:
        own, others = self.arrays.called(self.arrays.name(fold(text)))
        return self.arrays.ids(np.concatenate([own, others])[:limit])

    def beginning(self, text: str, limit: int = 20) -> list[str]:
        start, text_of = fold(text), self.arrays.text
        names = self._words.beginning(start)[:_PREFIXED]
        able = [name for name in names.tolist() if text_of(name).startswith(start)]
        entities = distinct(self._called(np.array(able, np.int64))[0])
        return self.arrays.ids(entities[largest(self.arrays.counts[entities], limit)])

    def matching(self, words: Collection[str], limit: int = 5) -> Scored:
        names = self._words.holding(sorted(set(words))[:_NAME_WORDS]).astype(np.int64)
        called, which = self._called(names)
        lengths = np.array([1 + self.arrays.text(name).count(" ") for name in names.tolist()], np.int64)[which]
        order = np.lexsort((lengths, called))
        first = order[firsts(called[order])]  # the shortest name of each
        entities, shares = called[first], len(set(words)) / lengths[first]
        order = largest(shares, limit)
        return list(zip(self.arrays.ids(entities[order]), shares[order].tolist(), strict=True))

    def _called(self, names: Ints) -> tuple[Ints, Ints]:
        """Entities with these names, own or other ones, and for each which of the names it is."""
        arrays, which = self.arrays, np.arange(len(names))
        own, counts = places_between(*np.searchsorted(arrays.codes, [names * WIDE, (names + 1) * WIDE]))
        aliases, more = places_between(*np.searchsorted(arrays.alias_names, [names, names + 1]))
        others = arrays.alias_entities[aliases].astype(np.int64)
        return np.concatenate([own, others]), np.concatenate([np.repeat(which, counts), np.repeat(which, more)])

    def in_question(self, question: str, limit: int = 50) -> list[NameMatch]:
        matches = list(TOKEN.finditer(question))[:_WORD_LIMIT]
        words = [match.group() for match in matches]
        spans = name_spans(words)
        known = self._known({form for _, _, forms in spans for form in forms})
        found, here = [], 0
        for i, j, forms in spans:
            if i < here or _bare_number(words[i:j]):
                continue
            bare = j - i == 1 and (i == 0 or not words[i][:1].isupper())
            names = (known[form] for form in forms if form in known)
            ids = next((ids for name in names if (ids := self._named_by(name, everyday=not bare))), None)
            if ids:
                found.append(NameMatch(matches[i].start(), matches[j - 1].end(), ids))
                here = j
        return found[:limit]

    def _known(self, forms: Collection[str]) -> dict[str, int]:
        """Those of these that are names of the graph, with their numbers."""
        hashes = np.array([hash_of(text) & UNSIGNED for text in forms], np.uint64)
        found = zip(forms, places_in(self.arrays.names, hashes).tolist(), strict=True)
        return {text: place for text, place in found if place >= 0}

    def _named_by(self, name: int, *, everyday: bool) -> tuple[str, ...]:
        """Entities of a name. Everyday words count where they are written as names are."""
        if not everyday and self.arrays.everyday[name]:
            return ()
        return tuple(self.arrays.ids(np.concatenate(self.arrays.called(name))))

    @property
    def has_vectors(self) -> bool:
        return self.vectors is not None

    def nearest(self, vector: NDArray[np.float32], k: int = 20, minimum: float = 0.4) -> Scored:
        return self.vectors.search(vector, k, minimum=minimum, most=_SAME) if self.vectors is not None else []

    def cosines(self, vector: NDArray[np.float32], ids: Collection[str]) -> dict[str, float]:
        found = self.vectors.cosines(vector, ids) if self.vectors is not None else {}
        return {id: min(cosine, _SAME) for id, cosine in found.items()}

    @property
    def has_relation_vectors(self) -> bool:
        return self.relation_vectors is not None

    def nearest_relations(self, vector: NDArray[np.float32], k: int = 20, minimum: float = 0.4) -> Scored:
        return self.relation_vectors.search(vector, k, minimum=minimum) if self.relation_vectors is not None else []

    # Names in a question

    def question_seeds(self, question: str) -> dict[str, float]:
        return dict(self._of_question(question)[2])

    def question_names(self, question: str) -> tuple[NameMatch, ...]:
        return self._of_question(question)[1]

    def _of_question(self, question: str) -> tuple[str, tuple[NameMatch, ...], dict[str, float]]:
        """Several steps ask for that of one question."""
        if self._last is None or self._last[0] != question:
            found = self.in_question(question)
            names = tuple(name for name in found if _may_be_name(question, name.start, name.end))
            self._last = question, names, self._seeds(names)
        return self._last

    def _seeds(self, names: Sequence[NameMatch]) -> dict[str, float]:
        seeds: dict[str, float] = {}
        numbers = self.arrays.numbers({id for name in names for id in name.entities[:HOMONYMS]})
        for name in names:
            chosen = name.entities[:HOMONYMS]
            for id in sorted(chosen):
                begin, end = self.arrays.naming_begins[numbers[id] : numbers[id] + 2].tolist()
                seeds[id] = seeds.get(id, 0.0) + 1.0 / (max(1, end - begin) * len(chosen))
        return seeds

    # Relations

    def triplets(self, ids: Collection[str], limit: int = LIMIT, *, induced: bool = False) -> list[Triplet]:
        numbers = self._heaviest(ids, limit, induced).tolist()
        found = self.relations_at(numbers)
        return [found[number] for number in numbers if number in found]

    def edges(self, ids: Collection[str], limit: int = LIMIT, *, induced: bool = False) -> list[Edge]:
        arrays, numbers = self.arrays, self._heaviest(ids, limit, induced)
        ends = (arrays.ids(arrays.subjects[numbers]), arrays.ids(arrays.objects[numbers]))
        weights = (arrays.weights[numbers] / 1e6).tolist()
        return [Edge(*row) for row in zip(self._relations.ids(numbers), *ends, weights, strict=True)]

    def _heaviest(self, ids: Collection[str], limit: int, induced: bool) -> Ints:
        relations, entities = self._relations, self._places(ids)
        return relations.heaviest(relations.joining(entities) if induced else relations.touching(entities), limit)

    def count_induced(self, ids: Collection[str]) -> int:
        return len(self._relations.joining(self._places(ids)))

    def relations(self, ids: Collection[str], *, described: bool = True) -> dict[str, Triplet]:
        numbers = self._relations.numbers(sorted(set(ids)))
        found = self.relations_at(numbers[numbers >= 0].tolist(), described=described)
        return {triplet.id: triplet for triplet in found.values()}

    def relations_at(self, numbers: Collection[int], *, described: bool = True) -> dict[int, Triplet]:
        arrays = self.arrays
        wanted = np.array(sorted(set(numbers)), np.int64)
        texts = self._relation_texts.of(wanted, described=described)
        ids = self._relations.ids(wanted)
        subjects, objects = arrays.subjects[wanted].tolist(), arrays.objects[wanted].tolist()
        names = self._texts.of({*subjects, *objects})
        ends = dict(zip(names, arrays.ids(list(names)), strict=True))
        weights = (arrays.weights[wanted] / 1e6).tolist()
        return {
            number: Triplet(
                id, ends[subject], names[subject].name, text.predicate, ends[object], names[object].name,
                text.description, weight, text.date, text.way,
            )
            for number, id, subject, object, weight in zip(
                wanted.tolist(), ids, subjects, objects, weights, strict=True
            )
            if (text := texts.get(number)) is not None
        }  # fmt: skip

    def neighbours(self, id: str, limit: int = LIMIT) -> list[tuple[str, float]]:
        if (place := self.arrays.number(id)) < 0:
            return []
        nodes, weights = self._links.neighbours(place)
        best = largest(weights, limit)
        return list(zip(self.arrays.ids(nodes[best]), weights[best].tolist(), strict=True))

    def degrees(self, ids: Collection[str]) -> dict[str, int]:
        numbers = self.arrays.numbers(ids)
        counts = self._links.degrees_of(np.array(list(numbers.values()), np.int64))
        return dict(zip(numbers, counts.tolist(), strict=True))

    def hops(self, groups: Sequence[Collection[str]]) -> list[int]:
        meant = [frozenset(self.arrays.numbers(group).values()) for group in groups]
        near = [
            frozenset(other for one in group for other in self._links.neighbours(one)[0][:_NEIGHBOURS].tolist())
            for group in meant
        ]
        return [
            0 if meant[one] & meant[other] else 1 if near[one] & meant[other] else 2 if near[one] & near[other] else FAR
            for one, other in combinations(range(len(meant)), 2)
        ]

    def paths(self, start: str, end: str, limit: int = 5) -> list[list[str]] | None:
        ends = self.arrays.number(start), self.arrays.number(end)
        if min(ends) < 0:
            return None
        return [self.arrays.ids(way) for way in shortest_paths(self._links, *ends, limit=limit)]

    def around(self, id: str, hops: int, limit: int) -> tuple[dict[str, Around], int]:
        links = self._links
        border = np.array([self.arrays.number(id)], np.int64)
        seen = np.zeros(len(links), np.bool_)
        seen[border] = True
        rows: list[tuple[int, int, float, int]] = [(int(border[0]), 0, 0.0, -1)]
        reached = 1
        for hop in range(1, hops + 1):
            owners, nodes, weights = links.merged(border)
            new = ~seen[nodes]
            nodes, weights, inwards = nodes[new], weights[new], border[owners[new]]
            order = np.lexsort((inwards, weights, nodes))
            border, first = np.unique(nodes[order], return_index=True)
            border = border.astype(np.int64)
            heaviest = order[np.append(first[1:], len(order)) - 1] if len(order) else order
            total = np.add.reduceat(weights[order], first) if len(order) else weights
            seen[border] = True
            reached += len(border)
            best = largest(total, limit - len(rows))
            through = inwards[heaviest[best]]
            rows += zip(border[best].tolist(), [hop] * len(best), total[best].tolist(), through.tolist(), strict=True)
        rows = rows[:limit]
        ids = dict(zip([row[0] for row in rows], self.arrays.ids([row[0] for row in rows]), strict=True))
        return {ids[node]: Around(hop, weight, ids.get(by, "")) for node, hop, weight, by in rows}, reached

    def most_connected(self, count: int) -> list[tuple[str, int]]:
        edges = self._links.counts_of(np.arange(len(self._links)))
        border = int(np.partition(edges, -count)[-count]) if count < len(edges) else 1
        while True:
            nodes = np.flatnonzero(edges >= max(border, 1))
            degrees = self._links.degrees_of(nodes)
            enough = int(np.partition(degrees, -count)[-count]) if count <= len(nodes) else 0
            if border <= max(enough, 1):
                best = largest(degrees, count)
                best = best[degrees[best] > 0]
                return list(zip(self.arrays.ids(nodes[best]), degrees[best].tolist(), strict=True))
            border = enough

    def heaviest_links(self, ids: Sequence[str], limit: int) -> tuple[Ints, Ints, Floats]:
        numbers = self.arrays.numbers(ids)
        nodes = np.array([numbers[id] for id in ids], np.int64)
        place = np.full(len(self._links), -1, np.int64)
        place[nodes] = np.arange(len(nodes))
        left, targets, weights = self._links.merged(nodes)
        right = place[targets]
        once = np.flatnonzero(right > left)
        chosen = once[largest(weights[once], limit)]
        return left[chosen], right[chosen], weights[chosen]

    # Walks over entities

    @property
    def walks_exactly(self) -> bool:
        return len(self.arrays) <= EXACT

    def walk(
        self,
        seeds: Mapping[str, float],
        *,
        damping: float = 0.85,
        rounds: int = 100,
        minimum: float = 1e-5,
        keep: int = 100,
        weighted: bool = True,
    ) -> dict[str, float]:
        if not seeds:
            return {}
        links = self._links if weighted else self._links.compact.unweighted
        known = self.arrays.numbers(seeds)
        numbers = {known[id]: score for id, score in seeds.items()}
        positive = {node: score for node, score in numbers.items() if score > 0} or dict.fromkeys(numbers, 1.0)
        if self.walks_exactly:
            start = np.zeros(len(links))
            start[list(positive)] = list(positive.values())
            mass = pagerank(links, start, damping=damping, rounds=rounds)
            reached = Reached(links, np.arange(len(links)), mass, 0.0)
        else:
            reached = reach(links, positive, damping=damping, epsilon=NEAR)
        chosen = np.union1d(reached.best(keep, minimum=minimum)[0], list(numbers))
        shares = reached.of(chosen)
        order = np.argsort(-shares, kind="stable")
        return dict(zip(self.arrays.ids(chosen[order]), shares[order].tolist(), strict=True))

    def rank_edges(self, shares: Mapping[str, float], likeness: Mapping[str, float], limit: int) -> list[RankedEdge]:
        known = self.arrays.numbers(shares)
        nodes = np.array(list(known.values()), np.int64)
        numbers = self._relations.joining(nodes)
        ends = self._relations.of_ends(numbers, nodes, [shares[id] for id in known], [likeness[id] for id in known])
        share, alike = np.add(*ends[0]), np.maximum(*ends[1])
        order = np.lexsort((numbers, -self.arrays.weights[numbers], -share, -alike))[:limit]
        rows = zip(self._relations.ids(numbers[order]), alike[order].tolist(), share[order].tolist(), strict=True)
        return [RankedEdge(*row) for row in rows]

    def sources(
        self,
        relations: Sequence[tuple[str, float]],
        k: int,
        *,
        entities: Sequence[tuple[str, float]] = (),
        mentions: int = 50,
        likeness: Sequence[float] = (),
    ) -> list[SourceChunk]:
        numbers = self._relations.numbers([id for id, _ in relations])
        scores = np.array([score for _, score in relations], np.float64)
        stating, which = self._relations.sources(numbers, STATED)
        naming = [self._naming(place, mentions) for place in self.arrays.numbers([id for id, _ in entities]).values()]
        chunks = np.concatenate([stating, *naming])
        of = np.repeat(np.arange(len(naming)) + len(scores), [len(some) for some in naming])
        scores = np.concatenate([scores, np.array([score for _, score in entities], np.float64)])
        found, first, total = _summed(chunks, np.concatenate([which, of]).astype(np.int64), scores)
        by = np.concatenate([which, of])[first].astype(np.int64)
        keys = (-total,) if not len(likeness) else (-total, -np.asarray(likeness)[by])
        order = np.lexsort((found, *keys))[:k]
        ids = self._chunks.of(found[order])
        rows = zip(found[order].tolist(), total[order].tolist(), by[order].tolist(), strict=True)
        return [SourceChunk(ids[chunk], score, relation) for chunk, score, relation in rows if chunk in ids]

    # Walks over entities and passages

    def passages(
        self,
        seeds: Mapping[str, float],
        *,
        k: int = 50,
        prior: Mapping[str, float] | None = None,
        damping: float = 0.7,
        epsilon: float = 1e-5,
    ) -> Scored:
        start = self._start(seeds)
        size = len(self.arrays)
        weights = {id: weight for id, weight in (prior or {}).items() if weight > 0}
        start |= {size + chunk: weights[id] for id, chunk in self._chunks.numbers(weights).items()}
        if not start:
            return []
        reached = reach(self._passages, start, damping=damping, epsilon=epsilon)
        # A few more than k: those whose documents are gone are left out.
        nodes, mass = reached.best(k + _SPARE, minimum=1e-12, first=size)
        scores = mass.astype(np.float32)
        order = np.lexsort((nodes, -scores))
        return self._scored(nodes[order] - size, scores[order], k)

    def walked_entities(self, seeds: Mapping[str, float], k: int) -> Scored:
        start = self._start(seeds)
        if not start:
            return []
        nodes, mass = reach(self._passages, start).best(k, end=len(self.arrays))
        there = mass > 0
        return list(zip(self.arrays.ids(nodes[there]), mass[there].tolist(), strict=True))

    def _start(self, seeds: Mapping[str, float]) -> dict[int, float]:
        """Nodes of entities with weights that make 1 together."""
        total = sum(seeds.values())
        return {number: seeds[id] / total for id, number in self.arrays.numbers(seeds).items() if seeds[id] > 0}

    def leading(self, chunks: Collection[str], shared: int, articles: int) -> dict[str, dict[str, list[Leading]]]:
        known = self._chunks.numbers(chunks)
        links = [(chunk, *link) for chunk, place in known.items() for link in self._leading(place, shared, articles)]
        others = np.concatenate([row for _, _, row, _ in links]) if links else np.zeros(0, np.int64)
        ids = self._chunks.of(others)
        entities = self.arrays.ids([entity for _, entity, _, _ in links])
        found: dict[str, dict[str, list[Leading]]] = {chunk: {} for chunk in chunks}
        for id, (chunk, _, targets, own) in zip(entities, links, strict=True):
            rows = zip(targets.tolist(), own.tolist(), strict=True)
            if leads := [Leading(ids[target], about) for target, about in rows if target in ids]:
                found[chunk][id] = leads
        return found

    def _leading(self, chunk: int, shared: int, articles: int) -> Iterator[tuple[int, Ints, NDArray[np.bool_]]]:
        arrays = self.arrays
        row = slice(*arrays.named_begins[chunk : chunk + 2].tolist())
        entities = arrays.named_entities[row][~arrays.named_own[row]]
        entities = entities[self._passages.joins(entities)]
        for entity in entities.tolist():
            row = slice(*arrays.naming_begins[entity : entity + 2].tolist())
            others, own = arrays.naming_chunks[row].astype(np.int64), arrays.naming_own[row]
            if len(others) > shared:
                others, own = others[own][:articles], own[own][:articles]
            there = others != chunk
            if there.any():
                yield entity, others[there], own[there]

    # Chunks

    def mentions(self, ids: Collection[str], limit: int = LIMIT) -> Scored:
        places, _ = rows_of(self.arrays.naming_begins, self._places(ids))
        chunks, counts = _counted(self.arrays.naming_chunks[places], self.arrays.naming_times[places])
        order = largest(counts, limit + _SPARE)
        return self._scored(chunks[order], counts[order].astype(np.float64), limit)

    def mentioned(self, chunks: Collection[str], limit: int = LIMIT) -> Scored:
        numbers = np.array(sorted(self._chunks.numbers(chunks).values()), np.int64)
        places, _ = rows_of(self.arrays.named_begins, numbers)
        entities, counts = _counted(self.arrays.named_entities[places], self.arrays.named_times[places])
        best = largest(counts, limit)
        return list(zip(self.arrays.ids(entities[best]), counts[best].astype(float).tolist(), strict=True))

    def naming(self, id: str, limit: int) -> list[str]:
        if (place := self.arrays.number(id)) < 0:
            return []
        chunks = self._naming(place, limit)
        ids = self._chunks.of(chunks)
        return [ids[chunk] for chunk in chunks.tolist() if chunk in ids]

    def _naming(self, entity: int, limit: int) -> Ints:
        arrays = self.arrays
        row = slice(*arrays.naming_begins[entity : entity + 2].tolist())
        chunks, weights = arrays.naming_chunks[row], mention_weights(arrays.naming_times[row], arrays.naming_own[row])
        if not self._passages.joins(np.array([entity]))[0]:
            return np.zeros(0, np.int64)
        return chunks[largest(weights, limit)].astype(np.int64)

    def relation_chunks(self, relations: Collection[str], limit: int | None = None) -> dict[str, list[str]]:
        ids = sorted(set(relations))
        chunks, which = self._relations.sources(self._relations.numbers(ids), each=limit)
        known = self._chunks.of(chunks)
        found: dict[str, list[str]] = {}
        for chunk, place in zip(chunks.tolist(), which.tolist(), strict=True):
            if chunk in known:
                found.setdefault(ids[place], []).append(known[chunk])
        return found

    # All of it

    def counts(self) -> dict[str, int]:
        arrays = self.arrays
        return {"entities": len(arrays), "relations": len(arrays.weights), "mentions": len(arrays.naming_chunks)}

    @property
    def in_order(self) -> Adjacency:
        """Entities joined by relations: node i is `entity_at(i)`. For what goes over all of them."""
        return self._links.compact

    def ranks(self) -> Floats:
        return pagerank(self.in_order, np.ones(len(self.arrays)), tolerance=1e-6)

    def names(self) -> Iterator[str]:
        return map(self.arrays.text, distinct(self.arrays.codes // WIDE).tolist())

    def named_elsewhere(self) -> frozenset[int]:
        """Numbers of the documents about an entity that a passage of another document names."""
        arrays = self.arrays
        entities = np.repeat(np.arange(len(arrays)), np.diff(arrays.naming_begins))
        documents = arrays.document_of(arrays.naming_chunks)
        own = np.full(len(arrays), -1, np.int64)
        own[entities[arrays.naming_own]] = documents[arrays.naming_own]
        named = own[entities[(own[entities] >= 0) & (own[entities] != documents)]]
        return frozenset(arrays.documents[np.unique(named)].tolist())

    def chunk_ids(self) -> list[str]:
        return list(self._chunks.of(np.arange(self.arrays.chunks)).values())

    def merges(self) -> Iterator[tuple[str, str, str, str, int]]:
        for begin in range(0, len(self.arrays), LIMIT):
            some = range(begin, min(begin + LIMIT, len(self.arrays)))
            ids = dict(zip(some, self.arrays.ids(some), strict=True))
            for entity, rows in self._texts.merges(some).items():
                yield from ((ids[entity], *row) for row in rows)

    # Numbers

    @cached_property
    def _links(self) -> RelationLinks:
        return RelationLinks(self.arrays, self._strengths)

    @cached_property
    def _passages(self) -> PassageLinks:
        return PassageLinks(self.arrays, self._strengths)

    def _places(self, ids: Iterable[str]) -> Ints:
        """The numbers of entities, in order."""
        return np.array(sorted(self.arrays.numbers(ids).values()), np.int64)

    def _scored(self, chunks: Ints, scores: NDArray[np.floating], limit: int) -> Scored:
        ids = self._chunks.of(chunks[: limit + _SPARE])
        rows = zip(chunks.tolist(), scores.tolist(), strict=True)
        return [(ids[chunk], float(score)) for chunk, score in rows if chunk in ids][:limit]


_SPARE = 20
"""Chunks that are looked up beyond those that are asked for: some may be gone."""


def _summed(chunks: Ints, which: Ints, scores: Floats) -> tuple[Ints, Ints, Floats]:
    """Each chunk once, where it stands first, and all of its scores in sum: to the last bit, whatever their order.
    `which`: of each place of `chunks`, which of the scores is its own.
    """
    if not len(chunks):
        return chunks, which, scores[:0]
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(scores, kind="stable")] = np.arange(len(scores))
    order = np.argsort(chunks * len(scores) + ranks.take(which), kind="stable")  # the smallest are added first
    known = chunks.take(order)
    begins = firsts(known)
    total = np.add.reduceat(scores.take(which.take(order)), begins)
    return known.take(begins), np.minimum.reduceat(order, begins), total


def _counted(numbers: NDArray[np.integer], counts: NDArray[np.integer]) -> tuple[Ints, Ints]:
    different, which = np.unique(numbers, return_inverse=True)
    return different.astype(np.int64), np.bincount(which, counts, len(different)).astype(np.int64)


def _bare_number(words: Sequence[str]) -> bool:
    """Whether words are a number that is no year: `the 4 of them` means nothing that is called 4."""
    return len(words) == 1 and words[0].isdecimal() and len(words[0]) != len("1990")


def _may_be_name(question: str, start: int, end: int) -> bool:
    """Where a question writes names with capitals, "die" and "place of birth" are none, whatever the corpus has."""
    rest = _WORD.findall(question)[1:]
    if not any(word[:1].isupper() for word in rest):
        return True
    return any(letter.isupper() or letter.isdigit() for letter in question[start:end])
