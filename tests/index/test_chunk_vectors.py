"""The vectors of chunks in segments: what is found does not tell how they lie, nor in how many parts they are asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, reduce
from hashlib import shake_256
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragways.index import sketches as under_test
from ragways.index.chunk_vectors import ChunkVectors, VectorSegment, recall
from ragways.index.packed import STEPS, PackedRows, integers, pack
from ragways.index.segment_ids import SegmentIds
from ragways.index.segments import SegmentDocuments
from ragways.index.sketches import SketchLimits, SketchReach, first_differing, is_exact, sketch, sketches
from ragways.index.vectors import Scored


@contextmanager
def in_steps(candidates: int, *, for_each: int = 1, whole: int = 10, first: int = 3) -> Iterator[None]:
    """A search that multiplies few rows however few there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(under_test, "EXACT_ROWS", 0)
        patch.setattr(under_test, "CANDIDATES", candidates)
        patch.setattr(under_test, "_FOR_EACH", for_each)
        patch.setattr(under_test, "_WHOLE", whole)
        patch.setattr(under_test, "_FIRST", first)
        yield


Documents = dict[int, NDArray[np.float32]]
"""The vectors of the chunks of each document, by its number."""
DIMENSION = 200
"""Of made vectors: their sketches have four words."""


def segment(documents: Documents) -> VectorSegment:
    numbers = sorted(documents)
    packed = pack(np.concatenate([documents[number] for number in numbers]))
    held = SegmentDocuments.of((number, len(documents[number])) for number in numbers)
    ids = SegmentIds.of(held, (f"s0:p{n}:c0" for number in numbers for n in range(len(documents[number]))))
    return VectorSegment(ids, packed, sketches(packed[:, :-4]))


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
    centres = chance.standard_normal((6, DIMENSION)).astype(np.float32)
    numbers = draw(st.lists(st.integers(0, 10_000), min_size=1, max_size=12, unique=True))
    sizes = chance.integers(1, 12, len(numbers))
    near = draw(st.sampled_from([0.0, 0.3]))
    rows = [centres[chance.integers(0, 6, size)] + near * chance.standard_normal((size, DIMENSION)) for size in sizes]
    documents = {number: each.astype(np.float32) for number, each in zip(numbers, rows, strict=True)}
    question = chance.standard_normal(DIMENSION).astype(np.float32)
    return documents, question / np.linalg.norm(question)


def deals(count: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 4), min_size=count, max_size=count)


def joined(parts: Sequence[ChunkVectors], question: NDArray[np.float32], k: int) -> Scored:
    def reach(first: int | None) -> SketchReach:
        return reduce(add, (part.reach(question, k, first) for part in parts))

    limits = None if is_exact(sum(map(len, parts)), k) else SketchLimits.of(reach, k)
    found = [hit for part in parts for hit in part.search(question, k, limits=limits)]
    return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:k]


