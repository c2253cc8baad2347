"""Communities and their reports as paradigms read them. Lists are best first, and equal ones by id."""

# ruff: noqa: S608 - queries are put together from our own words and question marks
from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.layers.communities.assign import (
    CommunityAge,
    CommunityTree,
    entity_id,
    joined_in,
)
from ragways.layers.communities.report import FILE, CommunityReport, read_reports
from ragways.layers.files import load_json
from ragways.layers.layer import Scored
from ragways.layers.vectors import StoredVectors
from ragways.store.database import store_errors
from ragways.store.store import Store

STATE = "state.json"
VECTORS = "reports"
_ENTITY = re.compile("entity:([0-9a-f]{16})")
_AMONG = "IN (SELECT value FROM json_each(?))"
_ROW = "id, title, summary, rank, way, tokens"


@dataclass(frozen=True, slots=True)
class Community:
    """`way` tells who wrote its report; where it is empty there is none. `tokens` are those of the report's text."""

    id: str
    level: int
    parent: str
    leaf: bool
    size: int
    title: str
    summary: str
    rank: float
    way: str
    tokens: int


@dataclass(frozen=True, slots=True)
class CommunityState:
    """How the view was made: at which generation, with how many entities communities were found, the kind of work that
    reports of a model are (empty where rules write all), and how many reports or vectors of them are still missing.
    """

    generation: int
    found: int
    kind: str
    missing: int

    @classmethod
    def load(cls, view: Path) -> CommunityState:
        return cls(**load_json(view / STATE))


def age_of(view: Path) -> CommunityAge:
    """How old the communities of a view are: for `ragways status`."""
    return CommunityTree.load(view).change_since(CommunityState.load(view).found)


