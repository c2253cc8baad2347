"""What Ray costs, and what it gains: CPU of a build in shards on one node against one index, and workers that wait.

    .venv/ray/bin/python benchmarks/ray_cluster.py --documents 2000 --texts 1536 --passages 360

The first part builds one index, the same in shards in one process, and the same on a Ray of one node, all with the
stand-in embedder, and prints CPU seconds: of the process that builds and of Ray's workers; apart, those of Ray's own
processes. The second has an endpoint that takes a second for every call, to embed and to find facts, and builds with
one and with three workers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import ray
from corpus_maker import write_jsonl
from ray.cluster_utils import Cluster
from stand_in import stand_in

import ragways
from ragways.cluster.build import build_on_ray
from ragways.index.build import build
from ragways.index.layers import USUAL
from ragways.index.update import Recipe
from ragways.settings import Settings
from ragways.testing.replies import Fault
from ragways.testing.server import LoopbackServer

SMALL = {"object_store_memory": 80 * 1024**2}
TASKS = ("ray::IDLE", "ray::_build")
OWN = ("raylet", "gcs_server", "ray::Dashboard", "ray::RuntimeEnv")
FEW = 60
"""Documents of the build that leaves compiled modules."""


def settings(index: Path, server: LoopbackServer, **cluster: object) -> Settings:
    """An index whose embedder and model are the loopback server, one call at a time."""
    embedder = {"kind": "endpoint", "base_url": server.base_url, "name": "loopback", "dimension": 16}
    model = {"base_url": server.base_url, "name": "loopback", "key": "any", "concurrency": 1}
    graph = {"method": "model", "passage_tokens": 1}
    plain = {"index": index, "embedder": embedder, "model": model, "graph": graph, "cluster": cluster}
    return Settings.model_validate(plain)


def cpu() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def cpu_of(*names: str) -> float:
    """CPU seconds so far of those processes that this one has started, itself or by others, whose names begin so."""
    found: dict[int, tuple[int, str, float]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        found[int(stat.parent.name)] = int(fields[1]), name, sum(map(int, fields[11:13])) / 100
    ours, added = {os.getpid()}, True
    while added:
        below = {process for process, (parent, *_) in found.items() if parent in ours} - ours
        ours, added = ours | below, bool(below)
    return sum(seconds for process, (_, name, seconds) in found.items() if process in ours and name.startswith(names))


def overhead(home: Path, documents: int, shards: int, tasks: int) -> dict[str, Any]:
    """CPU seconds of the same build in three ways, each in a process of its own: none finds warm what another left.
    All at the same time, so that what else the machine does falls on each alike. A build of a few documents comes
    before: it leaves compiled modules, as installing does. Without them each worker compiles Ray and ragways anew.
    """
    compiled = {"PYTHONPYCACHEPREFIX": str(home / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    # Ray gives a task of one CPU one thread for its products: so the others have one too.
    environment = {**os.environ, **compiled, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    told: dict[str, Any] = {}
    for turn, count in enumerate((FEW, documents)):
        place = home / str(turn)
        place.mkdir()
        write_jsonl(place / "corpus.jsonl", count)
        options = ["--home", str(place), "--shards", str(shards), "--tasks", str(tasks)]
        commands = [[sys.executable, __file__, "--way", way, *options] for way in ("one", "shards", "ray")]
        running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for command in commands]
        for process in running:
            told |= json.loads(process.communicate()[0])
    return told


def build_by(way: str, home: Path, shards: int, tasks: int) -> dict[str, Any]:
    """CPU seconds of one build, after imports: of this process and of Ray's workers, with all that starting them takes;
    and apart those of Ray's other processes.
    """
    engine = None
    if way == "ray":
        # Workers have the environment of this process. With a `runtime_env`, Ray would start each of them twice.
        ray.init(address="local", num_cpus=tasks, include_dashboard=False, log_to_driver=False, **SMALL)
        engine = partial(build_on_ray, address="", make=recipe)
    before, own = cpu(), cpu_of(*OWN)
    shards = 0 if way == "one" else shards
    summary = asyncio.run(build(home / way, [home / "corpus.jsonl"], recipe(USUAL), shards=shards, engine=engine))
    told: dict[str, Any] = {way: round(cpu() - before + cpu_of(*TASKS), 2), "chunks": summary.chunks}
    told[f"{way}, by stage"] = {stage: round(seconds, 2) for stage, seconds in summary.seconds.items()}
    if way == "ray":
        told["Ray's own processes"] = round(cpu_of(*OWN) - own, 2)
        ray.shutdown()
    return told


def recipe(layers: frozenset[str]) -> Recipe:
    """For this process and for tasks of Ray."""
    return Recipe(embedder=stand_in, layers=layers)


def waiting(home: Path, kind: str, texts: int, shards: int) -> dict[str, Any]:
    """Seconds of the same build with one and with three workers, at a second a call: of 64 texts that are embedded, or
    of one passage in which a model finds facts.
    """
    corpus = home / f"{kind}.jsonl"
    corpus.write_text(
        "".join(json.dumps({"id": n, "text": f"Keeper {n} saw ship {n * 7}."}) + "\n" for n in range(texts))
    )
    told: dict[str, Any] = {}
    for workers in (1, 3):
        cluster = Cluster(initialize_head=True, head_node_args={**SMALL, "num_cpus": 0, "include_dashboard": False})
        for _ in range(workers):
            cluster.add_node(num_cpus=1, **SMALL)
        with LoopbackServer(dimension=16, faults=[Fault("slow", seconds=1.0)]) as server:
            chosen = settings(home / f"{kind}-{workers}", server, engine="ray", address=cluster.address)
            layers = USUAL | {"graph"} if kind == "facts" else USUAL
            ray.init(address=cluster.address, namespace="ragways", log_to_driver=False)
            began = time.monotonic()
            ragways.build(corpus, layers=layers, settings=chosen, shards=shards)
            told[f"{workers} workers"] = round(time.monotonic() - began, 1)
            told[f"calls of {workers}"] = len(server.requests)
        ray.shutdown()
        cluster.shutdown()
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--texts", type=int, default=1536, help="to embed, with a second a call of 64")
    parser.add_argument("--passages", type=int, default=60, help="to find facts in, with a second a call of one")
    parser.add_argument("--shards", type=int, default=6)
    parser.add_argument("--tasks", type=int, default=2, help="tasks at once on the one node")
    parser.add_argument("--way", choices=("one", "shards", "ray"), help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    # Ray would have its workers come after all else that the machine does.
    os.environ.setdefault("RAY_worker_niceness", "0")
    if options.way:
        print(json.dumps(build_by(options.way, options.home, options.shards, options.tasks)))
        return
    with tempfile.TemporaryDirectory() as home:
        if options.documents:
            print(
                "CPU seconds:",
                json.dumps(overhead(Path(home), options.documents, options.shards, options.tasks)),
                flush=True,
            )
        for kind, texts in (("texts", options.texts), ("facts", options.passages)):
            if texts:
                print(f"seconds, {kind}:", json.dumps(waiting(Path(home), kind, texts, options.shards)), flush=True)


if __name__ == "__main__":
    main()
