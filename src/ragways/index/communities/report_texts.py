"""What reports are written from: the rows of a community's strongest members, what joins them, and who says so.

All is read by id, so what a report takes does not grow with the corpus, nor with the community.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from ragways.core.types import content_hash
from ragways.index.communities.community_rows import CommunityRows
from ragways.index.communities.entity_links import EntityLinks
from ragways.index.graph.data import EntityRow
from ragways.index.graph.document_statements import MILLION
from ragways.index.graph.graph_rows import aliases, digits, found_by
from ragways.index.graph.relation_ends import RelationEnds
from ragways.index.graph.stated_columns import count_paths
from ragways.index.graph.stored_relations import RelationRow
from ragways.index.graph.told_texts import descriptions, entity_descriptions
from ragways.index.packed_numbers import unpacked_counts
from ragways.index.sentences import sentences_of

LOOKED = 16
"""Members, the strongest, that are looked at for what joins them."""
CENTRAL = 8
"""Of these, those that stand for a community."""
ALIASES = 3
"""Other names of a member that are looked for."""
LINKS = 24
"""What joins members that is looked at for sentences, the best of it; and as many chunks."""
AT_ONCE = 256
"""Communities whose members and links are read together."""
_BITS = 3  # of a strength that a report by rules goes by
_CHUNKS_OF_ONE = 2  # that state a relation are looked at
_SENTENCE = (20, 400)  # characters of one that can stand alone


class Strongest(NamedTuple):
    """The strongest members of a community by the numbers of their ids, the best first: the weights of their links, and
    their rows.
    """

    strengths: dict[int, int]
    rows: dict[int, EntityRow]


@dataclass(frozen=True, slots=True)
class ReportBasis:
    """What a report by rules is written from: the strongest members of a community, with rounded strengths; the numbers
    of the relations that join them, the best first; and whether there are more members than stand for it.
    """

    strongest: Strongest
    links: Sequence[int]
    more: bool

    @property
    def hash(self) -> str:
        """The same for what gives the same report, as long as nobody states the relations otherwise."""
        strengths, rows = self.strongest
        shown = [(id, row.name, row.type, row.aliases[:ALIASES], strengths[id]) for id, row in rows.items()]
        others = sorted((id, row.name) for id, row in list(rows.items())[CENTRAL:])
        return content_hash(json.dumps([shown[:CENTRAL], others, list(self.links), self.more]))[:16]


Sentence = tuple[str, str]
"""A sentence, and the same in small letters."""


class ReportTexts:
    """Reads rows of the graph and of documents for reports."""

    def __init__(self, db: sqlite3.Connection, ends: RelationEnds, rows: CommunityRows) -> None:
        self._db, self._ends, self.rows = db, ends, rows
        self._document = lru_cache(64)(self._read_document)
        self._chunk = lru_cache(4096)(self._read_chunk)

    def strongest(self, numbers: Sequence[int], count: int, *, described: bool = False) -> list[Strongest]:
        """The members of communities with the strongest links, those of each the best first; with what describes them
        where that is wanted, which takes some reading.
        """
        strengths = [dict(self.rows.strongest(number, count)) for number in numbers]
        rows = self.entities({id for some in strengths for id in some}, described=described)
        ordered = (
            sorted(some.keys() & rows.keys(), key=lambda id: (-some[id], -rows[id].count, id)) for some in strengths
        )
        return [
            Strongest({id: some[id] for id in ids}, {id: rows[id] for id in ids})
            for some, ids in zip(strengths, ordered, strict=True)
        ]

    def entities(self, numbers: Iterable[int], *, described: bool) -> dict[int, EntityRow]:
        """By the numbers of their ids, in the order asked."""
        asked = list(numbers)
        said = entity_descriptions(self._db, asked) if described else {}
        query = (
            "SELECT id, name, type, names, count, way FROM graph_entities WHERE id IN (SELECT value FROM json_each(?))"
        )
        found = {
            id: EntityRow(
                f"entity:{digits(id)}", name, type, said.get(id, ""), aliases(name, names), count, found_by(way)
            )
            for id, name, type, names, count, way in self._db.execute(query, (json.dumps(asked),))
        }
        return {number: found[number] for number in asked if number in found}

    def bases(self, numbers: Sequence[int]) -> list[ReportBasis]:
        """Of communities of one level."""
        members = [
            Strongest({id: _rounded(strength) for id, strength in strengths.items()}, rows)
            for strengths, rows in self.strongest(numbers, LOOKED)
        ]
        links = self.link_numbers([strengths for strengths, _ in members], LINKS)
        return [
            ReportBasis(strongest, joining, self.rows.node(number).size > CENTRAL)
            for number, strongest, joining in zip(numbers, members, links, strict=True)
        ]

    def link_numbers(self, groups: Sequence[dict[int, int]], count: int | None = None) -> list[list[int]]:
        """The numbers of what joins the members of each of these communities, whose strengths are given, or so much of
        it: what joins strong ones by much comes first.
        """
        inside, numbers = self._ends.inside(groups)
        across = np.flatnonzero(inside.subjects != inside.objects)
        inside, numbers = inside.at(across), numbers[across]
        strengths = {id: strength for group in groups for id, strength in group.items()}
        ends = zip(inside.subjects.tolist(), inside.objects.tolist(), strict=True)
        both = np.fromiter((strengths[one] + strengths[other] for one, other in ends), np.int64, len(inside))
        order = np.lexsort((inside.ids, -(inside.weights / MILLION * both), numbers))
        ids = inside.ids[order].tolist()
        bounds = np.searchsorted(numbers, np.arange(len(groups) + 1)).tolist()
        return [ids[begin:end][:count] for begin, end in pairwise(bounds)]

    def links(self, numbers: Collection[int]) -> dict[int, RelationRow]:
        """What joins members, by number."""
        return {row.id: row for row in self._ends.stored.rows(numbers)}

    def described(self, links: Sequence[RelationRow]) -> list[tuple[RelationRow, str]]:
        """Links with what describes them, which takes some reading."""
        return list(zip(links, descriptions(self._db, [link.told for link in links]), strict=True))

    def sentences(self, links: Sequence[RelationRow], chunks: int) -> Iterator[Sentence]:
        """Whole sentences of the first chunks that state these links."""
        seen: set[tuple[int, str]] = set()
        for chunk in chain.from_iterable(self._ends.stored.stating(links, _CHUNKS_OF_ONE)):
            if len(seen) == chunks:
                return
            if chunk not in seen:
                seen.add(chunk)
                yield from self._chunk(*chunk)

    def _read_chunk(self, document: int, path: str) -> tuple[Sentence, ...]:
        text, sentences, chunks = self._document(document)
        if path not in chunks:
            return ()
        begin, end = chunks[path]
        low, high = _SENTENCE
        inside = (" ".join(text[s:e].split()) for s, e in sentences if s >= begin and e <= end)
        return tuple((one, one.casefold()) for one in inside if low <= len(one) <= high and _whole(one))

    def _read_document(self, number: int) -> tuple[str, list[tuple[int, int]], dict[str, tuple[int, int]]]:
        """Its text, where its sentences are, and where its chunks are by their paths."""
        text = self._db.execute("SELECT text FROM documents WHERE number = ?", (number,)).fetchone()[0]
        chunks = self._db.execute("SELECT path, start, end FROM chunks WHERE document = ?", (number,))
        places = {path: (start, end) for path, start, end in chunks}
        return text, sentences_of(self._db, number), places

    def tokens_behind(self, entities: Collection[int]) -> dict[int, float]:
        """Tokens of the corpus that stand behind each of these: a chunk's are shared out among those it names. Reads
        what all documents name.
        """
        behind = dict.fromkeys(entities, 0.0)
        tokens = "SELECT path, tokens FROM chunks WHERE document = ?"
        query = "SELECT document, chunks, named, entities FROM graph_contents"
        for document, paths, named, blob in self._db.execute(query):
            ids = array("q", blob)
            if behind.keys().isdisjoint(ids):
                continue
            known, at = dict(self._db.execute(tokens, (document,)).fetchall()), 0
            for path, count in zip(paths.split("\n"), unpacked_counts(named, count_paths(paths)), strict=False):
                for id in ids[at : at + count]:
                    if id in behind:
                        behind[id] += known.get(path, 0) / count
                at += count
        return behind


def kept_reports(texts: ReportTexts, links: EntityLinks, least: int, stated: Set[int]) -> set[int]:
    """Of communities that were altered, those whose report by rules would be written as it was: none of the members
    that it looks at is altered, or it would be written from the same, of which nothing is among the relations that
    documents `stated` otherwise. Those of fewer members than `least` have none.
    """
    rows = texts.rows
    altered = {number for number in rows.altered if rows.is_there(number) and rows.node(number).size >= least}
    found = {number for number in altered if _is_unaltered(number, rows, links)}
    by_level: dict[int, list[int]] = defaultdict(list)
    for number in sorted(altered - found):
        by_level[rows.node(number).level].append(number)
    for numbers in by_level.values():
        for at in range(0, len(numbers), AT_ONCE):
            some = numbers[at : at + AT_ONCE]
            for number, basis in zip(some, texts.bases(some), strict=True):
                # Where nothing joins these, a report has the findings of those below it, which may have changed.
                if basis.links and basis.hash == rows.shown_before(number) and stated.isdisjoint(basis.links):
                    found.add(number)
    return found


def _is_unaltered(number: int, rows: CommunityRows, links: EntityLinks) -> bool:
    """Whether none of the members that a report looks at is altered, nor was any that is not among these now."""
    if rows.node(number).size < LOOKED:
        return False
    strongest = rows.strongest(number, LOOKED)
    if strongest[-1][1] <= rows.altered[number]:
        return False
    # Where nothing joins them, it has the findings of those below it, which may be gone now.
    return links.any_joined(dict(strongest))


def _rounded(strength: int) -> int:
    """Its first binary digits: so a report is not another for each document that names a member once more."""
    rest = max(0, strength.bit_length() - _BITS)
    return strength >> rest << rest


def _whole(sentence: str) -> bool:
    """Not a heading, nor a row of a table or of a box."""
    return sentence.rstrip("\"'”’»)").endswith((".", "!", "?", "。", "！", "？", "…")) and " | " not in sentence
