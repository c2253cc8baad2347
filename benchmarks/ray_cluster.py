"""What Ray costs, and what it gains: CPU of a build in shards on one node against one index, and workers that wait.

    .venv/ray/bin/python benchmarks/ray_cluster.py --documents 2000 --texts 1536

The first part builds one index, the same in shards in this process, and the same on a Ray of one node, all with a
stand-in embedder behind an endpoint on this machine, and prints CPU seconds: of this process and the processes of Ray's
tasks. The second has an endpoint that takes a second for every call, and builds with one and with three workers.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import ray
from corpus_maker import write_jsonl
from ray.cluster_utils import Cluster

import ragways
from ragways.settings import Settings
from ragways.testing.replies import Fault
from ragways.testing.server import LoopbackServer

SMALL = {"object_store_memory": 80 * 1024**2}


def settings(index: Path, server: LoopbackServer, **cluster: object) -> Settings:
    """An index whose embedder is the loopback server, one call at a time."""
    embedder = {"kind": "endpoint", "base_url": server.base_url, "name": "loopback", "dimension": 16}
    plain = {"index": index, "embedder": embedder, "model": {"concurrency": 1}, "cluster": cluster}
    return Settings.model_validate(plain)


def cpu() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def cpu_of_tasks() -> float:
    """CPU seconds of the processes that Ray runs tasks in, so far."""
    total, tick = 0.0, 100
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name.startswith("ray::"):
            total += sum(map(int, rest.split()[11:13])) / tick
    return total


def overhead(home: Path, documents: int, shards: int) -> dict[str, Any]:
    """CPU seconds of the same build in three ways."""
    corpus = home / "corpus.jsonl"
    write_jsonl(corpus, documents)
    told: dict[str, Any] = {}
    with LoopbackServer(dimension=16) as server:
        for name, count, cluster in (("one", 0, {}), ("shards", shards, {}), ("ray", shards, {"engine": "ray"})):
            if cluster:
                ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, **SMALL)
            before, tasks = cpu(), cpu_of_tasks()
            summary = ragways.build(corpus, settings=settings(home / name, server, **cluster), shards=count)
            told[name] = round(cpu() - before + cpu_of_tasks() - tasks, 2)
            told["chunks"] = summary.chunks
    ray.shutdown()
    return told


def waiting(home: Path, texts: int, shards: int) -> dict[str, Any]:
    """Seconds of the same build with one and with three workers, at a second a call of 64 texts."""
    corpus = home / "texts.jsonl"
    corpus.write_text(
        "".join(json.dumps({"id": n, "text": f"Keeper {n} saw ship {n * 7}."}) + "\n" for n in range(texts))
    )
    told: dict[str, Any] = {}
    for workers in (1, 3):
        cluster = Cluster(initialize_head=True, head_node_args={**SMALL, "num_cpus": 0, "include_dashboard": False})
        for _ in range(workers):
            cluster.add_node(num_cpus=1, **SMALL)
        with LoopbackServer(dimension=16, faults=[Fault("slow", seconds=1.0)]) as server:
            chosen = settings(home / f"workers-{workers}", server, engine="ray", address=cluster.address)
            ray.init(address=cluster.address, namespace="ragways", log_to_driver=False)
            began = time.monotonic()
            ragways.build(corpus, settings=chosen, shards=shards)
            told[f"{workers} workers"] = round(time.monotonic() - began, 1)
        ray.shutdown()
        cluster.shutdown()
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--texts", type=int, default=1536)
    parser.add_argument("--shards", type=int, default=6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        if options.documents:
            print("CPU seconds:", json.dumps(overhead(Path(home), options.documents, options.shards)), flush=True)
        if options.texts:
            print("seconds:", json.dumps(waiting(Path(home), options.texts, options.shards)), flush=True)


if __name__ == "__main__":
    main()
