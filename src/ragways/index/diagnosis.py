"""What kind of corpus an index holds: figures of its texts, of its graph's structure and of its chunks' vectors.

They tell which paradigms may suit it: a corpus whose graph is dense and in one piece rewards walking it, one whose
vectors fill many dimensions with few hubs is easy to search by meaning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ragways.core.plain import from_json, to_plain
from ragways.core.types import title_name
from ragways.index.open import Index, views_of
from ragways.index.shape import WEDGES, Semantic, Structural, semantic, structural, without_loops
from ragways.layers.files import save_json
from ragways.store.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragways.layers.graph.read import StoredGraph
    from ragways.layers.vectors import ChunkVectors
    from ragways.store.packed import PackedRows

FILE = "diagnosis.json"
NO_GRAPH = "not built, run ragways index PATH --with graph"
NO_VECTORS = "not built, run ragways index PATH --with vectors"
FILTERED = "not measured under a filter"
FEW_POINTS = 2_000
FEW_WEDGES = 1_000_000
"""What a quick look goes by."""
STORED_FROM = 5_000
"""Chunks of an index that stores its figures: those of fewer are measured sooner than a question is answered."""
STORED_FOR = 0.1
"""Share of the documents that come, go or change before the figures that an index stores are measured anew."""
_META = "figures"
"""The setting that they are stored under."""


@dataclass(frozen=True, slots=True)
class Textual:
    """Documents without redirects, and the passages (chunks) they are cut into. None is what is not defined."""

    documents: int
    passages: int
    mean_tokens: float | None
    """Of a passage."""
    passages_per_document: float | None
    dated_share: float | None
    """Documents whose metadata has a date."""
    linked_share: float | None
    """Documents that another one links to or, where there is a graph, is known to name."""
    duplicate_share: float | None
    """Passages with the very text of an earlier one."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The figures of one generation of an index; a part whose layer is not built is None, and `missing` says why.

    `quick_meaning` is `meaning` from few points, where that was taken from more: what hubness and dimension are depends
    on how many points there are, so those who compare corpora take the same number always.
    """

    generation: int
    seed: int
    structure: Structural | None
    meaning: Semantic | None
    missing: Mapping[str, str]
    texts: Textual | None = None
    quick_meaning: Semantic | None = None


@dataclass(frozen=True, slots=True)
class StoredFigures:
    """Quick figures that a large index stores. `layers` are those it had then, and their settings; `changed` is
    how many documents came, went or changed since.
    """

    figures: Diagnosis
    layers: str
    changed: int

    @property
    def hold(self) -> bool:
        """Whether they may still stand for the corpus."""
        documents = self.figures.texts.documents if self.figures.texts is not None else 0
        return self.changed < STORED_FOR * documents

    @classmethod
    def of(cls, store: Store) -> StoredFigures | None:
        """Those of a store; None where it has none, or an older version left them."""
        with suppress(ValueError):
            return from_json(cls, store.meta().get(_META, ""))
        return None


def store_figures(store: Store, changed: int) -> None:
    """Store the figures of a large index, so that no question waits until they are measured: at a million chunks that
    takes a minute. The way that is taken for a question changes little with them, so they are measured anew only when a
    tenth of the documents are others, or other layers are there.

    Called by a run when its views are published. `changed`: documents that it put or removed.
    """
    index, known, meta = Index(store, views_of(store)), StoredFigures.of(store), store.meta()
    shown = index.views.layers if index.views is not None else {}
    layers = " ".join(f"{name} {meta.get(f'settings:{name}', '')}" for name in sorted(index.layers))
    if known is not None:
        known = replace(known, changed=known.changed + changed)
    if known is None or not known.hold or known.layers != layers:
        measurable = store.count("chunks") >= STORED_FROM and (index.layers & {"vectors", "graph"}).issubset(shown)
        known = StoredFigures(diagnose(index, quick=True), layers, 0) if measurable else None
    value = "" if known is None else json.dumps(to_plain(known))
    if meta.get(_META, "") != value:
        store.set_meta({_META: value})


def diagnose(index: Index, *, seed: int = 0, quick: bool = False) -> Diagnosis:
    """Measure what is built. Large corpora are sampled; the figures say from what. `quick`: by small samples alone."""
    graph, vectors = "graph" in index.layers, "vectors" in index.layers
    wedges = FEW_WEDGES if quick else WEDGES
    structure = _structure(index, seed, wedges) if graph and not index.where else None
    meaning = few = None
    if vectors and (quick or len(index.vectors) > FEW_POINTS):
        few = semantic(*_vectors(index), limit=FEW_POINTS, centre=False)
    if vectors:
        meaning = few if quick else semantic(*_vectors(index), seed=seed)
    parts = {"structure": (structure, FILTERED if graph else NO_GRAPH), "meaning": (meaning, NO_VECTORS)}
    missing = {name: why for name, (part, why) in parts.items() if part is None}
    return Diagnosis(index.generation, seed, structure, meaning, missing, textual(index), None if quick else few)


def known_diagnosis(index: Index) -> Diagnosis:
    """The figures that were saved beside the index where they are of this generation, else quick ones: those that a
    large index stores, or of a small one, or of a part, as they are now.
    """
    with suppress(OSError, ValueError):  # none yet, or one that an older version left
        saved = from_json(Diagnosis, (index.folder / FILE).read_text(encoding="utf-8"))
        if saved.generation == index.generation and saved.texts is not None and not index.where:
            return saved
    stored = None if index.where else StoredFigures.of(index.store)
    return diagnose(index, quick=True) if stored is None else stored.figures


def _vectors(index: Index) -> tuple[PackedRows, NDArray[np.int64]]:
    """All vectors of chunks, and the order of their rows."""
    vectors = cast("ChunkVectors", index.vectors)
    return vectors.matrix, vectors.in_order


def _structure(index: Index, seed: int, wedges: int) -> Structural:
    graph = cast("StoredGraph", index.graph)
    relations = graph.counts()["relations"]
    links, types = without_loops(graph.in_order), len(set(graph.arrays.relation_predicates.tolist()))
    return structural(links, relations=relations, relation_types=types, seed=seed, wedges=wedges)


def save(folder: Path, diagnosis: Diagnosis) -> Path | None:
    """Save the figures beside the index, and return the file; an index that cannot be written goes without."""
    file = folder / FILE
    try:
        save_json(file, to_plain(diagnosis))
    except OSError:
        return None
    return file


# Whether a graph pays

MANY, SHORT, NAMING = 100, 2.0, 0.1
"""Documents, passages of one, and the share of documents that name others, from which on (up to which) a graph pays:
on encyclopedias in short articles, and not on news, summaries of news and documentation (docs/figures.md).
"""
_SAMPLE, _OPENING, _NAME_WORDS, _SHORT_NAME = 200, 2000, 5, 3
_AROUND = " .,;:?!()[]\"'“”‘’«»"


def graph_pays(store: Store) -> str:
    """Why a corpus is of the kind that gains by a graph: many short documents that name each other. Empty where not."""
    db, passages = store.db, store.count("chunks")
    documents = db.execute("SELECT count(*) FROM documents WHERE redirect IS NULL").fetchone()[0]
    if documents < MANY or passages > SHORT * documents:
        return ""
    # Numbers are hashes of keys, so the first documents are as good as drawn by lot.
    query = "SELECT number, substr(text, 1, ?) FROM documents WHERE redirect IS NULL ORDER BY number LIMIT ?"
    sample = db.execute(query, (_OPENING, _SAMPLE)).fetchall()
    found = "SELECT 1 FROM documents WHERE number <> ? AND name IN (SELECT value FROM json_each(?)) LIMIT 1"
    naming = sum(
        db.execute(found, (number, json.dumps(_names(text)))).fetchone() is not None for number, text in sample
    )
    if naming < NAMING * len(sample):
        return ""
    share = f"{naming / len(sample):.0%} of its documents name another one"
    return f"{documents:,} documents of {passages / documents:.1f} passages, and {share}"


def _names(text: str) -> list[str]:
    """What may be the title of a document in a text, as titles are compared: it begins with a capital or a number."""
    words = [word.strip(_AROUND) for word in text.split()]
    begins = [at for at, word in enumerate(words) if word[:1].isupper() or word[:1].isdigit()]
    stretches = {title_name(" ".join(words[at : at + size])) for at in begins for size in range(1, _NAME_WORDS + 1)}
    return sorted(name for name in stretches if len(name) > _SHORT_NAME)


# The texts


def textual(index: Index) -> Textual:
    db = index.store.db
    documents, dated = db.execute(
        "SELECT count(*), sum(coalesce(metadata ->> '$.date', '') <> '') FROM documents WHERE redirect IS NULL"
    ).fetchone()
    passages, tokens, texts = db.execute("SELECT count(*), sum(tokens), count(DISTINCT hash) FROM chunks").fetchone()
    linked = {
        row[0]
        for row in db.execute(
            "SELECT DISTINCT d.number FROM documents d JOIN links l ON l.name = d.name AND l.document <> d.number "
            "WHERE d.redirect IS NULL"
        )
    } | (cast("StoredGraph", index.graph).named_elsewhere() if "graph" in index.layers else frozenset())
    return Textual(
        documents=documents,
        passages=passages,
        mean_tokens=tokens / passages if passages else None,
        passages_per_document=passages / documents if documents else None,
        dated_share=dated / documents if documents else None,
        linked_share=len(linked) / documents if documents else None,
        duplicate_share=1 - texts / passages if passages else None,
    )
