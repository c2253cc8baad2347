"""Vectors of chunks and of other things: searches against plain sorts, and what a fold leaves."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragways.core.errors import StoreDamaged, StoreFailed
from ragways.core.types import content_hash
from ragways.layers import sketches as under_test
from ragways.layers.layer import Scored
from ragways.layers.sketches import sketches
from ragways.layers.vectors import VECTORS, ChunkVectors, StoredVectors, best
from ragways.store.packed import PackedRows
from ragways.store.store import chunk_id, number_of, path_of, place_of
from tests.fakes import WordHashes, vector_of
from tests.layers.views import LayerRuns
from tests.store.rows import document, number, put

Floats = NDArray[np.float32]


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[LayerRuns]:
    made = LayerRuns(tmp_path, VECTORS)
    yield made
    made.close()


@contextmanager
def in_steps(candidates: int, *, for_each: int = 1, whole: int = 10, first: int = 3) -> Iterator[None]:
    """A search that multiplies few rows however few there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(under_test, "EXACT_ROWS", 0)
        patch.setattr("ragways.layers.vectors.EXACT_ROWS", 0)
        patch.setattr(under_test, "CANDIDATES", candidates)
        patch.setattr(under_test, "_FOR_EACH", for_each)
        patch.setattr(under_test, "_WHOLE", whole)
        patch.setattr(under_test, "_FIRST", first)
        yield


