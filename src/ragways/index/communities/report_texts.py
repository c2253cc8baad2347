"""What reports are written from: the rows of a community's strongest members, what joins them, and who says so.

All is read by id, so what a report takes does not grow with the corpus, nor with the community.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice

import numpy as np

from ragways.index.communities.community_rows import CommunityRows
from ragways.index.graph.contents import count_paths
from ragways.index.graph.data import EntityRow
from ragways.index.graph.graph_rows import MILLION, aliases, digits, unpacked_counts
from ragways.index.graph.relation_ends import RelationEnds
from ragways.index.graph.told_texts import descriptions

LOOKED = 16
"""Members, the strongest, that are looked at for what joins them."""
_CHUNKS_OF_ONE = 2  # that state a relation are looked at
_SENTENCE = (20, 400)  # characters of one that can stand alone


@dataclass(frozen=True, slots=True)
class MemberLink:
    """A relation of two members, by the numbers of their ids; `document` is one that states it alone, `said`
    tells where its description is.
    """

    id: int
    subject: int
    predicate: str
    object: int
    weight: float
    date: str
    document: int | None
    said: int | str | None


class ReportTexts:
    """Reads rows of the graph and of documents for reports."""

    def __init__(self, db: sqlite3.Connection, ends: RelationEnds) -> None:
        self._db, self._ends = db, ends
        self.rows = CommunityRows(db)
        self._document = lru_cache(64)(self._read_document)
        self._contents = lru_cache(1024)(self._read_contents)
        self._chunk = lru_cache(4096)(self._read_chunk)
        self._chunks = lru_cache(4096)(self._read_chunks)

    def strongest(self, number: int, count: int) -> tuple[dict[int, int], dict[int, EntityRow]]:
        """The members of a community with the strongest links, the best first: their strengths, and their rows."""
        strengths = dict(self.rows.strongest(number, count))
        rows = self.entities(strengths)
        ordered = sorted(rows, key=lambda id: (-strengths[id], -rows[id].count, id))
        return {id: strengths[id] for id in ordered}, {id: rows[id] for id in ordered}

    def entities(self, numbers: Iterable[int]) -> dict[int, EntityRow]:
        """By the numbers of their ids, in the order asked."""
        asked = list(numbers)
        query = (
            "SELECT id, name, type, description, names, count, way FROM graph_entities "
            "WHERE id IN (SELECT value FROM json_each(?))"
        )
        found = {
            id: EntityRow(f"entity:{digits(id)}", name, type, description, aliases(name, names), count, way)
            for id, name, type, description, names, count, way in self._db.execute(query, (json.dumps(asked),))
        }
        return {number: found[number] for number in asked if number in found}

    def links(self, strengths: dict[int, int], count: int | None = None) -> list[MemberLink]:
        """What joins these members, or so much of it: what joins strong ones by much comes first."""
        query = (
            "SELECT id, subject, predicate, object, weight, date, document, said FROM graph_relations "
            "WHERE id IN (SELECT value FROM json_each(?))"
        )
        between = self._ends.between(strengths)
        between = between.at(np.flatnonzero(between.subjects != between.objects))
        ends = zip(between.subjects.tolist(), between.objects.tolist(), strict=True)
        worth = between.weights / MILLION * np.array([strengths[one] + strengths[other] for one, other in ends])
        best = between.ids[np.lexsort((between.ids, -worth))[:count]].tolist()
        found = {
            id: MemberLink(id, subject, predicate, object, weight / MILLION, date, document, said)
            for id, subject, predicate, object, weight, date, document, said in self._db.execute(
                query, (json.dumps(best),)
            )
        }
        return [found[id] for id in best]

    def described(self, links: Sequence[MemberLink]) -> list[tuple[MemberLink, str]]:
        """Links with what describes them, which takes some reading."""
        return list(zip(links, descriptions(self._db, [(link.document, link.said) for link in links]), strict=True))

    def sentences(self, links: Sequence[MemberLink], chunks: int) -> Iterator[str]:
        """Whole sentences of the first chunks that state these links."""
        seen: set[tuple[int, str]] = set()
        for chunk in (chunk for link in links for chunk in self._chunks(link)):
            if len(seen) == chunks:
                return
            if chunk not in seen:
                seen.add(chunk)
                yield from self._chunk(*chunk)

    def _read_chunks(self, link: MemberLink) -> list[tuple[int, str]]:
        """Those that state a link, the first of them."""
        query = "SELECT document FROM graph_statements WHERE relation = ? ORDER BY document LIMIT ?"
        documents = [row[0] for row in self._db.execute(query, (link.id, _CHUNKS_OF_ONE))]
        if not documents and link.document is not None:
            documents = [link.document]
        found = ((document, path) for document in documents for path in self._stating(document, link.id))
        return list(islice(found, _CHUNKS_OF_ONE))

    def _stating(self, document: int, relation: int) -> Iterator[str]:
        """The paths of the chunks of a document that state a relation."""
        paths, ends, relations = self._contents(document)
        asked = relation.to_bytes(8, sys.byteorder, signed=True)
        at = relations.find(asked)
        while at >= 0:
            if at % 8 == 0:
                yield paths[bisect_right(ends, at // 8)]
            at = relations.find(asked, at + 1)

    def _read_contents(self, document: int) -> tuple[list[str], list[int], bytes]:
        """The paths of a document's chunks, where the relations end that each states, and these."""
        query = "SELECT chunks, stated, relations FROM graph_contents WHERE document = ?"
        row = self._db.execute(query, (document,)).fetchone()
        if row is None:
            return [], [], b""
        return row[0].split("\n"), list(accumulate(unpacked_counts(row[1], count_paths(row[0])))), row[2]

    def _read_chunk(self, document: int, path: str) -> tuple[str, ...]:
        row = self._db.execute(
            "SELECT start, end FROM chunks WHERE document = ? AND path = ?", (document, path)
        ).fetchone()
        if row is None:
            return ()
        text, places = self._document(document)
        low, high = _SENTENCE
        inside = (" ".join(text[s:e].split()) for s, e in places if s >= row[0] and e <= row[1])
        return tuple(sentence for sentence in inside if low <= len(sentence) <= high and _whole(sentence))

    def _read_document(self, number: int) -> tuple[str, list[tuple[int, int]]]:
        text = self._db.execute("SELECT text FROM documents WHERE number = ?", (number,)).fetchone()[0]
        query = "SELECT start, end FROM sentences WHERE document = ? ORDER BY ordinal"
        return text, self._db.execute(query, (number,)).fetchall()

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


def _whole(sentence: str) -> bool:
    """Not a heading, nor a row of a table or of a box."""
    return sentence.rstrip("\"'”’»)").endswith((".", "!", "?", "。", "！", "？", "…")) and " | " not in sentence
