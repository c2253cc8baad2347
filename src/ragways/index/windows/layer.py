"""The layer of windows: embeds windows, sentences and themes, and derives the edges between them.

When documents come or go, only new texts are embedded, and only edges that they can change are computed again
(`renewal.py`). A document whose texts have no vectors yet, because a budget ended the work, is left out whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ragways.core.types import content_hash
from ragways.index.layer import Layer, Outlook, Prospect, Site
from ragways.index.windows.edges import Edges
from ragways.index.windows.files import FOLDER, write_json, write_vectors
from ragways.index.windows.neighbours import Space, nearest_elsewhere
from ragways.index.windows.options import Options, keep_options, options_of
from ragways.index.windows.projection import Projection
from ragways.index.windows.renewal import Known, renew
from ragways.index.windows.sliding import Layout, lay_out, slid_documents, slide
from ragways.index.windows.themes import (
    KIND,
    RULE,
    Themed,
    ask_themes,
    themes_hash,
    themes_of,
    themes_to_come,
    words_hash,
)

_TEXTS_AT_ONCE = 8192
_PAIR_SECONDS = 2e-8
"""To compare two windows of 384 numbers on one core, among many (`benchmarks/windows.py`)."""


async def _work(site: Site) -> None:
    keep_options(site)
    options = options_of(site)
    waiting: dict[str, str] = {}
    for slid in slid_documents(site.store, options):
        waiting |= {content_hash(text): text for text in (*slid.window_texts(), *slid.sentence_texts())}
        if len(waiting) >= _TEXTS_AT_ONCE:
            await site.embed(waiting)
            waiting = {}
    await site.embed(waiting)
    try:
        await ask_themes(site, slid_documents(site.store, options))
    finally:
        # Where a budget ends the asking, the rest have their themes by the rule.
        await site.embed({content_hash(themed.text): themed.text for themed in _themes(site, options).values()})


def _derive(site: Site, folder: Path) -> None:
    options, meta = options_of(site), site.store.meta()
    embedder, dimension = meta["embedder"], int(meta["dimension"])
    target = folder / FOLDER
    target.mkdir()
    themes = _themes(site, options)
    layout = _whole(site, options, embedder, themes)

    def vectors(name: str, ids: Iterable[str], hashes: Iterable[str]) -> Space:
        ids, hashes = list(ids), list(hashes)
        matrix = write_vectors(target, name, ids, hashes, paid=site.paid, embedder=embedder, dimension=dimension)
        own = np.arange(len(ids), dtype=np.int32)
        return Space(matrix, own, own)

    vectors("sentences", layout.sentences, layout.sentence_hashes)
    windows = vectors("windows", layout.windows, layout.window_hashes).matrix
    by_theme = vectors("themes", layout.documents, (content_hash(themes[id].text) for id in layout.documents))

    space = Space(windows, layout.window_at[:, 2], layout.window_same)
    known = Known(embedder, options.size, options.slide, options.top_k, options.top_x, layout.documents, layout.prints)
    before = None if site.before is None else site.before / FOLDER
    within, across = renew(space, known, before)
    Edges.pack(within).save(target, "within")
    Edges.pack(across).save(target, "across")
    Edges.pack(nearest_elsewhere(by_theme, options.top_t)).save(target, "themes")

    projection = Projection.fit(windows)
    projection.save(target)
    np.save(target / "projected.npy", projection.apply(windows))
    for name in ("window_at", "window_same", "sentence_at", "sentence_same"):
        np.save(target / f"{name}.npy", getattr(layout, name))
    write_json(target, "themes", {id: asdict(themes[id]) for id in layout.documents})
    write_json(target, "known", asdict(known))
    write_json(target, "left_out", sorted(set(themes) - set(layout.documents)))


def _themes(site: Site, options: Options) -> dict[str, Themed]:
    return themes_of(site, slid_documents(site.store, options))


def _whole(site: Site, options: Options, embedder: str, themes: dict[str, Themed]) -> Layout:
    """The rows of the documents that have all their vectors."""
    layout = lay_out(site.store, options)
    of_themes = {id: content_hash(themed.text) for id, themed in themes.items()}
    wanted = {*layout.window_hashes, *layout.sentence_hashes, *of_themes.values()}
    known = site.paid.known(embedder, wanted)
    if known == wanted:
        return layout
    unthemed = frozenset(id for id, hash in of_themes.items() if hash not in known)
    return lay_out(site.store, options, known=known, without=unthemed)


def _plan(prospect: Prospect) -> Outlook:
    site, options = prospect.site, options_of(prospect.site)
    counts = site.store.db.execute("SELECT count(*) FROM sentences GROUP BY document")
    rows = sum(len(slide(count, options)) for (count,) in counts)
    unthemed, usage = themes_to_come(site, slid_documents(site.store, options))
    said = [
        themed.text for themed in themes_of(prospect.sample, slid_documents(prospect.sample.store, options)).values()
    ]
    return Outlook(
        rows,
        texts=(
            text
            for slid in slid_documents(site.store, options)
            for text in (*slid.window_texts(), *slid.sentence_texts())
        ),
        like=said,
        times=unthemed / max(1, len(said)),
        usage=usage,
        kind=KIND,
        seconds=_PAIR_SECONDS * rows * rows * prospect.fresh,
        estimated="themes, edges" if unthemed or prospect.fresh else "",
    )


def _used(site: Site) -> dict[str, set[str]]:
    options = options_of(site)
    layout = lay_out(site.store, options)
    of_themes = {content_hash(themed.text) for themed in _themes(site, options).values()}
    return {
        "vectors": {*layout.window_hashes, *layout.sentence_hashes, *of_themes},
        KIND: {themes_hash(slid) for slid in slid_documents(site.store, options)},
        RULE: {words_hash(slid) for slid in slid_documents(site.store, options)},
    }


WINDOWS = Layer(
    name="windows",
    summary="windows of sentences joined to the most similar ones, for traversals",
    needs=frozenset({"vectors"}),
    plan=_plan,
    work=_work,
    derive=_derive,
    used=_used,
)
