"""Weights in the arrays: as small as they can be, and never others than they are."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.index.build import build
from ragways.index.graph import kept_facts, tables, weights
from ragways.index.graph.contents import ABOUT, MENTION_WEIGHTS, MOST_TIMES, Contents
from ragways.index.graph.weights import PARTS, kept_as, kept_sums, kept_weights, readable, sums_as, sums_of, weights_of
from ragways.index.reader import Index
from tests.fakes import recipe, write
from tests.index.graph.plain_arrays import told

HALVES = st.integers(0, 65535).map(lambda halves: halves / 2)
OTHERS = st.floats(0, 2**20, width=32)


@given(st.lists(st.one_of(HALVES, HALVES, OTHERS), max_size=6))
def test_weights_are_what_they_were(given: list[float]) -> None:
    made = np.array(given, dtype=np.float32)
    for kept in (kept_weights(made), kept_as(made, np.dtype(np.uint16)), kept_as(made, np.dtype(np.float32))):
        if kept is not None:
            assert weights_of(kept).tolist() == np.asarray(readable(kept)).tolist() == made.tolist()
            assert readable(kept)[np.arange(len(made))].tolist() == made.tolist()


@pytest.mark.parametrize(
    ("given", "small"),
    [([], True), ([0.5, 16383.5], True), ([0.5, 16384.0], False), ([0.25], False), ([-0.5], False), ([7e4], False)],
)
def test_halves_take_two_bytes_unless_they_may_soon_take_more(given: list[float], small: bool) -> None:
    assert (kept_weights(np.array(given, dtype=np.float32)).dtype == np.uint16) == small


def test_two_bytes_take_all_halves_that_come_later_and_no_others() -> None:
    for weight, fits in ((32767.5, True), (32768.0, False), (1024.5, True), (0.1, False), (-1.0, False)):
        assert (kept_as(np.array([weight], dtype=np.float32), np.dtype(np.uint16)) is not None) == fits


@pytest.mark.parametrize("most", [3, 60])
def test_weights_that_no_longer_fit_have_all_arrays_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Two entities that more and more documents join: their weight outgrows what is kept of it."""
    monkeypatch.setattr(tables, "LARGE", 0)
    monkeypatch.setattr(kept_facts, "_MUCH", 0)
    monkeypatch.setattr(weights, "_HALVES", np.arange(most, dtype=np.float32) / np.float32(2))
    texts = {f"{n}.md": f"# Ship {n}\n\nIt was lost.\n" for n in range(9)}
    docs, graph = write(tmp_path / "docs", texts), frozenset({"words", "graph"})
    asyncio.run(build(tmp_path / "index", [docs], recipe(layers=graph)))
    for n in range(5):
        (docs / f"more{n}.md").write_text(f"# More {n}\n\nOtto Tamsett met Ilsabet Corran in Saltrey.\n")
        asyncio.run(build(tmp_path / "index", [docs], recipe(layers=graph)))
    asyncio.run(build(tmp_path / "anew", [docs], recipe(layers=graph)))
    said, kinds = [], set()
    for name in ("index", "anew"):
        with closing(Index.open(tmp_path / name)) as index:
            derived = index.graph._folder
            said.append(told(derived, index._store.db))
        kinds.add(str(np.load(derived / "graph-relations-weights.npy").dtype))
    assert said[0] == said[1]
    assert kinds == {"float32" if most == 3 else "uint16"}


def test_a_mark_has_how_often_up_to_the_most_and_whether_it_is_the_own_article() -> None:
    contents = Contents.__new__(Contents)
    times, own = (
        np.array([1, 2, 126, 127, 128, 100_000], dtype=np.uint32),
        np.array([0, 1, 0, 1, 0, 1], dtype=np.uint32),
    )
    contents.counts = times << np.uint32(1) | own
    assert (contents.marks >> 1).tolist() == [1, 2, 126, MOST_TIMES, MOST_TIMES, MOST_TIMES]
    assert (contents.marks & 1).tolist() == own.tolist()
    assert MENTION_WEIGHTS[contents.marks[:2]].tolist() == pytest.approx(
        [1.0, 1.0 + np.log(2) + ABOUT], abs=0.5 / PARTS
    )
    assert (MENTION_WEIGHTS * PARTS % 1 == 0).all()


@given(st.lists(st.integers(0, 1 << 34), max_size=20), st.booleans())
def test_sums_are_kept_exactly_in_four_bytes_or_in_eight(parts: list[int], fine: bool) -> None:
    sums = np.array(parts, dtype=np.float64) / PARTS + (2.0**-20 if fine else 0)
    kept = kept_sums(sums)
    assert sums_of(kept).tolist() == sums.tolist()
    fit = not parts or (not fine and max(parts) < 1 << 32)
    assert kept.dtype == (np.uint32 if fit else np.float64)
    assert (sums_as(sums, np.dtype(np.uint32)) is not None) == fit
