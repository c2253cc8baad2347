"""Shards asked in actors of Ray, each with replicas on other nodes.

A question goes to one replica of every shard. Where that is lost, or does not answer in time, the next is asked; where
none answers, the others' results stand, and the result says how many shards it is of. Starting is no part of answering:
a new actor imports the package on its node, which takes a busy machine longer than any question.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragways.cluster.connection import connected
from ragways.core.errors import RagwaysError, StoreBusy
from ragways.index.joined import ShardReader, checked, note_missing
from ragways.index.reader import ConnectShards
from ragways.index.shards import ShardList
from ragways.index.sound import sound_shard

_OF_VECTORS = {"reach", "nearest", "ids", "owners", "size", "places", "sizes", "part", "products", "packed"}
_LOST = "lost: "
_PAUSE = 0.5
"""Seconds between looks whether a lost actor is back."""
_START = 180.0
"""Seconds that actors have to start, from when the index was opened."""
_ASKED = frozenset(_OF_VECTORS | {"statistics", "lexical"})


def on_ray(address: str, replicas: int, seconds: float) -> ConnectShards:
    """What connects an index to its shards on a Ray cluster: so many actors a shard, which have so long to answer."""
    return lambda shards: RayShards(shards, address, replicas, seconds)


class ShardActor:
    """One shard, read on the node where the actor lives."""

    def __init__(self, folder: str, generation: int) -> None:
        self._reader = ShardReader(Path(folder), generation, sound_shard)

    def ask(self, method: str, *arguments: object) -> Any:  # noqa: ANN401 - what the method gives, or why it cannot
        """What a method of `ShardReader` gives; where files cannot be read, the error."""
        if method not in _ASKED:
            raise ValueError(method)
        try:
            return getattr(self._reader, method)(*arguments)
        except StoreBusy as error:
            return error  # the index was written to since: that is no fault of the shard's
        except (RagwaysError, OSError, EOFError) as error:
            return UnreadShard(str(error))


class UnreadShard:
    """Why an actor could not answer."""

    def __init__(self, why: str) -> None:
        self.why = why


class RayShards:
    """Asks shards in actors. They are this reader's own, and end with it."""

    def __init__(self, shards: ShardList, address: str, replicas: int, seconds: float) -> None:
        self.missing: dict[int, str] = {}
        self._ray = ray = connected(address)
        self._seconds = seconds
        self._replicas = replicas
        self._turn = itertools.count()
        # Restarted by Ray, so that the next question has all of them again.
        actor = ray.remote(num_cpus=0, max_restarts=-1)(ShardActor)
        self._actors = {
            shard: [
                actor.options(scheduling_strategy=where).remote(str(shards.place(shard).resolve()), generation)
                for where in self._nodes(shard, replicas)
            ]
            for shard, generation in enumerate(shards.generations)
        }
        self._start_by = time.monotonic() + _START
        self._starting = {
            actor.__ray_ready__.remote(): actor for actor in itertools.chain.from_iterable(self._actors.values())
        }

    def _nodes(self, shard: int, replicas: int) -> list[Any]:
        """A node for each replica of a shard, each another as far as there are: a lost one takes one replica."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        alive = sorted(node["NodeID"] for node in self._ray.nodes() if node["Alive"])
        return [
            NodeAffinitySchedulingStrategy(alive[(shard + replica) % len(alive)], soft=True)
            for replica in range(replicas)
        ]

    def __len__(self) -> int:
        return len(self._actors)

    def ask(self, method: str, *arguments: object, each: Sequence[object] | None = None) -> dict[int, Any]:
        turn = next(self._turn)
        answers: dict[int, Any] = {}
        waiting = [shard for shard in self._actors if shard not in self.missing]
        why: dict[int, str] = {}
        until, replica = time.monotonic() + self._seconds, 0
        while waiting:
            if replica >= self._replicas:  # all of a shard were asked: those that are lost are being started again
                if time.monotonic() > until or not any(why[shard].startswith(_LOST) for shard in waiting):
                    break
                time.sleep(_PAUSE)
            if self._wait_for_start(waiting):
                until = time.monotonic() + self._seconds
            # All shards at once, then again those that did not answer.
            refs = {
                shard: self._replica(shard, turn + replica).ask.remote(
                    method, *arguments, *(() if each is None else (each[shard],))
                )
                for shard in waiting
            }
            replica += 1
            waiting = []
            # One deadline for all: shards that hang one after the other would add up.
            self._ray.wait(list(refs.values()), num_returns=len(refs), timeout=self._seconds)
            for shard, ref in refs.items():
                answer = self._answer(ref)
                if isinstance(answer, StoreBusy):
                    raise answer
                if isinstance(answer, UnreadShard):
                    why[shard] = answer.why
                    waiting.append(shard)
                else:
                    answers[shard] = answer
        for shard in waiting:
            note_missing(self, shard, why[shard])
        return checked(self, dict(sorted(answers.items())))

    def _wait_for_start(self, shards: Sequence[int]) -> bool:
        """Wait until each of the shards has an actor that runs, no longer than starting may take; whether it waited."""
        waited = False
        while starting := self._starting:
            _, left = self._ray.wait(list(starting), num_returns=len(starting), timeout=0)
            if time.monotonic() > self._start_by:
                left = []  # asked like the others from now on
            # Another dict, not the same with less in it: questions of other threads look at it too.
            self._starting = {ref: actor for ref, actor in starting.items() if ref in left}
            if all(self._running(shard) for shard in shards):
                break
            self._ray.wait(left, num_returns=1, timeout=_PAUSE)
            waited = True
        return waited

    def _running(self, shard: int) -> list[Any]:
        """The actors of a shard that are not starting any more."""
        starting = set(self._starting.values())
        return [actor for actor in self._actors[shard] if actor not in starting]

    def _replica(self, shard: int, turn: int) -> Any:  # noqa: ANN401
        actors = self._running(shard)
        return actors[turn % len(actors)]

    def _answer(self, ref: Any) -> Any:  # noqa: ANN401
        try:
            return self._ray.get(ref, timeout=0)
        except self._ray.exceptions.GetTimeoutError:
            return UnreadShard(f"no answer within {self._seconds:g} s (cluster.seconds)")
        except self._ray.exceptions.RayError as error:
            lost = isinstance(error, self._ray.exceptions.RayActorError)
            return UnreadShard((_LOST if lost else "") + " ".join(str(error).split())[:200])

    def close(self) -> None:
        """End the actors."""
        if self._ray.is_initialized():
            for actor in itertools.chain.from_iterable(self._actors.values()):
                self._ray.kill(actor)
