from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.errors import SettingsError
from ragways.layers.settings import WindowSettings
from ragways.layers.table import layer_settings
from ragways.layers.windows.sliding import slide


def test_three_sentences_slide_by_one():
    assert slide(5, WindowSettings()) == [(0, 3), (1, 4), (2, 5)]


@pytest.mark.parametrize("sentences", [1, 2, 3])
def test_a_short_document_is_one_window(sentences: int):
    assert slide(sentences, WindowSettings()) == [(0, sentences)]


def test_no_sentence_no_window():
    assert slide(0, WindowSettings()) == []


@given(st.integers(0, 40), st.integers(1, 6), st.integers(1, 6))
def test_every_sentence_is_in_a_window_and_no_window_stands_twice(sentences: int, size: int, by: int):
    windows = slide(sentences, WindowSettings(size=size, slide=min(by, size)))
    assert {n for first, end in windows for n in range(first, end)} == set(range(sentences))
    assert len(set(windows)) == len(windows)
    assert all(end - first == min(size, sentences) for first, end in windows)


@pytest.mark.parametrize(
    "wrong", [{"size": 0}, {"slide": 0}, {"top_k": -1}, {"top_x": "ten"}, {"slide": 4}, {"topk": 3}, {"size": True}]
)
def test_settings_that_make_no_sense_are_named(wrong: dict[str, object]):
    with pytest.raises(SettingsError, match=r"windows\."):
        layer_settings({"windows": wrong})
