"""What an index weighs: bytes a chunk with all layers, and vectors in a byte a number that find the same."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragways.index.build import build
from ragways.index.documents import chunk_texts
from ragways.index.graph.stored_relations import StoredRelations
from ragways.index.graph.told_texts import unpacked_texts
from ragways.index.layers import LAYERS
from ragways.index.packed import PackedRows, pack, unpack
from ragways.index.reader import Index
from ragways.index.store import Store
from tests.fakes import WordHashes, recipe, write

DIMENSION = 384
PEOPLE = ("Anna Brack", "Carl Dorn", "Mira Voss", "Tom Ashby", "Lena Hartwig", "Jon Pell")
TOWNS = ("Port Averne", "Dunmarrow", "Saltrey", "Kirkhaven", "Oldmere")


class Wide(WordHashes):
    """As wide as the offline embedder, so that bytes count as they do there."""

    def __init__(self) -> None:
        super().__init__("wide-word-hashes")
        self.dimension = DIMENSION

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        times = DIMENSION // 32
        wide: NDArray[np.float32] = np.tile(await super().embed(texts), times) / np.sqrt(np.float32(times))
        return wide


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("disk")
    docs = {}
    for n in range(60):
        one, other, town, next_town = PEOPLE[n % 6], PEOPLE[n * 5 % 6 - 1], TOWNS[n % 5], TOWNS[n // 5 % 5]
        docs[f"{n}.md"] = (
            f"# Harbour {n}\n\n{one} built harbour {n} of {town} in {1700 + n}, and {other} paid for it. "
            f"A storm from {next_town} broke its pier {n} years later. {other} had left for {next_town} by then.\n\n"
            f"The light of {town} number {n} was kept by {one}. Ships from {next_town} passed it every day.\n"
        )
    settings: dict[str, dict[str, object]] = {name: {} for name in LAYERS}
    wanted = recipe(Wide(), layers=frozenset(LAYERS), settings=settings)
    asyncio.run(build(folder / "index", [write(folder / "docs", docs)], wanted))
    return folder / "index"


def test_bytes_a_chunk_with_all_layers(index: Path):
    with sqlite3.connect(index / "index.sqlite") as db:
        chunks = int(db.execute("SELECT count(*) FROM chunks").fetchone()[0])

    def weight(pattern: str) -> float:
        return sum(path.stat().st_size for path in index.rglob(pattern) if path.is_file()) / chunks

    kept = sqlite3.connect(index / "work_cache.sqlite").execute("SELECT count(*) FROM vectors").fetchone()[0] / chunks
    # A vector of 384 numbers and its factor are 388 bytes, its sketch 64; in the work cache, with its key, some 600.
    assert weight("derived/*/vectors/*/*") < 388 + 64 + 80
    assert weight("work_cache*") < 700 * kept + 1500
    # In so small an index, each of the fifty tables has a page of its own for 60 chunks: 68 bytes a chunk.
    assert weight("*") - weight("work_cache*") < 16_500
    assert weight("*") < 22_500


def test_a_description_is_kept_once_however_many_relations_it_describes(index: Path):
    with sqlite3.connect(index / "index.sqlite") as db:
        rows = [row.told[0] for row in StoredRelations(db).all() if len(row.told) == 1]
        kept = db.execute("SELECT texts, text FROM graph_texts JOIN documents ON number = document").fetchall()
    texts = [(text, said) for packed, text in kept for said in unpacked_texts(packed, text)]
    assert len(set(texts)) == len(texts) < len(rows) * 2 / 3
    assert len(set(rows)) <= len(texts)
    for packed, text in kept:
        numbers = 1 + 2 * len(unpacked_texts(packed, text))
        assert len(packed) in (1 + numbers, 1 + 2 * numbers), "all are in the text"


def test_packed_vectors_find_what_whole_ones_find(index: Path):
    asked = asyncio.run(Wide().embed([f"{one} of {town}" for one in PEOPLE for town in TOWNS]))
    with closing(Store.open(index)) as store:
        texts = dict(chunk_texts(store))
    exact = asyncio.run(Wide().embed(list(texts.values()))) @ asked.T
    with closing(Index.open(index)) as opened:
        assert list(opened.vectors.ids) == list(texts)
        assert opened.vectors.matrix.packed.dtype == np.int8
        found = opened.vectors.matrix @ asked.T
    assert 0 < np.abs(found - exact).max() < 0.005
    assert (found.argmax(axis=0) == exact.argmax(axis=0)).mean() > 0.9


rows = st.lists(
    st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8).filter(lambda row: max(map(abs, row)) > 1e-3),
    min_size=1,
    max_size=5,
)


@given(rows)
def test_packing_keeps_direction_and_makes_length_one(values: list[list[float]]):
    vectors = np.array(values, np.float32)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    packed = PackedRows.of(vectors)
    assert np.abs(packed[:] - units).max() < 0.02
    assert np.allclose(np.linalg.norm(packed[:], axis=1), 1, atol=1e-5)
    for n, row in enumerate(pack(vectors)):
        assert (unpack(row.tobytes()) == packed[n]).all()
    assert np.allclose(packed @ units[0], packed[:] @ units[0], atol=5e-5)
    assert np.allclose(packed @ units.T, packed[:] @ units.T, atol=5e-5)
    assert (pack(packed[:]) == packed.packed).all()  # what was packed once is not changed by packing it again


def test_zeros_and_nothing_are_packed_too():
    assert not PackedRows.of(np.zeros((2, 4), np.float32))[:].any()
    empty = PackedRows.of(np.zeros((0, 4), np.float32))
    assert empty.shape == (0, 4)
    assert (empty @ np.ones(4, np.float32)).shape == (0,)
    assert np.asarray(empty).shape == (0, 4)
