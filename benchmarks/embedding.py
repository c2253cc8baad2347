"""How fast the offline embedder is here: texts of a length per CPU second, start-up time, build time.

    python benchmarks/embedding.py [--precision fp32] [--seconds 2] [--json]

Texts are seeded pseudo-sentences of common words, so that no data is needed. CPU seconds count every thread and leave
out the time that other processes held the processor; the wall-clock figure depends on the number of threads as well.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ragways.models.minilm import MiniLM, build_graph, default_threads, find_model

COMMON = (
    "the of and a in to was is for on as with by he at from his it an were which are this also be has had first one "
    "their its new after but who not they have her she two been other when there all during into school time may "
    "years more most only over city some world would where later up such used many can state about national out "
    "known university united then made film season house team river building company music family government war "
    "church north south island bridge engineer lighthouse harbour railway council village museum painting election"
)
WORDS = COMMON.split()
LENGTHS = (20, 100, 250)
START = """
import time; begin = time.perf_counter()
import asyncio, pathlib, sys
from ragways.models.minilm import MiniLM
asyncio.run(MiniLM(pathlib.Path(sys.argv[1]), precision=sys.argv[2]).embed(["ready"]))
print(time.perf_counter() - begin)
"""


def pseudo_text(generator: random.Random, model: MiniLM, tokens: int) -> str:
    """Sentences of 8 to 20 words, `tokens` tokens in all with the two special ones."""
    words: list[str] = []
    while sum(model.count(words)) < tokens - 2:
        words += generator.choices(WORDS, k=generator.randint(8, 20))
        words[-1] += "."
    while sum(model.count(words)) > tokens - 2:
        words.pop()
    return " ".join(words)


def throughput(model: MiniLM, tokens: int, seconds: float) -> dict[str, float]:
    """Texts embedded per CPU second and per second of wall clock."""
    generator = random.Random(tokens)
    texts = [pseudo_text(generator, model, tokens) for _ in range(max(8, 3000 // tokens))]
    asyncio.run(model.embed(texts[:4]))
    cpu, wall, done = time.process_time(), time.perf_counter(), 0
    while time.process_time() - cpu < seconds:
        asyncio.run(model.embed(texts))
        done += len(texts)
    per_cpu, per_wall = done / (time.process_time() - cpu), done / (time.perf_counter() - wall)
    return {"per_cpu_second": round(per_cpu, 1), "per_second": round(per_wall, 1)}


def measure(cache: Path, *, precision: str, seconds: float) -> dict[str, object]:
    model = MiniLM(cache, precision="fp32" if precision == "fp32" else "int8")
    begin = time.perf_counter()
    build_graph(find_model(), "fp32" if precision == "fp32" else "int8")
    build = time.perf_counter() - begin
    asyncio.run(model.embed(["fill the cache"]))
    command = [sys.executable, "-c", START, str(cache), precision]
    starts = [float(subprocess.run(command, capture_output=True, check=True, text=True).stdout) for _ in range(5)]
    return {
        "embedder": model.name,
        "threads": default_threads(),
        "build_seconds": round(build, 2),
        "start_seconds": round(sorted(starts)[2], 3),
        "texts": {str(tokens): throughput(model, tokens, seconds) for tokens in LENGTHS},
    }


def table(found: dict[str, object]) -> str:
    lines = [f"{key.replace('_', ' '):<16}{value}" for key, value in found.items() if key != "texts"]
    lines += ["", "tokens  texts a CPU second  texts a second"]
    texts = found["texts"]
    assert isinstance(texts, dict)
    lines += [f"{key:>6}  {row['per_cpu_second']:>18}  {row['per_second']:>14}" for key, row in texts.items()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the offline embedder on this machine.")
    parser.add_argument("--precision", choices=["int8", "fp32"], default="int8")
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds for each length of text")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), precision=options.precision, seconds=options.seconds)
    print(json.dumps(found, indent=2) if options.json else table(found))


if __name__ == "__main__":
    main()
