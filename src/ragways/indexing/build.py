"""Bring an index up to date with files; remove documents; make its views again.

A run holds the lock of the folder, and is: plan what is new, read it, extract facts from it, apply them to the rows,
fold the views, publish them.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

from ragways.core.errors import EmbedderChanged, StoreDamaged, StoreFailed, WrongVersion
from ragways.core.runtime import ProgressCallback, silent
from ragways.core.trace import spending
from ragways.corpus.source import WebSource
from ragways.indexing.diagnosis import store_figures
from ragways.indexing.erase import Erasing
from ragways.indexing.languages import CURE, unread_documents
from ragways.indexing.reading import FileReader
from ragways.indexing.recipe import Recipe, Summary, find_documents, find_files
from ragways.indexing.run import IndexRun
from ragways.indexing.views import clear_old
from ragways.store.cache import FILE as CACHE
from ragways.store.cache import WorkCache
from ragways.store.database import delete_database, store_errors
from ragways.store.place import PAGES, REBUILT, VIEWS
from ragways.store.store import Store

_STANDS = "what was stored before is unharmed"


async def build(
    folder: Path,
    paths: Sequence[Path],
    recipe: Recipe,
    *,
    rebuild: bool = False,
    progress: ProgressCallback = silent,
    root: str = "",
    web: WebSource | None = None,
    fresh: frozenset[str] = frozenset(),
    erase: bool = False,
) -> Summary:
    """Index these files and folders. Files that vanished from a folder since the last run go from the index too.

    `root` is a name to remember instead of where the files lie, for a corpus that may lie elsewhere next time. `web`
    names addresses to fetch pages from, which the index keeps. `fresh` asks for what is otherwise made anew in time
    only: `lexicon`, `communities`. `erase`: leave no byte of documents that go.
    """
    found = find_files(paths, recipe, root)  # before the folder of the index is made
    summary, started = Summary(), time.perf_counter()
    with writing(folder, rebuild=rebuild, erase=erase, summary=summary) as (store, cache), spending() as meter:
        run = IndexRun(store, cache, progress, summary)
        try:
            await run.prepare(recipe, fresh | ({"lexicon"} if erase else frozenset()))
            run.erasing = Erasing(store) if erase else None
            found = found.with_pages(web, folder / PAGES, progress)
            await run.read(FileReader(store, recipe, found, summary, progress))
            await _finish(run, folder)
        finally:
            await run.aclose()
        if unread := unread_documents(store):
            summary.unread = f"{unread.said}; {CURE}"
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
        run.summary.erasure = run.erasing.finish(run)


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
        return run.summary


def make_views(folder: Path) -> None:
    """Make the views again that are missing or damaged, from rows alone: no file of the corpus is read. May be called
    where an event loop is running.
    """
    failed: list[BaseException] = []

    def work() -> None:
        try:
            asyncio.run(_make_views(folder))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


async def _make_views(folder: Path) -> None:
    with writing(folder) as (store, cache):
        run = IndexRun(store, cache, silent, Summary())
        try:
            await run.publish(last=True)
            run.end()
        finally:
            await run.aclose()


def _forget_pages(folder: Path, store: Store) -> None:
    """Delete fetched pages that are not in the index any more."""
    if (folder / PAGES).is_dir():
        from ragways.corpus import web

        web.forget_pages(folder / PAGES, store.files.pages())


# The folder


@contextmanager
def writing(
    folder: Path, *, rebuild: bool = False, erase: bool = False, summary: Summary | None = None
) -> Iterator[tuple[Store, WorkCache]]:
    """The rows and the work cache of an index, for the only writer. To `rebuild`, new rows that take the place of the
    old ones at the end. With a `summary`, an index of another version is discarded, and the summary says so.
    """
    try:
        with (
            closing(_opened(folder, rebuild=rebuild, erase=erase, summary=summary)) as store,
            store_errors(store.path),
            closing(_cache(folder, rebuild=rebuild)) as cache,
            _replacing(store) if rebuild and store.files else nullcontext(store) as written,
        ):
            yield written, cache
    except StoreFailed as error:
        if _STANDS not in error.cure:
            raise type(error)(error.message, f"{error.cure}; {_STANDS}") from error
        raise


def _opened(folder: Path, *, rebuild: bool, erase: bool, summary: Summary | None) -> Store:
    try:
        store = Store.write(folder)
        if not (rebuild and erase):
            return store
        store.close()
    except WrongVersion as error:
        if summary is None:
            raise
        summary.warning = f"{error.message}: it is built anew"
        logging.getLogger("ragways").warning("ragways: %s", summary.warning)
    except StoreDamaged:
        if not rebuild:
            raise
    Store.discard(folder)
    return Store.write(folder)


def _cache(folder: Path, *, rebuild: bool) -> WorkCache:
    try:
        return WorkCache(folder)
    except StoreDamaged:
        if not rebuild:
            raise
        delete_database(folder / CACHE)
        return WorkCache(folder)


@contextmanager
def _replacing(store: Store) -> Iterator[Store]:
    """Rows and views in a folder of their own, which take the place of those of the index when all is well: until then
    readers have what there was. Views come first: they are of later rows, so no reader takes them before the rows.
    """
    place = store.folder / REBUILT
    shutil.rmtree(place, ignore_errors=True)
    try:
        with closing(Store.write(place)) as new:
            new.set_meta({"generation": str(store.generation)})
            yield new
            new.finish()
            (store.folder / VIEWS).mkdir(exist_ok=True)
            for views in (place / VIEWS).iterdir():
                shutil.rmtree(store.folder / VIEWS / views.name, ignore_errors=True)
                views.rename(store.folder / VIEWS / views.name)
            for file in place.glob("lexicon.sqlite"):
                file.replace(store.folder / file.name)
            new.db.backup(store.db)
            clear_old(store.folder, store.generation, keep=1)
            store.finish()
    finally:
        shutil.rmtree(place, ignore_errors=True)
