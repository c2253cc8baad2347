"""The layer of windows: embeds windows, sentences and themes, and derives the edges between them.

When documents come or go, only new texts are embedded, and only edges that they can change are computed again
(`edges.py`). A document whose texts have no vectors yet, because a budget ended the work, is left out whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ragways.core.types import content_hash
from ragways.index.layer import BuildContext, Layer, LayerEstimate, PlanContext, no_files, rows_of_array
from ragways.index.packed import PackedRows
from ragways.index.settings import WindowSettings
from ragways.index.vectors import Vectors
from ragways.index.windows.edges import (
    FOLDER,
    EdgeInputs,
    Edges,
    Space,
    nearest_elsewhere,
    renew,
    write_json,
)
from ragways.index.windows.reader import Projection, Windows
from ragways.index.windows.sliding import Layout, first_rows, lay_out, slide, windowed_documents
from ragways.index.windows.themes import (
    KIND,
    RULE,
    DocumentThemes,
    ask_themes,
    themes_hash,
    themes_of,
    themes_to_come,
    words_hash,
)
from ragways.index.work_cache import WorkCache

_TEXTS_AT_ONCE = 8192
_VECTORS_AT_ONCE = 4096
_PAIR_SECONDS = 2e-8
"""To compare two windows of 384 numbers on one core, among many (`benchmarks/windows.py`)."""


async def _work(context: BuildContext) -> None:
    settings = _settings(context)
    waiting: dict[str, str] = {}
    for slid in windowed_documents(context.store, settings):
        waiting |= {content_hash(text): text for text in (*slid.window_texts(), *slid.sentence_texts())}
        if len(waiting) >= _TEXTS_AT_ONCE:
            await context.embed(waiting)
            waiting = {}
    await context.embed(waiting)
    try:
        await ask_themes(context, windowed_documents(context.store, settings))
    finally:
        # Where a budget ends the asking, the rest have their themes by the rule.
        await context.embed({content_hash(themed.text): themed.text for themed in _themes(context, settings).values()})


def _derive(context: BuildContext, folder: Path) -> None:
    settings, meta = _settings(context), context.store.meta()
    embedder, dimension = meta["embedder"], int(meta["dimension"])
    target = folder / FOLDER
    target.mkdir()
    themes = _themes(context, settings)
    layout = _whole(context, settings, embedder, themes)

    def vectors(name: str, ids: Sequence[str], hashes: Sequence[str]) -> PackedRows:
        return _write_vectors(
            target, name, ids, hashes, work_cache=context.work_cache, embedder=embedder, dimension=dimension
        )

    vectors("sentences", layout.sentences, layout.sentence_hashes)
    windows = vectors("windows", layout.windows, layout.window_hashes)
    of_themes = [content_hash(themes[id].text) for id in layout.documents]
    kept = context.work_cache.vectors(embedder, of_themes)
    themed = Vectors.stack(layout.documents, [kept[hash] for hash in of_themes], dimension).matrix
    # Their vectors are needed for the edges alone; their hashes tell `check` that the kept ones are in use.
    (target / "themes.hashes").write_text("\n".join(of_themes), encoding="utf-8")
    by_theme = Space(themed, np.arange(len(of_themes), dtype=np.int32), first_rows(of_themes))

    space = Space(windows, layout.window_at[:, 2], layout.window_same)
    known = EdgeInputs(
        embedder, settings.size, settings.slide, settings.top_k, settings.top_x, layout.documents, layout.prints
    )
    before = None if context.before is None else context.before / FOLDER
    within, across = renew(space, known, before)
    Edges.pack(within).save(target, "within")
    Edges.pack(across).save(target, "across")
    Edges.pack(nearest_elsewhere(by_theme, settings.top_t)).save(target, "themes")

    projection = Projection.fit(windows)
    projection.save(target)
    np.save(target / "projected.npy", projection.apply(windows))
    for name in ("window_at", "window_same", "sentence_at", "sentence_same"):
        np.save(target / f"{name}.npy", getattr(layout, name))
    write_json(target, "themes", {id: asdict(themes[id]) for id in layout.documents})
    write_json(target, "known", asdict(known))
    write_json(target, "left_out", sorted(set(themes) - set(layout.documents)))


def _settings(context: BuildContext) -> WindowSettings:
    return context.settings_of("windows", WindowSettings)


def _themes(context: BuildContext, settings: WindowSettings) -> dict[str, DocumentThemes]:
    return themes_of(context, windowed_documents(context.store, settings))


def _whole(context: BuildContext, settings: WindowSettings, embedder: str, themes: dict[str, DocumentThemes]) -> Layout:
    """The rows of the documents that have all their vectors."""
    layout = lay_out(context.store, settings)
    of_themes = {id: content_hash(themed.text) for id, themed in themes.items()}
    wanted = {*layout.window_hashes, *layout.sentence_hashes, *of_themes.values()}
    known = context.work_cache.known(embedder, wanted)
    if known == wanted:
        return layout
    unthemed = frozenset(id for id, hash in of_themes.items() if hash not in known)
    return lay_out(context.store, settings, known=known, without=unthemed)


def _plan(planning: PlanContext) -> LayerEstimate:
    context, settings = planning.context, _settings(planning.context)
    counts = context.store.db.execute("SELECT count(*) FROM sentences GROUP BY document")
    rows = sum(len(slide(count, settings)) for (count,) in counts)
    unthemed, usage = themes_to_come(context, windowed_documents(context.store, settings))
    said = [
        themed.text
        for themed in themes_of(planning.sample, windowed_documents(planning.sample.store, settings)).values()
    ]
    return LayerEstimate(
        rows,
        texts=(
            text
            for slid in windowed_documents(context.store, settings)
            for text in (*slid.window_texts(), *slid.sentence_texts())
        ),
        like=said,
        times=unthemed / max(1, len(said)),
        usage=usage,
        kind=KIND,
        seconds=_PAIR_SECONDS * rows * rows * planning.fresh,
        estimated="themes, edges" if unthemed or planning.fresh else "",
    )


def _used(context: BuildContext) -> dict[str, set[str]]:
    settings = _settings(context)
    layout = lay_out(context.store, settings)
    of_themes = {content_hash(themed.text) for themed in _themes(context, settings).values()}
    return {
        "vectors": {*layout.window_hashes, *layout.sentence_hashes, *of_themes},
        KIND: {themes_hash(slid) for slid in windowed_documents(context.store, settings)},
        RULE: {words_hash(slid) for slid in windowed_documents(context.store, settings)},
    }


def _write_vectors(
    folder: Path,
    name: str,
    ids: Sequence[str],
    hashes: Sequence[str],
    *,
    work_cache: WorkCache,
    embedder: str,
    dimension: int,
) -> PackedRows:
    """`NAME.npy` and `NAME.ids` as `Vectors` reads them; gives the matrix, memory-mapped."""
    nothing = Vectors.stack([], [], dimension)
    if not ids:
        nothing.save(folder, name)
        return nothing.matrix
    # Written, and mapped only when it is whole: a full disk is an error of a write, but would kill a process that maps.
    with (folder / f"{name}.npy").open("wb") as file:
        shape = (len(ids), nothing.matrix.packed.shape[1])
        header = {"descr": np.dtype(np.int8).str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for at in range(0, len(ids), _VECTORS_AT_ONCE):
            some = hashes[at : at + _VECTORS_AT_ONCE]
            found = work_cache.vectors(embedder, some)
            file.write(b"".join(found[hash] for hash in some))
    (folder / f"{name}.ids").write_text("\n".join(ids), encoding="utf-8")
    return Vectors.load(folder, name).matrix


WINDOWS = Layer(
    name="windows",
    summary="windows of sentences joined to the most similar ones, for traversals",
    needs=frozenset({"vectors"}),
    plan=_plan,
    work=_work,
    derive=_derive,
    used=_used,
    settings=WindowSettings,
    open=Windows.open,
    files=(FOLDER,),
    rows=rows_of_array(f"{FOLDER}/windows.npy"),
    kinds=frozenset({KIND}),
    # Windows, sentences and themes are a document's own; only edges lead to others.
    apart=Layer(
        "windows", "vectors of windows", frozenset(), derive=no_files, work=_work, used=_used, settings=WindowSettings
    ),
)
