"""A graph that was folded over any history is the one that is made of the same rows, to the bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.layers.graph.csr import GraphArrays
from ragways.layers.graph.fold import Entries
from ragways.layers.graph.resolve import Merging, RowColumns
from ragways.store.store import Store
from tests.layers.graph.made_documents import MadeDocument, Mention, documents, put, remove, store_of

KEYS = tuple("abcdefghij")
APART = Merging(frozenset({("Isle of Salt", "Saltrey"), ("WHO", "World Health Organization")}))
NEAR = replace(APART, near=(("tide", "saltrey"), ("midway", "1883")))


def different(one: GraphArrays, other: GraphArrays) -> list[str]:
    """The arrays in which two graphs differ."""
    left, right = one.arrays(), other.arrays()
    return [
        name for name in left if left[name].dtype != right[name].dtype or not np.array_equal(left[name], right[name])
    ]


def common(word: str) -> bool:
    return word in ("ship", "planet", "tide")


def made_of(store: Store, merging: Merging) -> Entries:
    return Entries.make(RowColumns.read(store, None, common), merging)


class History:
    """An index, and the entries of its graph as folded so far."""

    def __init__(self, store: Store, merging: Merging) -> None:
        self.store, self.merging = store, merging
        self.entries = made_of(store, merging)
        self.generation = store.generation

    def fold(self) -> GraphArrays:
        change = self.store.changes(self.generation, "graph")
        self.generation = self.store.generation
        if self.merging.near:  # is never folded
            self.entries = made_of(self.store, self.merging)
            return self.entries.graph()
        self.entries, _ = self.entries.fold(self.store, change, self.merging, common)
        return self.entries.graph()


steps = st.lists(
    st.tuples(st.dictionaries(st.sampled_from(KEYS), documents | st.none(), min_size=1, max_size=3), st.booleans()),
    min_size=1,
    max_size=5,
)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.sampled_from(KEYS), documents), steps, st.sampled_from((Merging(), APART, NEAR)), st.randoms()
)
def test_fold_is_make_and_history_does_not_show(start, steps, merging, dice) -> None:
    history, now = History(store_of(start), merging), dict(start)
    for changes, behind in steps:
        with history.store.batch() as batch:
            for key, made in changes.items():
                if made is None:
                    remove(batch, key)
                    now.pop(key, None)
                else:
                    put(batch, key, made)
                    now[key] = made
        if not behind:
            assert different(history.fold(), made_of(history.store, merging).graph()) == []
    order = sorted(now)
    dice.shuffle(order)
    again = made_of(store_of(now, order), merging)
    assert different(history.fold(), again.graph()) == []
    history.store.close()


def test_what_is_saved_is_what_the_next_fold_needs(tmp_path) -> None:
    made = {
        "a": MadeDocument("Grey Petrel (ship)", mentions=(Mention(0, "Grey Petrel (ship)", "Grey Petrel (ship)"),)),
        "b": MadeDocument("The Tide", mentions=(Mention(0, "Grey Petrel", "Grey Petrel", meant="vehicle"),)),
    }
    history = History(store_of(made), Merging())
    history.entries.save(tmp_path)
    assert different(GraphArrays.load(tmp_path), history.entries.graph()) == []
    with history.store.batch() as batch:
        put(batch, "c", MadeDocument("Grey Petrel", mentions=(Mention(0, "Grey Petrel", "Grey Petrel"),)))
    history.entries = Entries.of(GraphArrays.load(tmp_path), tmp_path)
    assert different(history.fold(), made_of(history.store, Merging()).graph()) == []


def test_a_name_becomes_that_of_two_kinds_of_thing_and_back() -> None:
    """No document of the others changes, and still what they mention becomes another entity."""
    person = MadeDocument("One", mentions=(Mention(0, "Mercury", "Mercury", "person"), Mention(0, "Iowa", "Iowa")),
                          relations=((0, 1, "is in", 1),))  # fmt: skip
    place = replace(person, title="Two", mentions=(Mention(0, "Mercury", "Mercury", "place"),), relations=())
    nobody = replace(place, title="Three", mentions=(Mention(0, "Mercury", "Mercury"),))
    history = History(store_of({"a": person, "b": nobody}), Merging())
    alone = history.entries.graph()
    assert len(alone) == 2
    with history.store.batch() as batch:
        put(batch, "c", place)
    both = history.fold()
    assert len(both) == 4  # a person, a place, one that may be either, and Iowa
    assert different(both, made_of(history.store, Merging()).graph()) == []
    with history.store.batch() as batch:
        remove(batch, "c")
    assert different(history.fold(), alone) == []