class StoredCommunities:
    """The communities of a view (`protocols.Communities`), read-only. A report is hidden while a document that it was
    written from is stale: removed or edited since the view was made.
    """

    def __init__(self, view: Path, store: Store) -> None:
        self._view, self._store = view, store
        self._tree = CommunityTree.load(view)
        self._seen: NDArray[np.bool_] = np.ones(len(self._tree.nodes), np.bool_)
        self._generation = CommunityState.load(view).generation
        self._db = read_reports(view)
        self._stale: tuple[int, frozenset[str]] = self._generation, frozenset()
        self.left_out = 0
        """Communities that a filter keeps out, because they rest on other documents too."""

    def close(self) -> None:
        self._db.close()

    def only(self, documents: Collection[int]) -> StoredCommunities:
        """The communities whose members no other document names: nothing left out speaks of them. A report cannot be
        split.
        """
        joined = joined_in(self._view)
        members = self._tree.members
        partly = ~np.isin(members["entity"], joined.whole_in(frozenset(documents)))
        around = self._tree.around(np.unique(members["leaf"][partly]))
        part = StoredCommunities(self._view, self._store)
        part._seen[around] = False
        part.left_out = len(around)
        return part

    # Communities

    def levels(self) -> list[int]:
        return sorted(set(self._tree.nodes["level"][self._seen].tolist()))

    def of_level(self, level: int) -> list[Community]:
        return self._found(self._tree.of_level(level).tolist())

    def tokens_of_level(self, level: int) -> int:
        return sum(community.tokens for community in self.of_level(level))

    def of_entity(self, id: str) -> list[Community]:
        return sorted(self._found(self._chains([id]).get(id, [])), key=lambda community: community.level)

    def at_level(self, ids: Collection[str], level: int) -> dict[str, str]:
        levels, leaf = self._tree.nodes["level"], self._tree.nodes["leaf"]
        return {
            id: self._tree.ids[place]
            for id, chain in self._chains(ids).items()
            for place in chain
            if levels[place] == level or (levels[place] < level and leaf[place])
        }

    def _chains(self, ids: Iterable[str]) -> dict[str, list[int]]:
        """Of each entity the communities that it is in, from the smallest on."""
        tree = self._tree
        wanted = np.array(sorted({int(match[1], 16) for match in map(_ENTITY.fullmatch, ids) if match}), np.uint64)
        leaves = tree.members[tree.places(wanted)][["entity", "leaf"]].tolist()
        return {
            entity_id(entity): [place for place in tree.chain(leaf) if self._seen[place]] for entity, leaf in leaves
        }

    def communities(self, ids: Collection[str]) -> dict[str, Community]:
        places = self._tree.place_of
        return {found.id: found for found in self._found([places[id] for id in set(ids) if id in places])}

    def children(self, id: str) -> list[Community]:
        place = self._tree.place_of.get(id)
        return [] if place is None else self._found(np.flatnonzero(self._tree.nodes["parent"] == place).tolist())

    def members(self, id: str) -> list[str]:
        place = self._tree.place_of.get(id)
        if place is None or not self._seen[place]:
            return []
        return [entity_id(number) for number in self._tree.entities(place).tolist()]

    def _found(self, places: Collection[int]) -> list[Community]:
        """The communities at these places, by rank."""
        tree = self._tree
        seen = [place for place in places if self._seen[place]]
        rows = {id: row for id, *row in self._rows(_ROW, [tree.ids[place] for place in seen])}
        communities = (
            Community(
                tree.ids[place], level, tree.ids[parent] if parent >= 0 else "", leaf, size,
                *rows.get(tree.ids[place], ("", "", 0.0, "", 0)),
            )
            for place, (_, parent, level, size, leaf) in zip(seen, tree.nodes[seen].tolist(), strict=True)
        )  # fmt: skip
        return sorted(communities, key=lambda found: (-found.rank, -found.size, found.id))

    # Reports

    def report(self, id: str) -> CommunityReport | None:
        """None where the community is too small for one, or where it could not be written yet."""
        return self.reports([id]).get(id)

    def reports(self, ids: Collection[str]) -> dict[str, CommunityReport]:
        rows = self._rows("id, title, summary, rank, findings", ids)
        return {id: CommunityReport.of_row(*row) for id, *row in rows if self._shown(id)}

    @property
    def vectors(self) -> StoredVectors | None:
        """Vectors of reports, where the index has them."""
        vectors = self._vectors
        if vectors is None or (self._seen.all() and not self._hidden):
            return vectors
        shown = np.array([self._shown(id) and id not in self._hidden for id in vectors.ids], np.bool_)
        return vectors.only(shown)

    @cached_property
    def _vectors(self) -> StoredVectors | None:
        return StoredVectors.load(self._view, VECTORS) if (self._view / f"{VECTORS}.npy").is_file() else None

    def nearest(self, vector: NDArray[np.float32], k: int | None = 20, minimum: float = -1.0) -> Scored:
        vectors = self.vectors
        return [] if vectors is None else vectors.search(vector, len(vectors) if k is None else k, minimum=minimum)

    def counts(self) -> dict[str, int]:
        found = dict.fromkeys(sorted(each for each in ("", "model", "rules")), 0)
        for community in self._found(np.flatnonzero(self._seen).tolist()):
            found[community.way] += 1
        return {way: count for way, count in found.items() if count}

    def _shown(self, id: str) -> bool:
        place = self._tree.place_of.get(id)
        return place is not None and bool(self._seen[place])

    @property
    def _hidden(self) -> frozenset[str]:
        """Reports that were written from a stale document."""
        generation = self._store.generation
        if generation != self._stale[0]:
            documents = self._store.changed_since(self._generation)
            query = f"SELECT DISTINCT id FROM sources WHERE document {_AMONG}"
            with store_errors(self._view / FILE):
                rows = self._db.execute(query, (json.dumps(sorted(documents)),)).fetchall()
            self._stale = generation, frozenset(row[0] for row in rows)
        return self._stale[1]

    def _rows(self, columns: str, ids: Collection[str]) -> Iterator[tuple]:  # type: ignore[type-arg]
        """Rows of the reports of these communities."""
        hidden = self._hidden
        query = f"SELECT {columns} FROM reports WHERE id {_AMONG}"
        with store_errors(self._view / FILE):
            rows = self._db.execute(query, (json.dumps(sorted(set(ids) - hidden)),))
            yield from rows
