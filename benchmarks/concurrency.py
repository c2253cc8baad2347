"""How well calls are kept side by side: a model that takes a second a call, sixteen at once.

    python -m benchmarks.concurrency [--calls 320] [--seconds 1]

The share is calls ÷ 16 × seconds over the wall time of the whole run: reading, storing, extraction, the graph and its
files. Nothing is embedded. Communities are counted apart: reports of communities wait for those below them.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from ragways.core.trace import Usage
from ragways.index.build import build
from ragways.index.recipe import Recipe
from ragways.layers.table import layer_settings
from ragways.models.call import Call, Reply
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder
from tests.apps.test_plan import reply
from tests.faults.killing import corpus

AT_ONCE = 16
PASSAGES_A_CALL = 3


class Slow:
    """Answers after so many seconds and counts how many wait with it."""

    name = "slow"
    base_url = ""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.calls = self.under_way = self.most = 0

    async def send(self, call: Call) -> Reply:
        self.calls += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(self.seconds)
        self.under_way -= 1
        form = {"type": "json_schema", "json_schema": {"schema": call.schema}}
        messages = [{"role": m.role, "content": m.content} for m in call.messages]
        said = reply({"messages": messages, "response_format": form})
        return Reply(said, usage=Usage(calls=1, input=1, output=1), model=self.name)

    async def aclose(self) -> None:
        """Nothing to close."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=320)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        docs = corpus(home / "docs", options.calls * PASSAGES_A_CALL)
        for layers in ("graph", "graph communities"):
            model = Slow(options.seconds)
            began = time.perf_counter()
            asyncio.run(build(home / layers, [docs], recipe(model, layers)))
            wall = time.perf_counter() - began
            best = model.calls / AT_ONCE * options.seconds
            print(
                f"{layers}: {model.calls} calls, {model.most} at once, {wall:.1f} s, {best / wall:.0%} of {best:.1f} s"
            )


def recipe(model: Slow, layers: str) -> Recipe:
    async def no_embedder() -> Embedder:
        raise AssertionError("nothing is embedded here")

    return Recipe(
        embedder=no_embedder,
        layers=frozenset(layers.split()),
        model=lambda work_cache: ModelClient(model, cache=work_cache, concurrency=AT_ONCE),
        settings=layer_settings({"graph": {"method": "model", "passage_tokens": 300}, "communities": {"text": 50}}),
    )


if __name__ == "__main__":
    main()
