"""Whether a word that is written small has a stem is told by the words themselves, whatever came and went."""

from __future__ import annotations

import sqlite3
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ragways.index.database import create_tables
from ragways.index.graph.corpus_changes import Changed, _Words
from ragways.index.graph.corpus_names import STEM, TABLES, StoredLexicon, key_of
from ragways.index.graph.names import forms_of, stem_of

PARTS = st.tuples(
    st.sampled_from(["", "s", "ob", "spe", "print", "agre"]),
    st.sampled_from(["", "e", "y", "ey", "ye", "yy"]),
    st.sampled_from(["", "s", "es", "ies", "ied", "ed", "ing", "inged"]),
)
WORD = PARTS.map("".join).filter(bool)
STEPS = st.lists(st.dictionaries(WORD, st.integers(-2, 2), max_size=8), max_size=5)


@given(WORD | st.text("abeyinsdgé", min_size=1))
def test_a_word_is_among_the_forms_of_its_stem(word: str) -> None:
    stem = stem_of(word)
    assert not stem or word in forms_of(stem)


@given(STEPS, STEPS)
def test_stems_follow_the_words_that_are_written_small(
    steps: list[dict[str, int]], large: list[dict[str, int]]
) -> None:
    db = sqlite3.connect(":memory:", isolation_level=None)
    create_tables(db, TABLES)
    small: Counter[str] = Counter()
    stems: set[str] = set()
    asked = {stem_of(word) for step in steps for word in step} | {"", "s", "sp", "ob"}
    for at, step in enumerate(steps):
        words, changed = _Words(), Changed()
        words.small.update({word: max(count, -small[word]) for word, count in step.items()})
        words.large.update({word: abs(count) for some in large[at : at + 1] for word, count in some.items()})
        small.update(words.small)
        words.put(db, changed)
        now = {stem_of(word) for word in +small} - {""}
        assert changed.keys == {key_of(STEM, stem) for stem in now ^ stems}
        lexicon = StoredLexicon(db, set())
        assert {stem for stem in asked if lexicon.has_stem(stem)} == now
        stems = now
