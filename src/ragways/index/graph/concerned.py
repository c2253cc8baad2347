"""Which documents must be read again when the corpus tells something else.

Those that asked for what has changed are found by their keys. Where it is how a word stands in the corpus, only those
are read again in which a sentence with the word has other names by it; and where other articles are called by some
words than before, documents are looked for that have the words in a row, and likewise: to look at a few sentences costs
far less than to read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ragways.index.graph.asked_keys import BLOCK, AskedKeys, Places, blocks, documents_at
from ragways.index.graph.corpus_changes import Changed
from ragways.index.graph.corpus_names import (
    CAPITAL,
    OWN,
    SMALL,
    CorpusNames,
    LexiconBefore,
    StoredLexicon,
    key_of,
)
from ragways.index.graph.facts import Source, Span, sources
from ragways.index.graph.known_names import Called
from ragways.index.graph.names import STOP, TOKEN, folded
from ragways.index.graph.rules import LONGEST_SENTENCE, capitals_in, names_in, titles_in
from ragways.index.store import Store

_WORDS = 1000
"""Words that stand otherwise than before, of which it is worth while to look for each."""
Row = tuple[str, ...]
"""Tokens that stand one after the other."""


class Concerned(NamedTuple):
    """Documents that must be read again; and those that say the same, but ask for something else to tell: the keys that
    they leave no longer, and those that they leave now.
    """

    read: set[int]
    asking: dict[int, tuple[set[int], set[int]]]


def documents_concerned(
    store: Store, keys: AskedKeys, corpus: CorpusNames, changed: Changed, touched: Collection[int] = ()
) -> Concerned:
    """Those that are concerned, but for those that were touched themselves. `corpus` answers as of now."""
    found = keys.documents(changed.keys)
    by_words, asking = _by_words(store, keys, changed, {*found, *touched})
    found |= by_words
    for phrase in changed.phrases:
        tokens = [(token, SMALL) for token in phrase if token not in STOP]
        found.update(_holding(store, keys, tokens))
    rows: dict[int, set[Row]] = {}
    for row, (before, after) in changed.called.items():
        for number in _holding(store, keys, _needed(row, before, after)):
            rows.setdefault(number, set()).add(row)
    then = corpus.before({row: before for row, (before, _) in changed.called.items()}, changed.types)
    for source in sources(store, sorted(rows.keys() - found - set(touched)), in_parts=False):
        spans = list(_saying(source, rows[source.number]))
        firsts = {row[0] for row in rows[source.number]}
        # All that depends on titles is the titles; to find all names as well takes longer.
        if titles_in(source, spans, firsts, then) == titles_in(source, spans, firsts, corpus):
            continue
        if names_in(source, spans, then) != names_in(source, spans, corpus):
            found.add(source.number)
    found.difference_update(touched)
    return Concerned(found, {number: other for number, other in asking.items() if number not in found})


def _by_words(store: Store, keys: AskedKeys, changed: Changed, others: Collection[int]) -> Concerned:
    """Those that are concerned by words that stand otherwise than before, without these others."""
    if len(changed.words) > _WORDS:
        return Concerned(keys.documents(changed.word_keys), {})
    about: dict[int, set[str]] = {}
    words = changed.word_keys
    for key, numbers in keys.documents_by_key(words).items():
        for number in numbers:
            about.setdefault(number, set()).add(words[key])
    found, lexicons = Concerned(set(), {}), _Lexicons(store.db, changed.words)
    for source in sources(store, sorted(about.keys() - set(others)), in_parts=False):
        if (other := _asks(source, about[source.number], lexicons)) is None:
            found.read.add(source.number)
        elif any(other):
            found.asking[source.number] = other
    return found


class _Lexicons:
    """The lexicon as it was and as it is. `before`: words that stand otherwise by now, and their counts then."""

    def __init__(self, db: sqlite3.Connection, before: Mapping[str, tuple[int, int]]) -> None:
        self.asked: tuple[set[int], set[int]] = set(), set()
        self._then, self._now = LexiconBefore(db, self.asked[0], before), StoredLexicon(db, self.asked[1])

    def agree(self, source: Source, span: Span) -> bool:
        """Whether a sentence has the same names with capitals by both; what they ask is added to `asked`."""
        return capitals_in(source, span, self._then) == capitals_in(source, span, self._now)

    def ask(self, source: Source, span: Span) -> None:
        """Add to `asked` what a sentence asks in which no word stands otherwise."""
        capitals_in(source, span, self._now)


def _asks(source: Source, words: Collection[str], lexicons: _Lexicons) -> tuple[set[int], set[int]] | None:
    """The keys that a document leaves no longer, and those that it leaves now, where `words` that it asked for stand
    otherwise than before: what it asks ends early where a word is a name. None where a sentence has other names by it.
    """
    then, now = lexicons.asked
    then.clear()
    now.clear()
    rest = []
    for span in source.sentences:
        sentence = source.text[slice(*span)].casefold()
        if not any(word in sentence for word in words):
            rest.append(span)
        elif not lexicons.agree(source, span):
            return None
    gone, come = then - now, set(now)
    if gone:
        for span in rest:  # which may have asked for the same
            lexicons.ask(source, span)
        gone -= now
    return gone, come if then != come or gone else set()


def _saying(source: Source, rows: Iterable[Row]) -> Iterator[Span]:
    """The sentences of a document that have any of these tokens in a row."""
    wanted = [(row[0], f" {' '.join(row)} ") for row in rows]
    for start, end in source.sentences:
        sentence = source.text[start : min(end, start + LONGEST_SENTENCE)]
        # Most do not have the letters: to fold a token adds none, where all are ASCII.
        plain = sentence.casefold().translate(_LEFT_OUT) if sentence.isascii() else None
        maybe = [row for first, row in wanted if plain is None or first in plain]
        said = f" {' '.join(map(folded, TOKEN.findall(sentence)))} " if maybe else ""
        if any(row in said for row in maybe):
            yield start, end


_LEFT_OUT = str.maketrans("", "", "'. ")
"""What folded tokens do not have, of ASCII."""


def _needed(row: Row, before: Sequence[Called], after: Sequence[Called]) -> list[tuple[str, str]]:
    """The tokens that a text must hold to be concerned by it that other articles are called so, each with how it must
    stand there: with a capital, and perhaps as no name for itself, or anyhow.
    """
    called = [*before, *after]
    capitals = [all(large[at] and not (small and at == 0) for _, large, small in called) for at in range(len(row))]
    if len(row) == 1 and capitals[0] and max(len(before), len(after)) == 1:
        return [(row[0], CAPITAL)]
    return [
        (token, OWN if capital else SMALL)
        for token, capital in zip(row, capitals, strict=True)
        if capital or token not in STOP
    ]


_AS = {CAPITAL: CAPITAL, OWN: CAPITAL + OWN, SMALL: CAPITAL + OWN + SMALL}
"""Keys under which a token is found that must stand in a text so."""


def _holding(store: Store, keys: AskedKeys, tokens: Sequence[tuple[str, str]]) -> Iterator[int]:
    """Documents that hold all of these tokens."""
    if not tokens:
        yield from (row[0] for row in store.db.execute("SELECT document FROM graph_facts").fetchall())
        return
    found: dict[int, Places] | None = None
    for token, standing in tokens:
        asked = blocks(store.db) if found is None else found
        held = keys.places(asked, [key_of(kind, token) for kind in _AS[standing]])
        if found is not None:
            held = {block: np.intersect1d(found[block], places, assume_unique=True) for block, places in held.items()}
        found = {block: places for block, places in held.items() if len(places)}
    for block, places in (found or {}).items():
        yield from documents_at(store.db, (block * BLOCK + places.astype(np.int64)).tolist()).values()