DIMENSION = 200
"""Of made vectors: their sketches have four words."""


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[tuple[int, int]], Floats, Floats]:
    """Documents and places of rows, many of which are equal or nearly so, and a question."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    centres = chance.standard_normal((6, DIMENSION)).astype(np.float32)
    numbers = draw(st.lists(st.integers(0, 10_000), min_size=1, max_size=12, unique=True))
    keys = [(document, place << 21) for document in numbers for place in range(int(chance.integers(1, 12)))]
    near = draw(st.sampled_from([0.0, 0.3]))
    noise = near * chance.standard_normal((len(keys), DIMENSION))
    rows = (centres[chance.integers(0, 6, len(keys))] + noise).astype(np.float32)
    question = chance.standard_normal(DIMENSION).astype(np.float32)
    return keys, rows, question / np.linalg.norm(question)


def chunk_vectors(
    keys: Sequence[tuple[int, int]], rows: Floats, order: Sequence[int], *, dead: int = 0
) -> ChunkVectors:
    """Rows in another order, with some of removed documents before them."""
    chosen = np.concatenate([np.zeros(dead, np.int64), np.array(order, np.int64)])
    documents, places = np.array(keys, np.int64)[chosen].T
    matrix = PackedRows.of(rows[chosen])
    live = np.arange(dead, len(chosen)) if dead else None
    return ChunkVectors(matrix, documents, places, sketches(matrix.packed[:, :-4]), live)


def sorted_hits(keys: Sequence[tuple[int, int]], rows: Floats, question: Floats, k: int, minimum: float) -> Scored:
    scores = (PackedRows.of(rows) @ question).tolist()
    found = sorted((-score, *key) for key, score in zip(keys, scores, strict=True) if score >= np.float32(minimum))
    return [(chunk_id(document, place), -score) for score, document, place in found[:k]]


@settings(max_examples=80, deadline=None)
@given(corpora(), st.randoms(), st.integers(0, 30), st.sampled_from([-1.0, 0.05]), st.integers(0, 3))
def test_an_exact_search_is_a_sort_whatever_the_order_of_rows(made, chance, k: int, minimum: float, dead: int):
    keys, rows, question = made
    order = chance.sample(range(len(keys)), len(keys))
    vectors = chunk_vectors(keys, rows, order, dead=dead)
    expected = sorted_hits(keys, rows, question, k, minimum)
    for _ in range(3):  # a reader that is asked again unpacks its rows
        assert vectors.search(question, k, minimum=minimum) == expected


@settings(max_examples=60, deadline=None)
@given(corpora(), st.randoms(), st.integers(1, 30), st.integers(1, 80), st.integers(1, 4), st.integers(1, 3))
def test_a_search_by_sketches_does_not_depend_on_the_order_of_rows(
    made, chance, k: int, candidates: int, wider: int, first: int
):
    keys, rows, question = made
    whole = chunk_vectors(keys, rows, range(len(keys)))
    other = chunk_vectors(keys, rows, chance.sample(range(len(keys)), len(keys)), dead=chance.randrange(4))
    exact = whole.search(question, k)
    with in_steps(candidates, whole=wider, first=first):
        near = whole.search(question, k)
        assert other.search(question, k) == near
    assert len(near) == len(exact)
    assert dict(near).items() <= dict(whole.search(question, len(keys))).items()


@settings(max_examples=40, deadline=None)
@given(corpora(), st.randoms(), st.integers(0, 3))
def test_places_sizes_openings_and_a_part(made, chance, dead: int):
    keys, rows, question = made
    vectors = chunk_vectors(keys, rows, shuffled_documents(keys, chance), dead=dead)
    ids = [chunk_id(*key) for key in sorted(keys)]
    assert vectors.ids == ids
    assert len(vectors) == len(ids)
    places = vectors.places([*ids, "article:77777:s0:p0:c0", "window:3"])
    assert [places[id] for id in ids] == vectors.in_order.tolist()
    assert len(places) == len(ids)
    in_order = sorted(range(len(keys)), key=keys.__getitem__)
    assert np.array_equal(vectors.matrix[vectors.in_order], PackedRows.of(rows)[in_order])
    numbers = sorted({document for document, _ in keys})
    assert vectors.sizes([f"article:{document}" for document in [*numbers, 77777]]) == {
        f"article:{document}": sum(key[0] == document for key in keys) for document in numbers
    }
    cosines = vectors.cosines(question, [chunk_id(document, 0) for document in numbers])
    nearest = sorted(((-cosine, id.rsplit(":", 3)[0]) for id, cosine in cosines.items() if cosine >= 0))
    assert vectors.openings(question, 3) == [(id, -cosine) for cosine, id in nearest[:3]]
    near = vectors.nearest_to(ids[0], len(ids))
    assert len(near) == len(ids)
    assert dict(near)[ids[0]] == near[0][1]
    some = {document for document in [*numbers, 77777] if chance.random() < 0.5}
    kept = [n for n, key in enumerate(keys) if key[0] in some]
    alone = chunk_vectors([keys[n] for n in kept], rows[kept], range(len(kept))) if kept else None
    assert vectors.only(some).ids == [id for id in ids if number_of(id) in some]
    assert vectors.only(some).search(question, 9) == (alone.search(question, 9) if alone else [])
    with in_steps(5):
        assert vectors.only(some).search(question, 9) == (alone.search(question, 9) if alone else [])


def shuffled_documents(keys: Sequence[tuple[int, int]], chance) -> list[int]:
    """Documents in any order, each with its rows in theirs."""
    numbers = sorted({document for document, _ in keys})
    chance.shuffle(numbers)
    return [n for document in numbers for n, key in enumerate(keys) if key[0] == document]


# Vectors of other things


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0]), max_size=30), st.integers(1, 35), st.sampled_from([-1.0, 0.3])
)
def test_best_is_a_sort(scores, k, least):
    ids = [f"id{(7 * n) % 31:02}" for n in range(len(scores))]
    expected = sorted(((id, s) for id, s in zip(ids, scores, strict=True) if s >= least), key=lambda p: (-p[1], p[0]))
    assert best(ids, np.array(scores, np.float32), k, least) == expected[:k]


@pytest.mark.parametrize("exact_rows", [0, 100])
def test_search_save_and_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exact_rows: int):
    monkeypatch.setattr("ragways.layers.vectors.EXACT_ROWS", exact_rows)
    chance = np.random.default_rng(3)
    matrix = chance.standard_normal((50, 8)).astype(np.float32)
    vectors = StoredVectors([f"id{n}" for n in range(50)], matrix)
    vectors.save(tmp_path, "chunks")
    (tmp_path / "before").mkdir()
    for file in [*tmp_path.glob("chunks.*")]:
        os.link(file, tmp_path / "before" / file.name)
    loaded = StoredVectors.load(tmp_path, "chunks")
    question = matrix[7] / np.linalg.norm(matrix[7])
    assert loaded.search(question, 5) == vectors.search(question, 5)
    assert loaded.search(question, 1)[0][0] == "id7"
    assert loaded.search(question, 5, minimum=0.999) == [("id7", loaded.search(question, 1)[0][1])]
    assert loaded.search(question, 0) == []
    assert loaded.places(["id3", "id77"]) == {"id3": 3}
    assert loaded.search(question, 4, minimum=0.1, most=0.9)[0] == ("id7", float(np.float32(0.9)))
    assert loaded.cosines(question, ["id7", "id77"]) == dict(loaded.search(question, 1))
    StoredVectors(["other"], matrix[:1]).save(tmp_path, "chunks")
    assert StoredVectors.load(tmp_path / "before", "chunks").ids == vectors.ids, "of the generation before"
    StoredVectors.stack([], [], 8).save(tmp_path, "none")
    assert StoredVectors.load(tmp_path, "none").search(question, 3) == []


@given(st.integers(0, 40), st.integers(0, 2**32 - 1), st.integers(1, 50), st.floats(0, 1), st.sampled_from([0.4, 9.0]))
def test_searches_among_some_rows_are_sorts_of_those(rows: int, seed: int, k: int, share: float, most: float):
    chance = np.random.default_rng(seed)
    # Few different vectors, so that many are equal.
    matrix = chance.standard_normal((5, 8)).astype(np.float32)[chance.integers(0, 5, rows)]
    kept = chance.random(rows) < share
    question = chance.standard_normal(8).astype(np.float32)
    vectors = StoredVectors([f"id{(7 * n) % 41:02}" for n in range(rows)], matrix)
    scores = np.minimum(vectors.matrix @ question, np.float32(most)).tolist()
    expected = sorted(
        ((vectors.ids[n], scores[n]) for n in np.flatnonzero(kept).tolist()), key=lambda pair: (-pair[1], pair[0])
    )
    assert vectors.only(kept).search(question, k, minimum=-100.0, most=most) == expected[:k]


# Folding


def expected(runs: LayerRuns, question: Floats, k: int) -> Scored:
    passages = [one for source in runs.store.sources() for one in source.passages]
    if not passages:
        return []
    rows = asyncio.run(WordHashes().embed([one.searched for one in passages]))
    keys = [(number_of(one.id), place_of(path_of(one.id))) for one in passages]
    return sorted_hits(keys, rows, question, k, -1.0)


@pytest.mark.parametrize("steps", [False, True])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_a_fold_answers_as_made_from_the_same_rows(steps: bool, data: st.DataObject):
    """To the bit: with sketches, where searches go by them, and without."""
    text = st.lists(st.sampled_from([f"w{n}" for n in range(12)]), min_size=1, max_size=150).map(" ".join)
    asked = [vector_of(words) for words in ("w1", "w0 w3 w7", "w2 w5 w6 w9 w11")]
    with TemporaryDirectory() as place, in_steps(4) if steps else nullcontext():
        runs = LayerRuns(Path(place), VECTORS)
        for _ in range(data.draw(st.integers(1, 6))):
            keys = st.sampled_from([f"{n}.txt" for n in range(9)])
            vectors = runs.run(data.draw(st.dictionaries(keys, text | st.just(""), max_size=4)))
        made = runs.run({}, make=True)
        for each in asked:
            for k in (3, 40):
                assert vectors.search(each, k) == made.search(each, k)
                assert steps or vectors.search(each, k) == expected(runs, each, k)
        assert vectors.ids == made.ids
        assert vectors.matrix[vectors.in_order].tolist() == made.matrix[made.in_order].tolist()
        assert runs.findings() == []
        runs.close()


def rows_file(runs: LayerRuns) -> Path:
    return max(runs.view.glob("*.i8"))


def test_rows_are_appended_and_a_quarter_removed_is_taken_out(runs: LayerRuns):
    runs.run({f"{n}.txt": f"w{n} light" for n in range(8)})
    first, size = rows_file(runs), rows_file(runs).stat().st_size
    old = runs.open()
    before = old.search(vector_of("light"), 20)
    runs.run({"new.txt": "harbour", "0.txt": "", "1.txt": ""})
    assert rows_file(runs).samefile(first)
    assert rows_file(runs).stat().st_size == size // 8 * 9
    assert len(runs.open()) == VECTORS.count(rows_file(runs).parent, runs.store) == 7
    runs.run({"2.txt": ""})
    assert not rows_file(runs).samefile(first)
    assert rows_file(runs).stat().st_size == size // 8 * 6
    assert old.search(vector_of("light"), 20) == before
    assert runs.findings() == []


def test_a_document_without_vectors_is_left_out_until_there_are_some(runs: LayerRuns):
    runs.lost = {content_hash("harbour light")}
    assert len(runs.run({"a.txt": "harbour light", "b.txt": "the tide"})) == 1
    assert runs.use.failed == 1
    runs.pays = False
    assert len(runs.run({"c.txt": "a lighthouse"})) == 1  # embeds nothing
    runs.lost, runs.pays = set(), True
    assert len(runs.run({})) == 3
    assert runs.use.failed == 0
    assert runs.findings() == []


def test_vectors_of_another_length_are_refused(runs: LayerRuns):
    runs.run({"a.txt": "harbour light"})
    runs.cache.keep(runs.embedder.name, {content_hash("the tide"): np.ones(7, np.float32)})
    with pytest.raises(StoreFailed, match="different lengths"):
        runs.run({"b.txt": "the tide"})


@pytest.mark.parametrize("name", ["vectors.json", "rows.i8", "keys.i64"])
def test_a_damaged_file_ends_in_an_error_with_its_cure(runs: LayerRuns, name: str):
    runs.run({"a.txt": "harbour light"})
    file = rows_file(runs).with_name(name)
    file.write_bytes(file.read_bytes()[:9])
    with pytest.raises(StoreDamaged, match=name):
        runs.open()
    file.unlink()
    with pytest.raises(StoreDamaged, match=name):
        runs.open()


def test_a_check_finds_what_does_not_hold(runs: LayerRuns):
    with in_steps(9):
        runs.run({f"{n}.txt": f"w{n} light" for n in range(8)})
        with runs.store.batch() as batch:
            batch.remove(number("1.txt"))
            put(batch, document("other.txt", "a text"))
        assert {finding.name for finding in runs.findings()} == {
            "chunks without a vector",
            "vectors of chunks that are not there",
        }
