"""What an evaluation costs beside the paradigms themselves.

    python benchmarks/evaluation.py [--records 10000]

The bundled questions are asked of some paradigms: `overhead` is the CPU time of the run beside that of the answers, in
percent. Its records, repeated under other names up to --records, are then scored with every metric that needs no
model; CPU seconds of the embedder are told apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from ragways.core.runtime import limit_threads

limit_threads()


from ragways.assemble import embedder_of, opened, recipe_of  # noqa: E402
from ragways.core.trace import Usage  # noqa: E402
from ragways.evaluation.datasets import load_questions  # noqa: E402
from ragways.evaluation.judges import JUDGES  # noqa: E402
from ragways.evaluation.judges.judge import JudgeResources  # noqa: E402
from ragways.evaluation.judging import Judgements, judge  # noqa: E402
from ragways.evaluation.record import Record, Records  # noqa: E402
from ragways.evaluation.run import Variant, evaluate  # noqa: E402
from ragways.evaluation.score import score_run  # noqa: E402
from ragways.index.build import build  # noqa: E402
from ragways.models.client import ModelClient  # noqa: E402
from ragways.models.embed import Embedder, Vectors  # noqa: E402
from ragways.settings import Settings, read_settings  # noqa: E402

PARADIGMS = ("naive", "words", "hybrid-words", "kg", "graph-ppr", "light", "fused")


class Timed:
    """An embedder that knows how long it took."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.dimension = embedder.name, embedder.dimension
        self.cpu = 0.0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        began = time.process_time()
        made = await self._embedder.embed(texts)
        self.cpu += time.process_time() - began
        return made

    async def tokens(self, texts: Sequence[str]) -> list[Vectors]:
        began = time.process_time()
        made = await self._embedder.tokens(texts)
        self.cpu += time.process_time() - began
        return made

    def count(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.count(texts)

    @property
    def parallel(self) -> int:
        return self._embedder.parallel

    def estimate(self, texts: Sequence[str]) -> Usage:
        return self._embedder.estimate(texts)

    async def aclose(self) -> None:
        await self._embedder.aclose()


async def overhead(settings: Settings, bundle: Path, out: Path) -> tuple[list[Record], dict[str, Any]]:
    await build(settings.index, [bundle / "corpus"], recipe_of(settings, frozenset({"vectors", "words", "graph"})))
    questions = load_questions("plain", bundle / "questions.jsonl")
    async with opened(settings) as use:
        began = time.process_time()
        run = await evaluate(use, questions, [Variant(name, name) for name in PARADIGMS], out)
        total = time.process_time() - began
    made = list(run.records)
    answers = sum(record.cpu or 0.0 for record in made)
    return made, {
        "answers": len(made),
        "cpu_answers": round(answers, 2),
        "cpu_run": round(total, 2),
        "overhead_percent": round(100 * (total - answers) / answers, 2),
    }


async def scoring(settings: Settings, made: Sequence[Record], count: int, out: Path) -> dict[str, Any]:
    records = Records(out)
    for n in range(count):
        one = made[n % len(made)]
        records.append(replace(one, question=f"{one.question}-{n // len(made)}"))
    embedder = Timed(await embedder_of(settings))
    figures: dict[str, Any] = {"records": count}
    every = list(records)
    for by in JUDGES.values():
        if by.by == "embedder":
            before, began = embedder.cpu, time.process_time()
            await judge(JudgeResources(ModelClient(None), embedder), every, [by], Judgements(out))
            figures[by.name] = round(time.process_time() - began - (embedder.cpu - before), 2)
    began = time.process_time()
    rows = score_run(out)
    figures["score"] = round(time.process_time() - began, 2)
    figures["metrics"] = len(rows[0].metrics)
    figures["cpu_without_embedding"] = round(sum(v for k, v in figures.items() if k in JUDGES or k == "score"), 2)
    figures["cpu_embedding"] = round(embedder.cpu, 2)
    await embedder.aclose()
    return figures


async def main(count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place, resources.as_file(resources.files("ragways") / "demo") as bundle:
        settings = read_settings(index=Path(place) / "index")
        made, run_figures = await overhead(settings, bundle, Path(place) / "run")
        return {"run": run_figures, "scoring": await scoring(settings, made, count, Path(place) / "many")}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000)
    print(json.dumps(asyncio.run(main(parser.parse_args().records)), indent=2))
