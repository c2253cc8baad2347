"""What Ray costs, and what it gains: CPU of a run on one node against the plain one, and workers that wait.

    .venv/ray/bin/python -m benchmarks.ray_cluster --documents 1500 --texts 2560

The first part indexes the same documents plainly and on a Ray of one node, with the bundled embedder and the graph by
rules, and prints CPU seconds: of the process that runs the command with its children and of Ray's workers; apart, those
of Ray's own processes. The second has an endpoint that takes a second to embed 64 texts, and one and three workers on a
cluster that runs already.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

import ragways
from benchmarks.corpus_maker import write_jsonl
from ragways.settings import Settings
from ragways.testing.replies import Fault
from ragways.testing.server import LoopbackServer

SMALL = {"object_store_memory": 80 * 1024**2}
TASKS = ("ray::IDLE", "ray::_work")
OWN = ("raylet", "gcs_server", "ray::Dashboard", "ray::RuntimeEnv")
FEW = 60
"""Documents of the run that leaves compiled modules."""


def cpu() -> float:
    """CPU seconds of this process so far, and of its children that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


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


def overhead(home: Path, documents: int, layers: str, workers: int) -> dict[str, Any]:
    """CPU seconds of the same run in both ways, each in a process of its own: neither finds warm what the other left.
    Both at the same time, so that what else the machine does falls on each alike. A run of a few documents comes
    before: it leaves compiled modules, as installing does. Without them each worker compiles Ray and ragways anew.
    """
    compiled = {"PYTHONPYCACHEPREFIX": str(home / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    environment = {**os.environ, **compiled, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    told: dict[str, Any] = {}
    for turn, count in enumerate((FEW, documents)):
        place = home / str(turn)
        place.mkdir()
        write_jsonl(place / "corpus.jsonl", count)
        options = ["--home", str(place), "--layers", layers, "--workers", str(workers)]
        commands = [[sys.executable, __file__, "--way", way, *options] for way in ("plain", "ray")]
        running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for command in commands]
        for process in running:
            told |= json.loads(process.communicate()[0])
    return told


def index_by(way: str, home: Path, layers: str, workers: int) -> dict[str, Any]:
    """CPU seconds of one run, after imports: of this process and of Ray's workers, with all that starting them takes;
    and apart those of Ray's other processes.
    """
    cluster = {"engine": "ray"} if way == "ray" else {}
    chosen = Settings.model_validate({"index": home / way, "cluster": cluster})
    if way == "ray":
        # Workers have the environment of this process. With a `runtime_env`, Ray would start each of them twice.
        ray.init(address="local", num_cpus=workers, include_dashboard=False, log_to_driver=False, **SMALL)
    before, own, began = cpu(), cpu_of(*OWN), time.monotonic()
    summary = ragways.build(home / "corpus.jsonl", layers=layers.split(","), settings=chosen)
    told: dict[str, Any] = {way: round(cpu() - before + cpu_of(*TASKS), 2), "chunks": summary.chunks}
    told[f"{way}, seconds"] = round(time.monotonic() - began, 1)
    told[f"{way}, by stage"] = {stage: round(seconds, 2) for stage, seconds in summary.seconds.items()}
    if way == "ray":
        told["Ray's own processes"] = round(cpu_of(*OWN) - own, 2)
        ray.shutdown()
    return told


def waiting(home: Path, texts: int) -> dict[str, Any]:
    """Seconds of the same run with one and with three workers, at a second for 64 texts."""
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
            embedder = {"kind": "endpoint", "base_url": server.base_url, "name": "loopback", "dimension": 16}
            engine = {"engine": "ray", "address": cluster.address}
            plain = {"index": home / f"texts-{workers}", "embedder": embedder, "cluster": engine}
            ray.init(address=cluster.address, namespace="ragways", log_to_driver=False)
            began = time.monotonic()
            summary = ragways.build(corpus, settings=Settings.model_validate(plain))
            told[f"{workers} workers"] = round(time.monotonic() - began, 1)
            told[f"{workers} workers, by stage"] = {name: round(value, 1) for name, value in summary.seconds.items()}
            told[f"calls of {workers}"] = len(server.requests)
        ray.shutdown()
        cluster.shutdown()
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1500)
    parser.add_argument("--texts", type=int, default=2560, help="to embed, with a second a call of 64")
    parser.add_argument("--layers", default="vectors,words,graph")
    parser.add_argument("--workers", type=int, default=2, help="CPUs of the one node")
    parser.add_argument("--way", choices=("plain", "ray"), help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    # Ray would have its workers come after all else that the machine does.
    os.environ.setdefault("RAY_worker_niceness", "0")
    if options.way:
        print(json.dumps(index_by(options.way, options.home, options.layers, options.workers)))
        return
    with tempfile.TemporaryDirectory() as home:
        if options.documents:
            told = overhead(Path(home), options.documents, options.layers, options.workers)
            print("CPU seconds:", json.dumps(told), flush=True)
        if options.texts:
            print("seconds:", json.dumps(waiting(Path(home), options.texts)), flush=True)


if __name__ == "__main__":
    main()
