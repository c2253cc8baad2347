"""Bring an index up to date with files, whole or shard by shard; remove documents.

Each is a run (`run.py`) that holds the write lock of the folder.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from pathlib import Path

from ragways.core.errors import EmbedderChanged, StoreDamaged, WrongVersion
from ragways.core.runtime import ProgressCallback, silent
from ragways.core.trace import spending
from ragways.corpus.source import WebSource
from ragways.index.file_reader import FileReader
from ragways.index.folder import writing
from ragways.index.forgetting import forget_pages
from ragways.index.place import PAGES
from ragways.index.run import IndexRun
from ragways.index.shards import Deal, ShardList, check_there, shards_for
from ragways.index.store import Store
from ragways.index.update import BuildShards, BuiltShard, Recipe, ShardJob, Summary, find_documents, find_files


async def build(
    folder: Path,
    paths: Sequence[Path],
    recipe: Recipe,
    *,
    rebuild: bool = False,
    progress: ProgressCallback = silent,
    root: str = "",
    web: WebSource | None = None,
    shards: int = 0,
    engine: BuildShards | None = None,
) -> Summary:
    """Index these files and folders. Files that vanished from a folder since the last run go from the index too.

    `root` is a name to remember instead of where the files lie, for a corpus that may lie elsewhere next time. `web`
    names addresses to fetch pages from, which the index keeps. `shards` is how many the index is to have (`shards.py`),
    0 as many as it has; `engine` is what builds them, by default this process, one after the other.
    """
    found = find_files(paths, recipe, root)  # before the folder of the index is made
    with writing(folder, rebuild) as (store, work_cache):
        started = time.perf_counter()
        run = IndexRun(store, work_cache, progress, anew=rebuild)
        with spending() as meter:
            try:
                run.shards = shards_for(store, shards, rebuild=rebuild, elsewhere=engine is not None)
                await run.prepare(recipe)
                found = found.with_pages(web, folder / PAGES, progress)
                reader = FileReader(store, recipe, found, run.summary, progress)
                if run.shards is None:
                    await run.update(reader)
                else:
                    await run.update_shards(run.shards, reader, recipe, engine or build_in_turn)
                await run.publish(_keep_figures)
                if not run.summary.stopped:
                    forget_pages(store)
            finally:
                await run.aclose()
        run.summary.usage += meter.spent
        run.summary.wall = time.perf_counter() - started
        return run.summary


def _keep_figures(store: Store, changed: int, anew: bool) -> None:
    """As `diagnosis` does, which reads an index; who builds a shard has no use for it."""
    from ragways.index.diagnosis import keep_figures

    keep_figures(store, changed, anew)


async def build_in_turn(jobs: Sequence[ShardJob], recipe: Recipe, progress: ProgressCallback) -> list[BuiltShard]:
    """Build shards in this process, one after the other."""
    return [await build_shard(job, recipe, progress) for job in jobs]


async def build_shard(job: ShardJob, recipe: Recipe, progress: ProgressCallback) -> BuiltShard:
    """Bring one shard up to date. What it costs is metered where it is built.

    A run with another number of shards may have been killed here: what it stored is not what is dealt now.
    """
    with writing(job.folder, job.rebuild) as (store, work_cache):
        empty = store.meta()["generation"] == "0" and not store.files
        anew = job.rebuild or not (empty or job.deal.is_of(store.meta()))
        if anew:
            store.clear()
        store.set_meta(job.deal.meta)
        run = IndexRun(store, work_cache, progress, anew=anew, hold=job.hold)
        try:
            await run.prepare(recipe, shard=True)
            await run.update(FileReader(store, recipe, job.found, run.summary, progress, job.deal))
            await run.publish()
        finally:
            await run.aclose()
        return run.built_shard()


async def build_own(
    folder: Path,
    paths: Sequence[Path],
    recipe: Recipe,
    *,
    anew: bool = False,
    progress: ProgressCallback = silent,
    root: str = "",
) -> Summary:
    """Build an index that is a cache of ours and nobody else's: one that another version or embedder made, or that is
    damaged, is made anew instead of refused. `anew`: in any case.
    """
    try:
        return await build(folder, paths, recipe, rebuild=anew, progress=progress, root=root)
    except (WrongVersion, StoreDamaged, EmbedderChanged):
        return await build(folder, paths, recipe, rebuild=True, progress=progress, root=root)


async def remove(folder: Path, names: Sequence[str]) -> Summary:
    """Remove documents, by key, id or title, with everything that was made of their text."""
    Store.open(folder, earlier=True).close()
    with writing(folder, rebuild=False) as (store, work_cache):
        run = IndexRun(store, work_cache, silent)
        numbers = {number for name in names for number in find_documents(store, name)}
        store.files.forget(numbers)
        if run.shards is None:
            run.drop(numbers)
        else:
            check_there(run.shards)
            done = [await _remove_from_shard(run.shards, shard, numbers) for shard in range(len(run.shards))]
            run.summary.join(each.summary for each in done)
            run.take_over(run.shards, done)
        await run.publish(_keep_figures)
        forget_pages(store)
        return run.summary


async def _remove_from_shard(shards: ShardList, shard: int, numbers: Collection[int]) -> BuiltShard:
    with writing(shards.place(shard), rebuild=False) as (store, work_cache):
        Deal(shard, len(shards)).check(store)
        run = IndexRun(store, work_cache, silent, hold=shards.generations[shard])
        there = [number for number in numbers if store.has(number)]
        store.files.forget(there)
        run.drop(there)
        await run.publish()
        return run.built_shard()
