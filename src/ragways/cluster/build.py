"""Shards built as tasks of Ray, each on whichever node has room for it.

A task reads, structures, embeds and extracts the documents of one shard. The shard's work cache lies in its folder, so
a task that is lost with its node is done again elsewhere, and finds there what was paid for already.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ragways.cluster.connection import connected
from ragways.core.errors import RagwaysError, StoreBusy, StoreFailed
from ragways.core.runtime import Progress, ProgressCallback, silent
from ragways.core.trace import Budget, current_meter, spending
from ragways.index.build import build_shard
from ragways.index.update import BuiltShard, Recipe, ShardJob

TRIES = 5
"""How often a task is begun again that was lost with its node or its process."""
PATIENCE = 60.0
"""Seconds to wait for a lost task that still holds its shard: its node may be cut off, and not have noticed yet."""

MakeRecipe = Callable[[frozenset[str]], Recipe]
"""Makes the recipe of these layers where a shard is built."""


async def build_on_ray(
    jobs: Sequence[ShardJob], recipe: Recipe, progress: ProgressCallback, *, address: str, make: MakeRecipe
) -> list[BuiltShard]:
    """Build shards on a Ray cluster; `make` goes to the nodes, where embedders and models are made. For `build`."""
    ray = connected(address)
    build_one = ray.remote(num_cpus=1, max_retries=TRIES)(_build)
    budget = _share(len(jobs))
    begun = {
        at: build_one.remote(replace(jobs[at], folder=jobs[at].folder.resolve()), make, recipe.layers, budget)
        for at in largest_first(jobs)
    }
    refs = [begun[at] for at in range(len(jobs))]
    waiting = list(refs)
    try:
        while waiting:
            progress(Progress("shards", len(refs) - len(waiting), len(refs)))
            _, waiting = await asyncio.to_thread(ray.wait, waiting, num_returns=1, timeout=1.0)
        return [_built(ray, ref, job) for ref, job in zip(refs, jobs, strict=True)]
    finally:
        for ref in waiting:
            ray.cancel(ref, force=True)


def largest_first(jobs: Sequence[ShardJob]) -> list[int]:
    """The places of jobs, those with most documents first: begun late, one of them would have all workers wait."""

    def documents(at: int) -> int:
        return sum(1 if file.dealt is None else len(file.dealt.ordinals) for _, file in jobs[at].found.files)

    return sorted(range(len(jobs)), key=documents, reverse=True)


def _share(jobs: int) -> Budget:
    """What each shard may spend of what is left: tasks do not hear of each other."""
    left = [meter.budget.usd - meter.spent.usd for meter in current_meter().chain() if meter.budget.usd is not None]
    return Budget(usd=max(0.0, min(left)) / max(1, jobs)) if left else Budget()


def _built(ray: Any, ref: Any, job: ShardJob) -> BuiltShard:  # noqa: ANN401
    try:
        done = ray.get(ref)
    except ray.exceptions.RayTaskError:
        raise  # the task was not lost: something in it is wrong, and this tells what
    except ray.exceptions.RayError as error:
        said = " ".join(str(error).split())[:200]
        raise StoreFailed(
            f"{job.folder} could not be built: its task was lost {TRIES + 1} times ({said})",
            "see that the cluster has nodes with room, then run again: what is done is kept",
        ) from error
    if isinstance(done, RagwaysError):
        raise done
    if not isinstance(done, BuiltShard):
        raise TypeError(f"a task gave {type(done).__name__}")
    return done


def _build(job: ShardJob, make: MakeRecipe, layers: frozenset[str], budget: Budget) -> BuiltShard | RagwaysError:
    """The task. An error with a cure is a result: Ray would wrap it beyond recognition."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return asyncio.run(_metered(job, make(layers), budget))
        except StoreBusy as error:
            if time.monotonic() > until:
                return error
            time.sleep(1.0)
        except RagwaysError as error:
            where = "" if str(job.folder) in error.message else f"{job.folder}: "
            return type(error)(f"{where}{error.message}", error.cure)


async def _metered(job: ShardJob, recipe: Recipe, budget: Budget) -> BuiltShard:
    with spending(budget) as meter:
        built = await build_shard(job, recipe, silent)
        built.summary.usage = meter.spent
        return built
