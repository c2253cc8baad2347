"""The folder of an index for its only writer: new rows in the place of old ones, and views made again from rows."""

from __future__ import annotations

import asyncio
import logging
import shutil
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

from ragways.core.errors import StoreDamaged, StoreFailed, WrongVersion
from ragways.core.runtime import silent
from ragways.index.recipe import Summary
from ragways.index.run import IndexRun
from ragways.index.views import clear_old
from ragways.store.cache import FILE as CACHE
from ragways.store.cache import WorkCache
from ragways.store.database import delete_database, store_errors
from ragways.store.place import REBUILT, VIEWS
from ragways.store.store import Store

_STANDS = "what was stored before is unharmed"


@contextmanager
def writing(
    folder: Path, *, rebuild: bool = False, summary: Summary | None = None
) -> Iterator[tuple[Store, WorkCache]]:
    """The rows and the work cache of an index, for the only writer. To `rebuild`, new rows that take the place of the
    old ones at the end. With a `summary`, an index of another version is discarded, and the summary says so.
    """
    try:
        with (
            closing(_opened(folder, rebuild=rebuild, summary=summary)) as store,
            store_errors(store.path),
            closing(_cache(folder, rebuild=rebuild)) as cache,
            _replacing(store) if rebuild and store.files else nullcontext(store) as written,
        ):
            yield written, cache
    except StoreFailed as error:
        if _STANDS not in error.cure and not isinstance(error, StoreDamaged):
            raise type(error)(error.message, f"{error.cure}; {_STANDS}") from error
        raise


def _opened(folder: Path, *, rebuild: bool, summary: Summary | None) -> Store:
    try:
        return Store.write(folder)
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
            clear_old(store.folder, store.generation)
            store.finish()
    finally:
        shutil.rmtree(place, ignore_errors=True)


# Views


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
            run.renew_lexicon()
            await run.publish(last=True)
            run.end()
        finally:
            await run.aclose()
