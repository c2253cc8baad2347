"""Which documents must be read again when the corpus tells something else.

Those that asked for what has changed are found by their keys. Where other articles are called by some words than
before, documents are looked for that have the words in a row, and only those are read again in which such a sentence
has other names by it: to look at a few sentences costs far less than to read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from ragways.index.graph.asked_keys import AskedKeys, Places, blocks, documents_at
from ragways.index.graph.corpus_changes import Changed
from ragways.index.graph.corpus_names import CAPITAL, OWN, SMALL, CorpusNames, key_of
from ragways.index.graph.facts import Source, Span, sources
from ragways.index.graph.known_names import Called
from ragways.index.graph.names import STOP, TOKEN, folded
from ragways.index.graph.rules import LONGEST_SENTENCE, names_in, titles_in
from ragways.index.store import Store

Row = tuple[str, ...]
"""Tokens that stand one after the other."""


def documents_concerned(
    store: Store, keys: AskedKeys, corpus: CorpusNames, changed: Changed, touched: Collection[int] = ()
) -> set[int]:
    """Documents to be read again, those aside that were touched themselves. `corpus` answers as of now."""
    found = keys.documents(changed.keys)
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
    return found.difference(touched)


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
            held = {block: np.intersect1d(found[block], places) for block, places in held.items()}
        found = {block: places for block, places in held.items() if len(places)}
    for block, places in (found or {}).items():
        yield from documents_at(store.db, block, places.tolist())
