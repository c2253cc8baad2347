"""Sentences come back from the row of their document as they were, with the ids that they were cut with."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragways.core.types import Document, Heading
from ragways.corpus.structure import PRESETS, structure
from ragways.store.sentences import (
    Span,
    count_sentences,
    packed_sentences,
    sentence_counts,
    sentence_rows,
    sentences_of,
    unpacked_sentences,
)
from ragways.store.store import Store, number_of, path_of

SIZES = st.integers(0, 300) | st.sampled_from([0, 255, 256, 65_535, 65_536, 2**32])
RISING = st.lists(st.tuples(SIZES, SIZES)).map(lambda pairs: spans_of([size for pair in pairs for size in pair]))
ANY = st.lists(st.tuples(SIZES, SIZES).map(lambda pair: (pair[0], sum(pair))))


def spans_of(sizes: list[int]) -> list[Span]:
    borders = list(accumulate(sizes))
    return list(zip(borders[::2], borders[1::2], strict=True))


@given(RISING | ANY)
@example([(5, 9), (0, 3)])
@example([(0, 0), (0, 0)])
def test_sentences_come_back(spans: list[Span]):
    assert unpacked_sentences(packed_sentences(spans)) == spans


@given(RISING | ANY, st.integers(-1, 2000), st.integers(0, 2000))
def test_those_between_two_places(spans: list[Span], begin: int, stop: int):
    found = unpacked_sentences(packed_sentences(spans), begin, stop)
    assert found == [(start, end) for start, end in spans if end > begin and start < stop]


@given(st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255)), min_size=1))
def test_a_sentence_takes_two_bytes(pairs: list[tuple[int, int]]):
    spans = spans_of([size for pair in pairs for size in pair])
    assert len(packed_sentences(spans)) == 1 + 2 * len(spans)
    wide = [*spans, (spans[-1][1], spans[-1][1] + 256)]
    assert len(packed_sentences(wide)) == 1 + 3 * len(wide), "a long sentence does not have gaps take more"


@pytest.mark.parametrize("packed", [b"\x00\x00", b"\x08\x00\x00\x10", b"\x05\x00\x00\x00\x00\x00"])
def test_what_no_sentences_were_packed_to_is_refused(packed: bytes):
    with pytest.raises(ValueError, match="sentences in"):
        unpacked_sentences(packed)


def in_memory(*documents: Document) -> Store:
    store = Store.scratch(Path())
    with store.batch() as batch:
        for document in documents:
            parts = structure(document, PRESETS["section"])
            batch.put(parts, "a file", [1] * len(parts.chunks), ["00" * 16] * len(parts.chunks))
    return store


TEXTS = st.lists(
    st.sampled_from(["It began. ", "It went on", " and on!", "\n", "\n\n", "name: Tern", "Dr. Brack came. ", "  "]),
    max_size=30,
).map("".join)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3)), max_size=3))
def test_ids_follow_from_paragraphs_whatever_the_order_of_headings(text: str, places: list[tuple[int, int]]):
    headings = tuple(Heading(at, min(at + more, len(text)), 2, "It") for at, more in places if at < len(text))
    document = Document("k", "Tern", text, "text", headings=headings)
    expected = [(path_of(part.id), part.start, part.end) for part in structure(document, PRESETS["section"]).sentences]
    assert sentence_rows(in_memory(document).db, number_of(document.id)) == expected


def test_counts_are_those_of_all_documents():
    long = Document("long", "Long", "It went on and on. " + "very " * 60 + "long.", "text")
    few, none = (Document(key, key, text, "text") for key, text in (("few", "One. Two. Three."), ("none", "")))
    store = in_memory(long, few, none)
    counts = {number_of(document.id): count for document, count in ((long, 2), (few, 3))}
    assert dict(sentence_counts(store.db)) == counts
    assert [number for number, _ in sentence_counts(store.db)] == sorted(counts)
    assert list(sentence_counts(store.db, [number_of(none.id), number_of(few.id), 5])) == [(number_of(few.id), 3)]
    assert count_sentences(store.db) == store.count("sentences") == 5
    assert sentences_of(store.db, 5) == []
