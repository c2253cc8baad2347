"""The lexicon: what is known of the corpus at an epoch, whatever the order and the history of its documents."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.layers.graph.names import forms_of, stem_of
from ragways.layers.known_names import TABLES, KnownNames
from ragways.layers.lexicon import FILE, Lexicon
from ragways.store.store import Store
from tests.layers.graph.texts import documents
from tests.store.rows import put, write_texts

TEXTS = {
    "Oriel Tamsett": "Oriel Tamsett was an engineer. Tamsett built the pier. It was a pier of Saltrey.",
    "Saltrey": "Saltrey is an island. The Grey Petrel came from Saltrey, and the Pier Company too.",
    "Grey Petrel (ship)": "Grey Petrel was a ship. He met the Quill and Oriel Tamsett. Tamsett left.",
    "Isle of Salt.wiki": "#REDIRECT [[Saltrey]]",
    "Photosynthesis": "Photosynthesis is what photosynthesis does. All photosynthesis is one.",
    "東京": "東京は日本の首都である。首都圏がある。",
    "大阪": "大阪は日本の都市で、首都圏ではない。",
    "京都": "京都は古い都市で、首都圏ではない。",
}
TABLE_NAMES = ("words", "pairs", "titles", "first_words", "phrases", "alone", "usual", "about")


def rows(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    db = sqlite3.connect(folder / FILE)
    found = {table: db.execute(f"SELECT * FROM {table} ORDER BY 1, 2" if table not in
             ("pairs", "phrases", "alone", "usual") else f"SELECT * FROM {table} ORDER BY 1").fetchall()
             for table in TABLE_NAMES}  # fmt: skip
    db.close()
    return found


def write(store: Store, texts: Mapping[str, str]) -> None:
    with store.batch() as batch:
        for document in documents(texts):
            put(batch, document)


@pytest.fixture
def store(tmp_path: Path):
    store = Store.write(tmp_path / "index")
    yield store
    store.close()


def test_it_knows_words_titles_and_how_they_are_used(store: Store) -> None:
    write(store, TEXTS)
    lexicon = Lexicon.make(store, store.folder)
    assert lexicon.common("pier")
    assert lexicon.common("The")
    assert not lexicon.common("Tamsett")
    assert lexicon.titled("isle of salt")
    assert lexicon.titled("grey petrel ship")
    assert not lexicon.titled("grey petrel")
    assert not lexicon.titled("")
    assert lexicon.type("Saltrey") == "island"
    assert lexicon.type("Photosynthesis") == "term"
    assert lexicon.type("Isle of Salt") == ""
    assert lexicon.alone("saltrey")
    assert lexicon.alone("quill")
    assert not lexicon.alone("grey")
    assert lexicon.usual("tamsett")
    assert not lexicon.usual("quill")

    def found(text: str) -> list[tuple[str, tuple[str, ...]]]:
        return [(text[low:high], titles) for low, high, titles in lexicon.titles.find(text, 0, len(text))]

    assert found("The Grey Petrel on the Isle of Salt by photosynthesis") == [
        ("Grey Petrel", ("Grey Petrel (ship)",)),
        ("Isle of Salt", ("Saltrey",)),
        ("photosynthesis", ("Photosynthesis",)),
    ]
    text = "首都圏は広い"
    assert [text[low:high] for low, high, _ in lexicon.phrases.find(text, 0, len(text))] == ["首都圏"]
    lexicon.close()


def test_rows_are_the_same_in_every_order_and_history(tmp_path: Path) -> None:
    expected = None
    for seed in range(4):
        dice = random.Random(seed)
        names = dice.sample(list(TEXTS), len(TEXTS))
        store = Store.write(tmp_path / str(seed))
        write_texts(store, {"gone": "A Tamsett alone is gone. Gone Words Here.", "Saltrey": "another text"})
        for name in names:
            write(store, {name: TEXTS[name]})
        write_texts(store, {"gone": ""})
        lexicon = Lexicon.make(store, store.folder)
        assert expected in (None, (rows(store.folder), lexicon.epoch))
        expected = rows(store.folder), lexicon.epoch
        lexicon.close()
        store.close()


def test_an_epoch_is_that_of_its_documents_and_ends_when_they_double_or_halve(store: Store) -> None:
    write_texts(store, {str(n): f"text {n}" for n in range(10)})
    lexicon = Lexicon.make(store, store.folder)
    assert lexicon.documents == 10
    assert not lexicon.is_due(store)
    write_texts(store, {str(n): f"text {n}" for n in range(10, 19)})
    assert not lexicon.is_due(store)
    write_texts(store, {"19": "text 19"})
    assert lexicon.is_due(store)
    write_texts(store, {str(n): "" for n in range(6, 20)})
    assert not lexicon.is_due(store)
    write_texts(store, {"5": ""})
    assert lexicon.is_due(store)
    again = Lexicon.make(store, store.folder)
    assert again.epoch != lexicon.epoch
    assert not again.is_due(store)
    write_texts(store, {str(n): "" for n in range(6)})
    empty = Lexicon.make(store, store.folder)
    assert not empty.is_due(store)
    for each in (lexicon, again, empty):
        each.close()


def test_nothing_of_removed_documents_is_left_when_it_is_made_anew(store: Store) -> None:
    write_texts(store, {"Saltrey": "Saltrey is an island.", "gone": "The Zoltrane Hyacinthe of zoltrane came."})
    before = Lexicon.make(store, store.folder)
    assert b"zoltrane" in (store.folder / FILE).read_bytes()
    write_texts(store, {"gone": ""})
    after = Lexicon.make(store, store.folder)
    assert b"zoltrane" not in (store.folder / FILE).read_bytes()
    assert before.words.counts("zoltrane") == (1, 1)  # whoever has it open still reads the old one
    assert after.words.counts("zoltrane") == (0, 0)
    before.close()
    after.close()


def test_where_there_is_none_or_a_damaged_or_foreign_one_it_is_made_anew(store: Store) -> None:
    assert Lexicon.open(store) is None
    (store.folder / FILE).write_bytes(b"")
    assert Lexicon.open(store) is None
    (store.folder / FILE).write_bytes(b"no database" * 500)
    assert Lexicon.open(store) is None
    made = Lexicon.make(store, store.folder)
    opened = Lexicon.open(store)
    assert opened is not None
    assert opened.epoch == made.epoch
    opened.close()
    made.close()
    db = sqlite3.connect(store.folder / FILE)
    db.execute("UPDATE about SET format = '0'")
    db.commit()
    db.close()
    assert Lexicon.open(store) is None
    assert Lexicon.of([]).common("the")


PARTS = st.tuples(
    st.sampled_from(["", "s", "ob", "spe", "print", "agre"]),
    st.sampled_from(["", "e", "y", "ey", "ye", "yy"]),
    st.sampled_from(["", "s", "es", "ies", "ied", "ed", "ing", "inged"]),
)
WORD = PARTS.map("".join).filter(bool)


@given(WORD | st.text("abeyinsdgé", min_size=1))
def test_a_word_is_among_the_forms_of_its_stem(word: str) -> None:
    stem = stem_of(word)
    assert not stem or word in forms_of(stem)


@given(st.dictionaries(WORD, st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=12))
def test_stems_are_those_of_words_that_are_written_small(counts: dict[str, tuple[int, int]]) -> None:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(TABLES)
    db.executemany("INSERT INTO words VALUES (?, ?, ?)", [(word, *count) for word, count in counts.items()])
    known = KnownNames(db)
    stems = {stem_of(word) for word in counts} | {"", "s", "sp", "ob"}
    small = {stem_of(word) for word, (count, _) in counts.items() if count} - {""}
    assert {stem for stem in stems if known.words.has_stem(stem)} == small
    db.close()
