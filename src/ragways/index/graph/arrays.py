"""The arrays of a graph, mapped when they are first used: what joins its nodes, and who names and states what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from ragways.core.errors import StoreDamaged
from ragways.index.array_tables import ArrayTable
from ragways.index.graph.contents import MENTION_WEIGHTS, NODES
from ragways.index.graph.ids import ENTITIES, EntityIds
from ragways.index.graph.mentions import CHUNKS, DOCUMENTS, ChunkIds, ChunkNumbers, MentionArrays
from ragways.index.graph.name_words import NameWords
from ragways.index.graph.relation_links import RelationLinks
from ragways.index.graph.relations import RELATIONS, RelationArrays
from ragways.index.graph.weights import sums_of
from ragways.index.numbered_vectors import NumberedVectors
from ragways.index.pagerank import Adjacency, CodedWeights, Links
from ragways.index.ragged import Ragged
from ragways.index.row_keys import JoinedRanks


class GraphArrays:
    """Those of a derived folder. Entities, relations and chunks have numbers in them, which tell nothing by themselves:
    `ids`, `relation_arrays` and `chunks` have the ids.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _tables(self) -> dict[str, ArrayTable]:
        with self._whole():
            return {name: ArrayTable(self._folder, name) for name in (ENTITIES, RELATIONS, CHUNKS, DOCUMENTS, NODES)}

    @contextmanager
    def _whole(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, EOFError, KeyError) as error:
            raise StoreDamaged(
                f"a file in {self._folder} is damaged, or missing since an earlier version made the folder",
                f"remove the folder {self._folder}; it is made again",
            ) from error

    # Numbers and ids

    @cached_property
    def ids(self) -> EntityIds:
        """Numbers of entities by id, and their ids: the nodes of `adjacency`, and the first of `passages`."""
        with self._whole():
            return EntityIds.load(self._tables[ENTITIES])

    @property
    def first_chunk(self) -> int:
        """In `passages`, chunk i is node `first_chunk + i`."""
        return self.ids.capacity

    @cached_property
    def chunks(self) -> ChunkIds:
        """Ids of chunks by number."""
        with self._whole():
            return ChunkIds(self._tables[CHUNKS])

    @cached_property
    def chunk_numbers(self) -> ChunkNumbers:
        """Numbers of chunks by id."""
        with self._whole():
            return ChunkNumbers(self.chunks, self._tables[DOCUMENTS])

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Node numbers of chunks in `passages`, by id."""
        return self.chunk_numbers.after(self.first_chunk)

    # Names, vectors, relations and mentions

    @cached_property
    def name_words(self) -> NameWords:
        """The words of names and aliases."""
        with self._whole():
            return NameWords(self._folder)

    @cached_property
    def vectors(self) -> NumberedVectors | None:
        """Vectors of entities, where the index has them."""
        with self._whole():
            return NumberedVectors.open(self._folder, "entities")

    @cached_property
    def relation_vectors(self) -> NumberedVectors | None:
        """Vectors of relations, where the index has them."""
        with self._whole():
            return NumberedVectors.open(self._folder, "relations")

    @cached_property
    def relation_arrays(self) -> RelationArrays:
        """All relations as numbers; entity i is `ids.id(i)`, chunk i is `chunks[i]`."""
        with self._whole():
            return RelationArrays.of(self._tables[RELATIONS], self._tables[ENTITIES])

    @cached_property
    def mention_table(self) -> MentionArrays:
        """Which chunks name which entities; entity i is `ids.id(i)`, chunk i is `chunks[i]`."""
        with self._whole():
            return MentionArrays(self._links, self._tables[NODES].ragged("others"), self.first_chunk)

    @cached_property
    def _links(self) -> Ragged:
        return self._tables[NODES].ragged("links")

    # For PageRank

    @cached_property
    def adjacency(self) -> Links:
        """Entities joined by relations; node i is `ids.id(i)`."""
        with self._whole():
            return RelationLinks(self.relation_arrays, sums_of(self._tables[ENTITIES].column("strengths")))

    @cached_property
    def passages(self) -> Adjacency:
        """Entities and the chunks that name them: node i is `ids.id(i)`, node `first_chunk + j` is `chunks[j]`."""
        with self._whole():
            table, ranks = self._tables[NODES], (self.ids.ranks, self.chunks.ranks)
            order = None if ranks == (None, None) else JoinedRanks(*ranks, self.first_chunk)
            weights = CodedWeights(self._links["marks"], MENTION_WEIGHTS)
            return Adjacency.of_rows(self._links, weights, sums_of(table.column("strengths")), order)

    @cached_property
    def in_order(self) -> Adjacency:
        """Entities joined by relations, without a gap and in the order of their ids: node i is `ids.numbers[i]`. For
        what goes over all of them.
        """
        return self.adjacency.compact().only(self.ids.numbers)

    def id_in_order(self, node: int) -> str:
        """The id of a node of `in_order`."""
        return self.ids.id(int(self.ids.numbers[node]))
