"""Columns of texts are read as the lists they were written from."""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.index.columns import TextColumn, mapped

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=12)


@given(TEXTS, st.data())
def test_a_column_is_its_list(texts: list[str], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        TextColumn.write(Path(folder), "names", iter(texts))
        for column in (TextColumn.load(Path(folder), "names"), TextColumn.of(texts)):
            assert len(column) == len(texts)
            assert list(column) == texts
            assert column[1:] == texts[1:]
            assert column[::-2] == texts[::-2]
            rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=5)) if texts else []
            assert column.take(rows) == column.take(np.array(rows, np.uint32)) == [texts[row] for row in rows]
            assert [column[row] for row in rows] == [texts[row] for row in rows]
            if texts:
                assert column[-1] == texts[-1]
                assert column[-len(texts)] == texts[0]
            for row in (len(texts), -len(texts) - 1):
                with pytest.raises(IndexError):
                    column[row]


@given(TEXTS, st.text(st.characters(exclude_categories=["Cs"]), max_size=6))
def test_words_are_found_in_a_sorted_column(texts: list[str], word: str) -> None:
    texts = sorted(texts)
    column = TextColumn.of(texts)
    for each in (word, *texts):
        assert bisect_left(column, each) == bisect_left(texts, each)


def test_many_texts_are_written_in_parts(tmp_path: Path) -> None:
    texts = [str(number) for number in range(10_000)]
    TextColumn.write(tmp_path, "numbers", iter(texts))
    assert list(TextColumn.load(tmp_path, "numbers")) == texts


def test_a_column_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    TextColumn.write(tmp_path, "names", ["Ada", "Grace"])
    (tmp_path / "names.text").write_bytes(b"AdaGrac")
    with pytest.raises(ValueError, match="belong together"):
        TextColumn.load(tmp_path, "names")


@pytest.mark.parametrize(
    "array",
    [
        np.arange(7, dtype=np.uint16),
        np.zeros(0, np.int64),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array([b"s0:p0:c0", b"s1"]),
    ],
)
def test_an_array_is_mapped_as_it_was_saved(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "array.npy", array)
    found = mapped(tmp_path / "array.npy")
    assert (found.dtype, found.tolist()) == (array.dtype, array.tolist())
    assert not found.flags.writeable


def test_an_array_that_is_not_whole_or_of_objects_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "array.npy"
    np.save(file, np.arange(7))
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(OSError, match="is not whole"):
        mapped(file)
    for short in (b"", b"\x93NUMPY\x01\x00"):
        file.write_bytes(short)
        with pytest.raises(ValueError, match="EOF"):
            mapped(file)
    np.save(file, np.array([{}]))
    with pytest.raises(ValueError, match="objects"):
        mapped(file)
