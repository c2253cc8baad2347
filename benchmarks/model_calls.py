"""CPU a model call costs us: structured replies of 1 KB from the loopback server in a process of its own.

    python benchmarks/model_calls.py [--calls 2000] [--at-once 16] [--json]

Counts this process alone (user and system time), with everything a call goes through: prompt, key of the cache, a
cache that never hits, reservation, slot, HTTP, JSON, validation, spans.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ragways.core.trace import Budget, span, spending
from ragways.models.client import ModelClient
from ragways.models.endpoint import Endpoint
from ragways.models.task import Prompt, Task
from ragways.models.tokens import Price, Prices
from ragways.store.cache import WorkCache


@dataclass(frozen=True)
class Fact:
    subject: str
    predicate: str
    object: str


@dataclass(frozen=True)
class Facts:
    summary: str
    facts: tuple[Fact, ...]
    sure: bool


PROMPT = Prompt.parse(
    "facts", "# system\nRead the text.\n\n# user\nWhat does it say about {{name}}?\n\n{{fenced text}}"
)


@dataclass(frozen=True)
class About:
    name: str
    text: str


TASK: Task[About, Facts] = Task("facts", prompt=PROMPT, reply=Facts)
TEXT = "The tide rises twice a day, and the harbour master writes it down. " * 30


@contextmanager
def server(size: int) -> Iterator[str]:
    command = [sys.executable, "-m", "ragways.testing.loopback", "--size", str(size)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def measure(base_url: str, calls: int, at_once: int) -> dict[str, float]:
    prices = Prices({"loopback": Price(input=1.0, output=2.0)})
    async with ModelClient(
        Endpoint(base_url, "key", "loopback"), cache=WorkCache.in_memory(), prices=prices, concurrency=at_once
    ) as client:
        await client.do(TASK, About("warm-up", TEXT))
        with spending(Budget(usd=1000)) as meter, span("benchmark"):
            wall, cpu = time.perf_counter(), time.process_time()
            turns = iter(range(calls))

            async def work() -> None:
                for turn in turns:
                    outcome = await client.do(TASK, About(f"harbour {turn}", TEXT))
                    assert outcome.value.summary

            await asyncio.gather(*(work() for _ in range(at_once)))
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert meter.spent.calls == calls
    return {
        "calls": calls,
        "at_once": at_once,
        "cpu_ms_per_call": round(1000 * cpu / calls, 3),
        "calls_per_second": round(calls / wall, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with server(size=1000) as base_url:
        found = asyncio.run(measure(base_url, asked.calls, asked.at_once))
    if asked.json:
        print(json.dumps(found))
    else:
        print("| model calls | at once | CPU ms a call | calls a second |\n|---|---|---|---|")
        print("| {calls} | {at_once} | {cpu_ms_per_call:.2f} | {calls_per_second:.0f} |".format(**found))


if __name__ == "__main__":
    main()
