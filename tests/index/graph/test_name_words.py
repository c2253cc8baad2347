"""Names by their words, against reading all of them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index.graph.ids import EntityIds
from ragways.index.graph.name_words import NameWords
from ragways.index.row_keys import RowKeys

WORDS = ("ness", "light", "the", "of", "ferry", "é", "5")
words = st.sampled_from(WORDS)
names = st.lists(st.tuples(st.lists(words, min_size=1, max_size=4).map(" ".join), st.integers(0, 9)), max_size=25)


@settings(max_examples=150, deadline=None)
@given(
    names.map(lambda each: sorted(set(each), key=lambda named: (named[1], named[0]))),
    st.lists(
        st.dictionaries(st.integers(0, 12), st.sets(words.map(lambda word: f"{word} new"), max_size=2)), max_size=3
    ),
    st.lists(st.one_of(words, st.sampled_from(["unknown", "new"])), max_size=3),
)
def test_names_that_hold_all_words_the_shortest_first(
    named: list[tuple[str, int]], changes: list[dict[int, set[str]]], wanted: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "0"
        place.mkdir()
        NameWords.write(place, named, with_room=True)
        for n, change in enumerate([{}, *changes]):
            if n:
                known = NameWords(place)
                called = [(name, entity) for entity in sorted(change) for name in sorted(change[entity])]
                patch = known.patched(np.array(sorted(change), dtype=np.int64), called)
                assert known.names.has_room(patch[0])
                later = Path(folder) / str(n)
                later.mkdir()
                NameWords.save_patch(later, place, *patch)
                place = later
                named = [(name, entity) for name, entity in named if entity not in change] + called
            by_hand = sorted(
                (name.count(" "), entity) for name, entity in named if wanted and set(wanted) <= set(name.split(" "))
            )
            assert NameWords(place).holding(wanted).tolist() == [entity for _, entity in by_hand]
        assert not any(word.encode() in file.read_bytes() for file in place.iterdir() for word in ("ness", "ferry"))


@given(st.sets(st.integers(0, 2**64 - 1), max_size=30), st.sets(st.integers(0, 2**64 - 1)), st.integers(0, 2**64 - 1))
def test_ids_of_entities_as_numbers(numbers: set[int], later: set[int], other: int) -> None:
    later = later - numbers
    keys = np.array([*sorted(numbers), *later], dtype=np.uint64)
    alive = np.array([key % 5 > 0 for key in keys.tolist()], dtype=np.bool_)
    kept = EntityIds(RowKeys(keys, alive, len(numbers), len(keys)), len(keys))
    ids = [f"entity:{number:016x}" for number in sorted(numbers | later) if number % 5]
    assert list(kept) == ids
    assert len(kept) == len(ids)
    assert [kept.id(kept[id]) for id in ids] == ids == kept.at(kept.places(ids))
    if kept.ranks is not None:
        assert kept.ranks(kept.numbers).tolist() == sorted(kept.ranks(kept.numbers).tolist())
    for strange in (f"entity:{other:016x}", "entity:", "entity:zz", "chunk:0000000000000000", f"entity:{other:017x}"):
        assert (strange in kept) == (strange in ids)
