"""Documents whose facts are made up, so that their names collide: redirects, acronyms, homonyms, kinds that change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from ragways.core.types import Document, Part, Structure, document_number
from ragways.layers.graph.names import fold, hash_of
from ragways.store.store import Batch, Store

TITLES = (
    "Mercury", "Mercury (planet)", "Mercury (god)", "Grey Petrel (ship)", "Midway, Iowa", "Iowa", "Isle of Salt",
    "Saltrey", "World Health Organization", "WHO", "Oriel Tamsett", "The Tide", "ship", "planet", "…",
)  # fmt: skip
NAMES = (*TITLES[:-1], "Grey Petrel", "Midway", "Tamsett", "1883")
KINDS = ("", "person", "place")
MEANT = ("", "place", "vehicle", "person")
TABLES = ("mentions", "relations", "other_names", "descriptions")


@dataclass(frozen=True)
class Mention:
    """`name` is what the document takes `spelling` for."""

    chunk: int
    name: str
    spelling: str
    kind: str = ""
    meant: str = ""
    count: int = 1


@dataclass(frozen=True)
class MadeDocument:
    """`relations` are by the places of two mentions of one chunk, with a predicate and a weight."""

    title: str
    redirect: str = ""
    chunks: int = 1
    mentions: tuple[Mention, ...] = ()
    relations: tuple[tuple[int, int, str, int], ...] = ()
    acronyms: tuple[tuple[str, str], ...] = ()

    def facts(self) -> dict[str, list[tuple[object, ...]]]:
        mentions = [each for each in self.mentions if each.chunk < self.chunks and not self.redirect]
        return {
            "mentions": [
                (m.chunk, fold(m.name), hash_of(fold(m.name)), m.kind, m.meant, m.spelling, m.kind, m.count, "rules")
                for m in mentions
            ],
            "relations": [
                (one.chunk, fold(one.name), one.kind, how, fold(other.name), other.kind, weight, "", -1, 0, "", "rules")
                for a, b, how, weight in self.relations
                if mentions
                for one, other in [(mentions[a % len(mentions)], mentions[b % len(mentions)])]
                if one.chunk == other.chunk and (fold(one.name), one.kind) != (fold(other.name), other.kind)
            ],
            "other_names": [(fold(name), fold(short), "acronym") for name, short in self.acronyms if not self.redirect],
        }


def put(batch: Batch, key: str, made: MadeDocument) -> None:
    document = Document(key, made.title, "x" * made.chunks, "text", redirect=made.redirect or None)
    chunks = tuple(Part(f"{document.id}:s0:p0:c{n}", n, n + 1) for n in range(made.chunks))
    section = Part(f"{document.id}:s0", 0, made.chunks)
    structure = Structure(document, (section,), (), chunks, ())
    batch.put(structure, "made", [1] * made.chunks, ["00"] * made.chunks)
    batch.put_facts("graph", document_number(key), made.facts(), TABLES, "1")


def remove(batch: Batch, key: str) -> None:
    batch.remove(document_number(key))


def store_of(documents: Mapping[str, MadeDocument], order: Iterable[str] | None = None) -> Store:
    """An index of these documents, each put in a batch of its own."""
    store = Store.scratch(Path("nowhere"))
    for key in order or documents:
        with store.batch() as batch:
            put(batch, key, documents[key])
    return store


names = st.sampled_from(NAMES)
mentions = st.builds(
    Mention, st.integers(0, 2), names, names, st.sampled_from(KINDS), st.sampled_from(MEANT), st.integers(1, 3)
) | st.builds(
    lambda chunk, name, kind, meant: Mention(chunk, name, name, kind, meant),
    st.integers(0, 2), names, st.sampled_from(KINDS), st.sampled_from(MEANT),
)  # fmt: skip
documents = st.builds(
    MadeDocument,
    st.sampled_from(TITLES),
    st.sampled_from(("", "", "", "", *TITLES)),
    st.integers(0, 3),
    st.lists(mentions, max_size=5).map(tuple),
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(("is in", "made")), st.integers(1, 9)),
        max_size=3,
    ).map(tuple),
    st.lists(st.tuples(names, st.sampled_from(("WHO", "Tamsett", "Iowa"))), max_size=1).map(tuple),
)
