"""How fast the offline embedder is here, and how near to the original weights: texts a CPU second, start-up, cosines.

    python benchmarks/embedding.py [--original] [--seconds 2] [--json]

Texts for speed are seeded pseudo-sentences of common words, those for cosines the paragraphs of the bundled corpus, so
that no data is needed. CPU seconds count every thread and leave out the time that other processes held the processor;
the wall-clock figure depends on the number of threads as well. `--original` needs what `release/weights.py` needs, and
runs two other embedders in turns with ours: the original weights in fp32, and our encoder on word vectors of 16 bits,
which is what ragways had before its own files.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ragways.core.runtime import default_threads
from ragways.models import encoder
from ragways.models.embed import Vectors, unit
from ragways.models.encoder import checked_path, session
from ragways.models.minilm import MiniLM

COMMON = (
    "the of and a in to was is for on as with by he at from his it an were which are this also be has had first one "
    "their its new after but who not they have her she two been other when there all during into school time may "
    "years more most only over city some world would where later up such used many can state about national out "
    "known university united then made film season house team river building company music family government war "
    "church north south island bridge engineer lighthouse harbour railway council village museum painting election"
)
WORDS = COMMON.split()
LENGTHS = (20, 100, 250)
ROUNDS = 4
START = """
import time; begin = time.perf_counter()
import asyncio
from ragways.models.minilm import MiniLM
asyncio.run(MiniLM().embed(["ready"]))
print(time.perf_counter() - begin)
"""


class Single:
    """Another encoder or word table, on one thread: what `MiniLM` does with its own."""

    def __init__(self, name: str, model: bytes, words: Vectors) -> None:
        self.name, self._session, self._words = name, session(model, name), words
        self._ids = encoder.Encoder("embedder.onnx", max_tokens=256, threads=1).ids

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._one(self._words[self._ids(text)].astype(np.float32)) for text in texts])

    def _one(self, words: Vectors) -> Vectors:
        return unit(self._session.run(None, {"words": words[None]})[0][0].mean(axis=0))


class Ours(Single):
    """The files that ragways comes with."""

    def __init__(self) -> None:
        super().__init__("ours", checked_path("embedder.onnx").read_bytes(), np.empty(0, np.float32))

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._one(encoder.word_vectors(self._ids(text))) for text in texts])


def against_the_original(lengths: dict[int, list[str]], rounds: int = ROUNDS) -> dict[str, Any]:
    """Cosines to fp32 and CPU milliseconds a text (the best of some rounds, in turns) of three embedders."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from release import weights as release

    weights = release.read_safetensors((release.find_original() / "model.safetensors").read_bytes())
    words = weights[release.WORDS]
    exact = Single("fp32", release.build(weights, "fp32"), words)
    before = Single("before", release.build(weights, "int8"), words.astype(np.float16).astype(np.float32))
    embedders = [exact, before, Ours()]
    texts = paragraphs()
    reference = exact.embed(texts)
    found: dict[str, Any] = {"paragraphs": len(texts)}
    for embedder in embedders[1:]:
        cosines = (embedder.embed(texts) * reference).sum(axis=1)
        found[embedder.name] = {"mean_cosine": round(float(cosines.mean()), 4), "least": round(float(cosines.min()), 4)}
    for tokens, sample in lengths.items():
        spent: dict[str, list[float]] = {embedder.name: [] for embedder in embedders}
        for _ in range(rounds):
            for embedder in embedders:
                spent[embedder.name].append(_cpu(embedder, sample))
        found[f"cpu_ms_{tokens}_tokens"] = {name: round(min(each), 1) for name, each in spent.items()}
    return found


def _cpu(embedder: Single, texts: Sequence[str]) -> float:
    begin = time.process_time()
    embedder.embed(texts)
    return (time.process_time() - begin) * 1000 / len(texts)


def paragraphs(least: int = 80, most: int = 300) -> list[str]:
    """Paragraphs of the bundled corpus."""
    with resources.as_file(resources.files("ragways") / "demo" / "corpus") as folder:
        files = sorted(path for path in folder.rglob("*") if path.suffix in (".md", ".wiki", ".txt"))
        parts = [part.strip() for path in files for part in path.read_text(encoding="utf-8").split("\n\n")]
    return [part for part in parts if len(part) >= least][:most]


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


def measure(*, seconds: float, original: bool) -> dict[str, object]:
    model = MiniLM()
    command = [sys.executable, "-c", START]
    starts = [float(subprocess.run(command, capture_output=True, check=True, text=True).stdout) for _ in range(5)]
    begin = time.process_time()
    for name in ("words.npy", "word_scales.npy", "tokenizer.json", "embedder.onnx"):
        checked_path(name)
    hashes = time.process_time() - begin
    found: dict[str, object] = {
        "embedder": model.name,
        "threads": default_threads(),
        "start_seconds": round(sorted(starts)[2], 3),
        "hash_cpu_seconds": round(hashes, 3),
        "texts": {str(tokens): throughput(model, tokens, seconds) for tokens in LENGTHS},
    }
    if original:
        samples = {n: [pseudo_text(random.Random(n), model, n) for _ in range(max(4, 1000 // n))] for n in LENGTHS}
        found["original"] = against_the_original(samples)
    return found


def table(found: dict[str, object]) -> str:
    lines = [f"{key.replace('_', ' '):<16}{value}" for key, value in found.items() if key not in ("texts", "original")]
    lines += ["", "tokens  texts a CPU second  texts a second"]
    texts = found["texts"]
    assert isinstance(texts, dict)
    lines += [f"{key:>6}  {row['per_cpu_second']:>18}  {row['per_second']:>14}" for key, row in texts.items()]
    original = found.get("original", {})
    assert isinstance(original, dict)
    lines += ["", *(f"{key.replace('_', ' '):<20}{value}" for key, value in original.items())]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the offline embedder on this machine.")
    parser.add_argument("--original", action="store_true", help="beside the original weights")
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds for each length of text")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    found = measure(seconds=options.seconds, original=options.original)
    print(json.dumps(found, indent=2) if options.json else table(found))


if __name__ == "__main__":
    main()
