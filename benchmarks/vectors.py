"""Search by meaning in many vectors: recall@10 against an exact search, and CPU milliseconds of both.

    python benchmarks/vectors.py --data DATA [--passages 6000] [--questions 200] [--rows 1000000]

Passages of the public sets in DATA, and real questions, are embedded by the offline embedder (some 20 CPU ms each).
Where more rows are wanted than there are passages, each further one is made of two of them: the mean of all, and what
the two differ from it, by the roots of w and 1 - w, where w is drawn between .3 and .9. So the rows have the spread of
real ones, and crowd nearer to each other than real ones do (compare the cosines of the first and the hundredth hit): a
harder case. The rows are written as an index stores them, and searched from the mapped files.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import lzma
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.layers.vectors import StoredVectors, best
from ragways.models.minilm import MiniLM

Floats = NDArray[np.float32]
NAME = "rows"


def texts(data: Path, passages: int, questions: int) -> tuple[list[str], list[str]]:
    """Passages of several sets, and questions, drawn by a fixed seed."""

    def read(name: str) -> Any:
        return json.loads(gzip.decompress((data / name).read_bytes()))

    found = [
        f"{each['title']}\n{each['text']}" for name in ("2wiki", "musique") for each in read(f"{name}/corpus.json.gz")
    ]
    found += [f"{title}\n{' '.join(lines)}" for title, lines in read("hotpotqa/corpus.json.gz").items()]
    with lzma.open(data / "training/contexts.jsonl.xz", "rt") as lines:
        found += map(json.loads, lines)
    with lzma.open(data / "training/questions.jsonl.xz", "rt") as lines:
        asked = sorted({json.loads(line)["q"] for line in lines})
    chance = random.Random(7)
    return chance.sample(sorted(set(found)), passages), chance.sample(asked, questions)


def enlarged(real: Floats, rows: int, seed: int = 1) -> Floats:
    """The passages, and as many mixtures of two as are wanted."""
    chance = np.random.default_rng(seed)
    mean = real.mean(axis=0)
    made = np.empty((max(rows, len(real)), real.shape[1]), np.float32)
    made[: len(real)] = real
    for at in range(len(real), rows, 50_000):
        size = min(50_000, rows - at)
        one, other = (real[chance.integers(0, len(real), size)] - mean for _ in range(2))
        share = chance.uniform(0.3, 0.9, (size, 1)).astype(np.float32)
        mixed = mean + np.sqrt(share) * one + np.sqrt(1 - share) * other
        made[at : at + size] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return made


def cpu(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return 1000 * (time.process_time() - begin)


def measure(folder: Path, asked: Floats) -> None:
    """Print what searches for these questions find and take."""
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    vectors = StoredVectors.load(folder, NAME)
    print(f"{len(vectors):,} rows, {size / len(vectors):.0f} bytes each")
    for question in asked[:5]:
        vectors.search(question, 10)
    spent = [cpu(lambda question=question: vectors.search(question, 10)) for question in asked]  # type: ignore[misc]
    exact = [cpu(lambda question=question: vectors.matrix @ question) for question in asked[:10]]  # type: ignore[misc]
    print(f"search {np.median(spent):.1f} CPU ms p50, {np.percentile(spent, 95):.1f} p95; exact {np.median(exact):.1f}")
    products = vectors.matrix @ asked.T
    for k in (10, 100):
        shares = [
            len({id for id, _ in vectors.search(question, k)} & {id for id, _ in best(vectors.ids, products[:, n], k)})
            / k
            for n, question in enumerate(asked)
        ]
        print(f"recall@{k} {np.mean(shares):.4f}")
    ranked = -np.sort(-products, axis=0)[[0, 9, 99]].mean(axis=1)
    print("cosines of the first, tenth and hundredth: " + ", ".join(f"{each:.3f}" for each in ranked))


def main() -> None:
    parser = argparse.ArgumentParser(description="Recall and cost of a search in many vectors.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--passages", type=int, default=6000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    passages, questions = texts(options.data, options.passages, options.questions)
    model = MiniLM()
    real, asked = asyncio.run(model.embed(passages)), asyncio.run(model.embed(questions))
    with tempfile.TemporaryDirectory() as folder:
        made = enlarged(real, options.rows)
        ids = [f"{row:08}" for row in range(len(made))]
        spent = cpu(lambda: StoredVectors(ids, made).save(Path(folder), NAME))
        print(f"{1000 * spent / len(made):.1f} CPU µs a row to pack, sketch and write")
        measure(Path(folder), asked)


if __name__ == "__main__":
    main()
