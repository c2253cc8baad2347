"""Bring an index up to date with files; remove documents.

A run holds the lock of the folder, and is: plan what is new, read it, extract facts from it, apply them to the rows,
fold the views, publish them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ragways.core.errors import EmbedderChanged, StoreDamaged, UsageError
from ragways.core.runtime import ProgressCallback, silent
from ragways.core.trace import spending
from ragways.corpus.source import WebSource
from ragways.index.diagnosis import graph_pays, store_figures
from ragways.index.erase import Erasing
from ragways.index.languages import CURE, unread_documents
from ragways.index.reading import FileReader
from ragways.index.recipe import Recipe, Summary, find_documents, find_files
from ragways.index.run import IndexRun
from ragways.index.writer import writing
from ragways.store.place import PAGES
from ragways.store.store import Store


async def build(
    folder: Path,
    paths: Sequence[Path],
    recipe: Recipe,
    *,
    rebuild: bool = False,
    progress: ProgressCallback = silent,
    root: str = "",
    web: WebSource | None = None,
    compare_contents: bool = False,
    fresh: frozenset[str] = frozenset(),
    erase: bool = False,
) -> Summary:
    """Index these files and folders. Files that vanished from a folder since the last run go from the index too.

    `root` is a name to remember instead of where the files lie, for a corpus that may lie elsewhere next time. `web`
    names addresses to fetch pages from, which the index keeps. `compare_contents`: also compare files whose size and
    time are as before. `fresh` asks for what is otherwise made anew in time only: `lexicon`, `communities`. `erase`:
    leave no byte of documents that go.
    """
    if rebuild and erase:
        raise UsageError(
            "an index is not built anew and erased in one run",
            "run ragways index PATH --erase, and then with --rebuild if it is still to be built anew",
        )
    found = find_files(paths, recipe, root)  # before the folder of the index is made
    summary, started = Summary(), time.perf_counter()
    with writing(folder, rebuild=rebuild, summary=None if erase else summary) as (store, cache), spending() as meter:
        run = IndexRun(store, cache, progress, summary)
        try:
            await run.prepare(recipe, fresh | ({"lexicon"} if erase else frozenset()))
            run.erasing = Erasing(store) if erase else None
            found = found.with_pages(web, folder / PAGES, progress)
            await run.read(FileReader(store, recipe, found, summary, progress, compare_contents=compare_contents))
            why = ""
            if run.meta.get("undecided") and recipe.graph_where_it_pays and not summary.stopped:
                run.decide("graph", recipe.settings, wanted=bool(why := graph_pays(store)))
            await _finish(run, folder)
            if why:
                spent = summary.seconds.get("graph", 0.0)
                summary.chosen = f"graph built as well, in {spent:.1f} s: {why}; --with vectors,words leaves it out"
        finally:
            await run.aclose()
        if unread := unread_documents(store):
            summary.unread = f"{unread.text}; {CURE}"
        summary.usage += meter.spent
    summary.wall = time.perf_counter() - started
    return summary


async def _finish(run: IndexRun, folder: Path) -> None:
    """What a run does when the files are read, or documents are removed."""
    await run.extract_missing()
    await run.publish(last=True, anew=run.erasing is not None)
    run.end()
    store_figures(run.store, run.summary.added + run.summary.changed + run.summary.removed)
    _forget_pages(folder, run.store)
    if run.erasing is not None:
        run.summary.erasure = run.erasing.finish(run.layers, run.views, run.use)


async def build_own(
    folder: Path,
    paths: Sequence[Path],
    recipe: Recipe,
    *,
    anew: bool = False,
    progress: ProgressCallback = silent,
    root: str = "",
) -> Summary:
    """Build an index that is a cache of ours and nobody else's: one that another embedder made, or that is damaged, is
    made anew instead of refused. `anew`: in any case.
    """
    try:
        return await build(folder, paths, recipe, rebuild=anew, progress=progress, root=root)
    except (StoreDamaged, EmbedderChanged):
        return await build(folder, paths, recipe, rebuild=True, progress=progress, root=root)


async def remove(folder: Path, names: Sequence[str], erase: bool = False) -> Summary:
    """Remove documents, by key, id or title, with all that was extracted from them. `erase`: leave no byte of them, nor
    of those that were removed before.
    """
    Store.open(folder).close()  # raises where there is no index
    started = time.perf_counter()
    with writing(folder) as (store, cache):
        run = IndexRun(store, cache, silent, Summary())
        try:
            numbers = {number for name in names for number in find_documents(store, name)}
            if erase:
                run.erasing, run.fresh = Erasing(store), frozenset({"lexicon"})
            run.remove_all(numbers)
            await _finish(run, folder)
        finally:
            await run.aclose()
        run.summary.wall = time.perf_counter() - started
        return run.summary


def _forget_pages(folder: Path, store: Store) -> None:
    """Delete fetched pages that are not in the index any more."""
    if (folder / PAGES).is_dir():
        from ragways.corpus.web.fetch import forget_pages

        forget_pages(folder / PAGES, store.files.pages())