@settings(max_examples=60, deadline=None)
@given(st.data(), corpora(), st.integers(1, 30), st.integers(1, 80), st.integers(1, 4), st.integers(1, 3))
def test_a_search_tells_neither_segments_nor_parts(
    data: st.DataObject, made: tuple[Documents, NDArray[np.float32]], k: int, candidates: int, wider: int, first: int
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
    with in_steps(candidates, whole=wider, first=first):
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
        with in_steps(5):
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


@lru_cache
def slow_signs(dimension: int, bits: int) -> NDArray[np.int64]:
    """Rows of Sylvester's matrix, turned by the first bits of a hash."""
    stream = shake_256(b"sketch").digest(dimension // 8 + 1)
    turned = [1 - 2 * (stream[n // 8] >> (7 - n % 8) & 1) for n in range(dimension)]
    return np.array(
        [[(1 - 2 * ((n % bits & bit).bit_count() % 2)) * turned[n] for n in range(dimension)] for bit in range(bits)]
    )


def slow_sums(vector: Sequence[int], bits: int) -> list[int]:
    """The sums whose signs are a sketch."""
    found: list[int] = (slow_signs(len(vector), bits) @ np.array(vector, np.int64)).tolist()
    return found


def slow_limit(differing: dict[str, int], wanted: int) -> int:
    """In how many bits so many of these differ at most."""
    return sorted(differing.values())[min(wanted, len(differing)) - 1]


def slow_search(
    part: VectorSegment, question: NDArray[np.float32], k: int, first: int, whole: int, wanted: int
) -> Scored:
    """The three steps, row by row and bit by bit."""
    bits = 64 * len(part.sketches)
    upper, lower, _ = integers(question[:, None])
    asked = slow_sums([int(number) for number in (upper * STEPS + lower)[:, 0]], bits)
    least = sorted(map(abs, asked))[bits // 2]
    words = sorted(range(bits // 64), key=lambda word: (-sum(map(abs, asked[64 * word : 64 * word + 64])), word))
    rows = {id: slow_sums(row, bits) for id, row in zip(part.ids, part.packed[:, :-4].tolist(), strict=True)}

    def differing(ids: Iterable[str], among: Sequence[int]) -> dict[str, int]:
        compared = [bit for word in among for bit in range(64 * word, 64 * word + 64) if abs(asked[bit]) >= least]
        return {id: sum((rows[id][bit] > 0) != (asked[bit] > 0) for bit in compared) for id in ids}

    by_first = differing(rows, words[:first])
    by_all = differing([id for id in rows if by_first[id] <= slow_limit(by_first, whole * wanted)], words)
    near = {id for id in by_all if by_all[id] <= slow_limit(by_all, wanted)}
    return [hit for hit in ChunkVectors([part]).search(question, len(part.ids)) if hit[0] in near][:k]


@settings(max_examples=25, deadline=None)
@given(st.data(), corpora(), st.integers(1, 12), st.integers(1, 30), st.integers(1, 4), st.integers(1, 3))
def test_a_search_goes_in_three_steps(
    data: st.DataObject,
    made: tuple[Documents, NDArray[np.float32]],
    k: int,
    candidates: int,
    wider: int,
    first: int,
):
    documents, question = made
    slow = slow_search(segment(documents), question, k, first, wider, max(candidates, k))
    vectors = dealt(documents, data.draw(deals(len(documents))))
    with in_steps(candidates, whole=wider, first=first):
        assert vectors.search(question, k) == slow


@pytest.mark.parametrize(("dimension", "bits"), [(5, 64), (64, 64), (70, 128), (384, 512), (1500, 1024)])
def test_a_sketch_is_signs_of_sums(dimension: int, bits: int):
    chance = np.random.default_rng(dimension)
    numbers = chance.integers(-127, 128, (3, dimension), dtype=np.int8)
    words = sketches(numbers)
    assert words.shape == (bits // 64, 3)
    slow = [[total > 0 for total in slow_sums(row, bits)] for row in numbers.tolist()]
    assert np.unpackbits(np.ascontiguousarray(words.T).view(np.uint8), axis=1).astype(bool).tolist() == slow
    # The bits of a question are those of the row that it becomes, for one of whole numbers.
    whole = numbers[0].astype(np.float32)
    whole[0] = 127
    asked = sketch(whole)
    assert np.array_equal(asked.words, sketches(whole.astype(np.int8)[None])[:, 0])
    # The bits that are compared are those of the larger sums.
    sums = np.abs(slow_sums(whole.astype(int).tolist(), bits))
    compared = np.unpackbits(asked.compared.view(np.uint8)).astype(bool)
    assert sums[compared].min() > sums[~compared].max(initial=-1)
    assert bits // 2 <= compared.sum() < 0.7 * bits
    totals = sums.reshape(-1, 64).sum(axis=1)[asked.order]
    assert (np.diff(totals) <= 0).all()
    question = [total > 0 for total in slow_sums(whole.astype(int).tolist(), bits)]
    first = [bit for bit in range(bits) if compared[bit] and bit // 64 in asked.order[:3]]
    expected = [sum(row[bit] != question[bit] for bit in first) for row in slow]
    assert first_differing([words[:, :1], words[:, 1:]], asked).tolist() == expected


def test_reach_counts_up_to_what_is_wanted():
    counts = SketchReach(np.array([1, 0, 4, 5, 20]))
    assert [counts.bits(wanted) for wanted in (1, 2, 5, 6, 10, 11, 30, 31)] == [0, 2, 2, 3, 3, 4, 4, 5]
    more = counts + SketchReach(np.array([0, 0, 2]))
    assert (more.differing.tolist(), more.bits(6)) == ([1, 0, 6, 5, 20], 2)


def test_recall_of_many_rows():
    chance = np.random.default_rng(1)
    rows = chance.standard_normal((3_000, 384)).astype(np.float32)
    rows[1:] += 1.5 * rows[chance.integers(0, 40, 2_999)]
    vectors = ChunkVectors([segment({1: rows[:1000], 3: rows[1000:]})])
    assert recall(vectors) == 1
    with in_steps(600):
        assert recall(vectors) > 0.97
    with in_steps(10):
        assert recall(vectors) < 0.9
