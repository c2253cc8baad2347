"""CPU seconds of the diagnostics: 100,000 chunk vectors, and a graph of 200,000 nodes and 280,000 edges.

    python benchmarks/diagnose.py [--chunks N] [--nodes N] [--edges N]

Vectors are random and of length 1; half of the graph's edges go to few nodes, as names in a corpus do.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from ragways.core.runtime import limit_threads

limit_threads()

import numpy as np  # noqa: E402

from ragways.index.shape import semantic, structural  # noqa: E402
from ragways.layers.graph.walk import Adjacency  # noqa: E402


def random_vectors(count: int, dimension: int = 384) -> np.ndarray[Any, np.dtype[np.float32]]:
    vectors = np.random.default_rng(0).standard_normal((count, dimension), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def random_graph(nodes: int, edges: int) -> Adjacency:
    random = np.random.default_rng(0)
    left = random.integers(0, nodes, edges)
    even = random.integers(0, nodes, edges)
    hubs = (nodes * random.random(edges) ** 4).astype(np.int64)
    right = np.where(random.random(edges) < 0.5, even, hubs)
    return Adjacency.of_edges(nodes, left, right, np.ones(edges))


def timed(name: str, work: Callable[[], Any]) -> None:
    started = time.process_time()
    figures = work()
    print(f"{name}: {time.process_time() - started:.2f} CPU s")
    print(json.dumps(asdict(figures), indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--edges", type=int, default=280_000)
    chosen = parser.parse_args()
    vectors, links = random_vectors(chosen.chunks), random_graph(chosen.nodes, chosen.edges)
    timed("vectors", lambda: semantic(vectors))
    timed("graph", lambda: structural(links, relations=chosen.edges, relation_types=1))
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
