"""The vectors of chunks in segments: what is found does not tell how they lie, nor in how many parts they are asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragways.index import sketches as under_test
from ragways.index.chunk_vectors import ChunkVectors, VectorSegment, recall
from ragways.index.packed import PackedRows, pack
from ragways.index.segments import SegmentDocuments
from ragways.index.sketches import SketchReach, differing, sketch, sketches
from ragways.index.vectors import Scored


@contextmanager
def two_stages(candidates: int, *, for_each: int = 1) -> Iterator[None]:
    """A search that multiplies few rows however few there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(under_test, "EXACT_ROWS", 0)
        patch.setattr(under_test, "CANDIDATES", candidates)
        patch.setattr(under_test, "_FOR_EACH", for_each)
        yield


Documents = dict[int, NDArray[np.float32]]
"""The vectors of the chunks of each document, by its number."""


def segment(documents: Documents) -> VectorSegment:
    numbers = sorted(documents)
    packed = pack(np.concatenate([documents[number] for number in numbers]))
    ids = [f"article:{number}:s0:p{n}:c0" for number in numbers for n in range(len(documents[number]))]
    held = SegmentDocuments.of((number, len(documents[number])) for number in numbers)
    return VectorSegment(held, ids, packed, sketches(packed[:, :-4]))


