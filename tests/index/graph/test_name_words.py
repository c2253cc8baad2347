"""Names by their words, against reading all of them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index.graph.ids import EntityIds, EntityPlaces
from ragways.index.graph.name_words import NameWords

WORDS = ("ness", "light", "the", "of", "ferry", "é", "5")
words = st.sampled_from(WORDS)
names = st.lists(st.tuples(st.lists(words, min_size=1, max_size=4).map(" ".join), st.integers(0, 9)), max_size=25)


@settings(max_examples=150, deadline=None)
@given(names.map(lambda each: sorted(set(each))), st.lists(st.one_of(words, st.just("unknown")), max_size=3))
def test_names_that_hold_all_words_the_shortest_first(named: list[tuple[str, int]], wanted: list[str]) -> None:
    by_hand = sorted(
        (name.count(" "), entity) for name, entity in named if wanted and set(wanted) <= set(name.split(" "))
    )
    made = NameWords.of(named)
    assert made.holding(wanted).tolist() == [entity for _, entity in by_hand]
    with tempfile.TemporaryDirectory() as folder:
        made.save(Path(folder))
        assert NameWords.load(Path(folder)).holding(wanted).tolist() == [entity for _, entity in by_hand]


@given(st.sets(st.integers(0, 2**64 - 1), max_size=30), st.integers(0, 2**64 - 1))
def test_ids_of_entities_as_numbers(numbers: set[int], other: int) -> None:
    ids = [f"entity:{number:016x}" for number in sorted(numbers)]
    kept = EntityIds.of(ids)
    places = EntityPlaces(kept)
    assert list(kept) == kept[:] == [kept[place] for place in range(len(kept))] == ids
    assert [places[id] for id in ids] == list(range(len(ids)))
    for strange in (f"entity:{other:016x}", "entity:", "entity:zz", "chunk:0000000000000000", f"entity:{other:017x}"):
        assert (strange in places) == (strange in ids)
