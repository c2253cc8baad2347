"""Work of a run as tasks of Ray: what needs processors and nothing of the index.

A task gets texts and gives what was made of them. It reads and writes no file of the corpus or of the index, so nodes
share no disk. A task that is lost with its node is begun again by Ray, elsewhere; what came back before is in the work
cache of the process that runs the command, which alone writes.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from inspect import iscoroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ragways.cluster.connection import connected
from ragways.core.errors import RagwaysError, StoreFailed
from ragways.core.trace import Budget, Usage, current_meter, spending
from ragways.models.embed import Embedder, Vectors

TRIES = 5
"""How often a task is begun again that was lost with its node or its process."""
_NOTHING = Usage()
MakeEmbedder = Callable[[str], Awaitable[Embedder]]
"""Makes the embedder that settings name, on a node; the settings are a text of JSON."""


class RayEngine:
    """Runs work on the nodes of a cluster, a task for each CPU at a time; `make` and `plain` make their embedder."""

    def __init__(self, address: str, make: MakeEmbedder, plain: dict[str, Any]) -> None:
        self._ray = ray = connected(address)
        self._embedding = make, json.dumps(plain)
        self._task = ray.remote(num_cpus=1, max_retries=TRIES)(_work)
        self._shared: dict[tuple[Path, int, int], _SharedFile] = {}

    @property
    def parallel(self) -> int:
        """Two for each CPU: one works while what came of the other is stored. Nodes that came since count."""
        return 2 * max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    async def embed(self, embedder: Embedder, texts: Sequence[str]) -> Vectors:
        vectors: Vectors = await self.run(_embed, *self._embedding, list(texts), most=embedder.estimate(texts))
        return vectors

    def share(self, file: Path) -> object:
        """The file as an argument of work: its content goes to each node once, and the work gets a path."""
        status = file.stat()
        key = file, status.st_size, status.st_mtime_ns
        if key not in self._shared:
            self._shared = {key: _SharedFile(self._ray.put(file.read_bytes()))}
        return self._shared[key]

    async def run(self, work: Callable[..., Any], *arguments: object, most: Usage = _NOTHING) -> Any:  # noqa: ANN401
        """What the function gives, or the coroutine that it gives. `most` is reserved before it is sent."""
        meter = current_meter()
        most = replace(most, usd=0.0 if math.isnan(most.usd) else most.usd)
        reserved, spent = await meter.reserve_in_turn(most), Usage()
        left = [each.budget.usd - each.spent.usd for each in meter.chain() if each.budget.usd is not None]
        try:
            ref = self._task.remote(work, arguments, Budget(usd=max(0.0, min(left))) if left else None)
            done, spent = await asyncio.wrap_future(ref.future())
        except self._ray.exceptions.RayTaskError:
            raise  # the task was not lost: something in it is wrong, and this tells what
        except self._ray.exceptions.RayError as error:
            raise StoreFailed(
                f"a task was lost {TRIES + 1} times on the cluster ({' '.join(str(error).split())[:200]})",
                "see that the cluster has nodes with room, then run again: what is done is stored",
            ) from error
        finally:
            reserved.settle(spent)
        if isinstance(done, RagwaysError):
            raise done
        return done


# On a node


@dataclass(frozen=True)
class _SharedFile:
    content: Any
    """A reference to it in Ray's store of objects."""


_FILES: dict[str, TemporaryDirectory[str]] = {}
_LOOP: list[asyncio.Runner] = []
_EMBEDDERS: dict[str, Embedder] = {}


def _work(work: Callable[..., Any], arguments: tuple[object, ...], budget: Budget | None) -> tuple[object, Usage]:
    """The task: what came of it and what it cost. An error with a cure is a result: Ray would wrap it."""
    with spending(budget) as meter:
        try:
            done = work(*(_path(each) if isinstance(each, _SharedFile) else each for each in arguments))
            if iscoroutine(done):
                # One loop for all tasks of a process: a client of an endpoint lives in it.
                _LOOP[:] = _LOOP or [asyncio.Runner()]
                done = _LOOP[0].run(done, context=copy_context())
        except RagwaysError as error:
            done = error
        return done, meter.spent


def _path(shared: _SharedFile) -> Path:
    """A shared file on this node, for this process; one that came before it is deleted."""
    import ray

    name: str = shared.content.hex()
    if name not in _FILES:
        folder = TemporaryDirectory(prefix="ragways-")
        (Path(folder.name) / name).write_bytes(ray.get(shared.content))
        _FILES.clear()
        _FILES[name] = folder
    return Path(_FILES[name].name) / name


async def _embed(make: MakeEmbedder, plain: str, texts: Sequence[str]) -> Vectors:
    if plain not in _EMBEDDERS:
        _EMBEDDERS[plain] = await make(plain)
    return await _EMBEDDERS[plain].embed(texts)