def dealt(documents: Documents, to: Sequence[int]) -> ChunkVectors:
    """The documents in segments, by the number of a segment for each."""
    parts: dict[int, Documents] = {}
    for (number, rows), part in zip(documents.items(), to, strict=True):
        parts.setdefault(part, {})[number] = rows
    return ChunkVectors([segment(part) for part in parts.values()])


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Documents, NDArray[np.float32]]:
    """Documents, many of whose vectors are equal or nearly so, and a question."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    centres = chance.standard_normal((6, 16)).astype(np.float32)
    numbers = draw(st.lists(st.integers(0, 10_000), min_size=1, max_size=12, unique=True))
    sizes = chance.integers(1, 12, len(numbers))
    near = draw(st.sampled_from([0.0, 0.3]))
    rows = [centres[chance.integers(0, 6, size)] + near * chance.standard_normal((size, 16)) for size in sizes]
    documents = {number: each.astype(np.float32) for number, each in zip(numbers, rows, strict=True)}
    question = chance.standard_normal(16).astype(np.float32)
    return documents, question / np.linalg.norm(question)


def deals(count: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 4), min_size=count, max_size=count)


def joined(parts: Sequence[ChunkVectors], question: NDArray[np.float32], k: int) -> Scored:
    reaches = [part.reach(question) for part in parts]
    reach = sum(reaches[1:], reaches[0])
    found = [hit for part in parts for hit in part.search(question, k, reach=reach)]
    return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:k]


@settings(max_examples=60, deadline=None)
@given(st.data(), corpora(), st.integers(1, 30), st.integers(1, 80))
def test_a_search_tells_neither_segments_nor_parts(
    data: st.DataObject, made: tuple[Documents, NDArray[np.float32]], k: int, candidates: int
):
    documents, question = made
    whole = dealt(documents, [0] * len(documents))
    other = dealt(documents, data.draw(deals(len(documents))))
    shards: dict[int, Documents] = {}
    for (number, rows), shard in zip(documents.items(), data.draw(deals(len(documents))), strict=True):
        shards.setdefault(shard, {})[number] = rows
    parts = [dealt(shard, [number % 2 for number in shard]) for shard in shards.values()]
    exact = whole.search(question, k)
    assert other.search(question, k) == exact
    assert joined(parts, question, k) == exact
    with two_stages(candidates):
        near = whole.search(question, k)
        assert other.search(question, k) == near
        assert joined(parts, question, k) == near
    assert len(near) == len(exact)
    assert {id for id, _ in near} <= set(whole.ids)
    assert dict(near).items() <= dict(whole.search(question, len(whole))).items()


@settings(max_examples=40, deadline=None)
@given(st.data(), corpora())
def test_places_sizes_and_openings(data: st.DataObject, made: tuple[Documents, NDArray[np.float32]]):
    documents, question = made
    vectors = dealt(documents, data.draw(deals(len(documents))))
    ids = list(vectors.ids)
    assert vectors.places([*ids, "article:77777:s0:p0:c0", "window:3"]) == {id: row for row, id in enumerate(ids)}
    assert vectors.places(ids[3:4]) == {id: ids.index(id) for id in ids[3:4]}
    assert vectors.sizes([f"article:{number}" for number in [*documents, 77777]]) == {
        f"article:{number}": len(rows) for number, rows in documents.items()
    }
    numbers, rows = vectors.openings()
    assert [ids[row] for row in rows.tolist()] == [f"article:{number}:s0:p0:c0" for number in sorted(documents)]
    assert numbers.tolist() == sorted(documents)
    assert [ids[row] for row in vectors.in_order().tolist()] == list(segment(documents).ids)
    assert ids[-1] == vectors.ids[-1]
    some = data.draw(st.sets(st.sampled_from([*documents, 77777])))
    part = vectors.of_documents(some)
    kept = {number: documents[number] for number in documents if number in some}
    assert sorted(part.ids) == sorted(segment(kept).ids if kept else [])
    if kept:
        assert part.search(question, 9) == ChunkVectors([segment(kept)]).search(question, 9)
        with two_stages(5):
            assert part.search(question, 9) == ChunkVectors([segment(kept)]).search(question, 9)


def test_rows_in_several_arrays_are_read_as_one():
    chance = np.random.default_rng(4)
    made = chance.standard_normal((40, 12)).astype(np.float32)
    one = PackedRows.of(made)
    several = PackedRows(*np.split(one.packed, [7, 7, 31]))
    assert several.shape == one.shape
    assert np.array_equal(several.packed, one.packed)
    for rows in (
        3,
        -1,
        np.int64(30),
        slice(None),
        slice(5, 35, 3),
        [39, 0, 7, -2],
        np.arange(40) % 3 == 0,
        slice(9, 9),
    ):
        assert np.array_equal(several[rows], one[rows])
    assert np.array_equal(several.take([39, 0, 7, 7, -40]).packed, one.packed[[39, 0, 7, 7, -40]])
    assert np.array_equal(several @ made[:3].T, one @ made[:3].T)


# Sketches


def slow_sketch(vector: Sequence[int], bits: int) -> list[bool]:
    """Signs of sums with the rows of Sylvester's matrix, turned by the first bits of a hash."""
    from hashlib import shake_256

    stream = shake_256(b"sketch").digest(len(vector) // 8 + 1)
    turned = [1 - 2 * (stream[n // 8] >> (7 - n % 8) & 1) for n in range(len(vector))]
    found = []
    for bit in range(bits):
        signs = (1 - 2 * ((n % bits & bit).bit_count() % 2) for n in range(len(vector)))
        found.append(sum(sign * turn * number for sign, turn, number in zip(signs, turned, vector, strict=True)) > 0)
    return found


@pytest.mark.parametrize(("dimension", "bits"), [(5, 64), (64, 64), (70, 128), (384, 512), (1500, 1024)])
def test_a_sketch_is_signs_of_sums(dimension: int, bits: int):
    chance = np.random.default_rng(dimension)
    numbers = chance.integers(-127, 128, (3, dimension), dtype=np.int8)
    words = sketches(numbers)
    assert words.shape == (bits // 64, 3)
    slow = [slow_sketch(row, bits) for row in numbers.tolist()]
    assert np.unpackbits(np.ascontiguousarray(words.T).view(np.uint8), axis=1).astype(bool).tolist() == slow
    # The bits of a question are those of the row that it becomes, for one of whole numbers.
    whole = numbers[0].astype(np.float32)
    whole[0] = 127
    assert np.array_equal(sketch(whole), sketches(whole.astype(np.int8)[None])[:, 0])
    expected = [sum(a != b for a, b in zip(row, slow[2], strict=True)) for row in slow]
    assert differing([words[:, :1], words[:, 1:]], words[:, 2]).tolist() == expected


def test_reach_counts_up_to_what_is_wanted():
    with two_stages(10, for_each=2):
        counts = SketchReach(30, np.array([1, 0, 4, 5, 20]))
        assert counts.bits(3) == 3
        assert counts.bits(6) == 4
        assert counts.bits(15) is None
        more = counts + SketchReach(2, np.array([0, 0, 2]))
        assert (more.rows, more.differing.tolist(), more.bits(6)) == (32, [1, 0, 6, 5, 20], 3)


def test_recall_of_many_rows():
    chance = np.random.default_rng(1)
    rows = chance.standard_normal((3_000, 384)).astype(np.float32)
    rows[1:] += 1.5 * rows[chance.integers(0, 40, 2_999)]
    vectors = ChunkVectors([segment({1: rows[:1000], 3: rows[1000:]})])
    assert recall(vectors) == 1
    with two_stages(600):
        assert recall(vectors) > 0.97
    with two_stages(10):
        assert recall(vectors) < 0.9
