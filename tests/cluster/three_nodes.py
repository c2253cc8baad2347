"""Run in the environment of Ray (`make clients`): a cluster of three nodes, each its own processes, one of which dies.

Prints a line of JSON when everything held.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

import ragways
from ragways.core.errors import ModelRefused
from ragways.layers.graph import extract
from ragways.models.embed import EndpointEmbedder
from ragways.settings import Settings
from ragways.testing.replies import Fault
from ragways.testing.server import LoopbackServer

SMALL = {"num_cpus": 1, "object_store_memory": 80 * 1024**2}
# A node that dies is missed within seconds.
MISSED = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3, "health_check_timeout_ms": 3000}
LAYERS = ("vectors", "words", "graph")
PARADIGMS = ("naive", "words", "hybrid-words", "graph-ppr")
QUESTIONS = ("Who kept light 17?", "Anna Holm and the storm of 1844")


def settings(index: Path, server: LoopbackServer, address: str = "", **embedder: object) -> Settings:
    endpoint = {"kind": "endpoint", "base_url": server.base_url, "name": "loopback", "dimension": 16, **embedder}
    cluster = {"engine": "ray", "address": address} if address else {}
    prices = {"loopback": {"input": 1.0, "output": 0.0}}
    return Settings.model_validate({"index": index, "embedder": endpoint, "cluster": cluster, "prices": prices})


def found(chosen: Settings) -> dict[str, Any]:
    """What is found in several ways."""
    with ragways.open(settings=chosen) as corpus:
        hits = {f"{way} {asked}": corpus.retrieve(asked, way) for way in PARADIGMS for asked in QUESTIONS}
    return {name: [(hit.piece.id, hit.score) for hit in some] for name, some in hits.items()}


def until(done: Callable[[], bool], seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)


def embedded(server: LoopbackServer) -> Counter[str]:
    """How often each text was embedded."""
    texts: Counter[str] = Counter()
    for request in list(server.requests):
        given = request.body.get("input")
        texts.update(given if isinstance(given, list) else [])
    return texts


def second_driver(corpus: Path, index: Path, server: LoopbackServer, *more: str) -> subprocess.Popen[str]:
    own = {"RAGWAYS_EMBEDDER__KIND": "endpoint", "RAGWAYS_EMBEDDER__BASE_URL": server.base_url,
           "RAGWAYS_EMBEDDER__NAME": "loopback", "RAGWAYS_EMBEDDER__DIMENSION": "16"}  # fmt: skip
    command = [sys.executable, "-m", "ragways", "index", str(corpus), "--index", str(index), "--json", *more]
    return subprocess.Popen(
        command, env={**os.environ, **own}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def not_here(*_: object, **__: object) -> None:
    raise AssertionError("this was to be done on a node")


def index_while_a_node_dies(home: Path, corpus: Path, cluster: Cluster, doomed: object) -> dict[str, object]:
    """A node dies in mid-index and another comes; a second driver builds an index of its own, a third is refused."""
    (home / "bread.md").write_text("# Bread\n\nBread is made of flour.\n")
    summary: dict[str, Any] = {}
    with LoopbackServer(dimension=16, faults=[Fault("slow", seconds=5.0, requests=9)]) as server:
        three = settings(home / "three", server, cluster.address)
        run = threading.Thread(target=lambda: summary.update(done=ragways.build(corpus, layers=LAYERS, settings=three)))
        run.start()
        until(lambda: len(server.requests) >= 3)
        same = second_driver(corpus, home / "three", server)
        cluster.remove_node(doomed, allow_graceful=False)
        driver = second_driver(
            home / "bread.md", home / "bread", server, "--engine", "ray", "--address", cluster.address
        )
        added(cluster)
        run.join(300)
        assert summary["done"].added == 401, summary
        said = same.communicate(timeout=240)[0]
        assert (same.returncode, "another process is writing" in said) == (3, True), said
        said = driver.communicate(timeout=240)[0]
        assert driver.returncode == 0, said
        # What was under way on the lost node: at most 64 texts.
        twice = sum(1 for times in embedded(server).values() if times > 1)
        assert twice <= 64, twice
        return {"twice": twice, "found": found(three)}


def added(cluster: Cluster) -> Any:
    """One more node. Ray gives it 30 seconds to start, which a busy machine may exceed: then another is started."""
    for _ in range(2):
        with suppress(Exception):
            return cluster.add_node(**SMALL)
    return cluster.add_node(**SMALL)


def main(home: Path) -> dict[str, object]:
    began = time.monotonic()
    rows = [
        {"id": n, "text": f"Keeper {n} of light {n} saw ship {n * 7} in the storm of {1800 + n % 90}."}
        for n in range(400)
    ]
    corpus = home / "corpus"
    corpus.mkdir()
    (corpus / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (corpus / "holm.md").write_text("# Anna Holm\n\nAnna Holm built the lighthouse of Sandy Point in 1887.\n")
    with LoopbackServer(dimension=16) as server:
        ragways.build(corpus, layers=LAYERS, settings=(one := settings(home / "one", server)))
        expected = found(one)
    cluster = Cluster(
        initialize_head=True, head_node_args={**SMALL, "include_dashboard": False, "_system_config": MISSED}
    )
    doomed, _ = added(cluster), added(cluster)
    here, rules = EndpointEmbedder.embed, extract.extract
    EndpointEmbedder.embed, extract.extract = not_here, not_here  # type: ignore[assignment,method-assign]
    try:
        told = index_while_a_node_dies(home, corpus, cluster, doomed)
        EndpointEmbedder.embed, extract.extract = here, rules  # type: ignore[method-assign]
        assert told.pop("found") == expected

        # The budget of the command and the errors of an endpoint are the same as without a cluster.
        with LoopbackServer(dimension=16, key="right") as server:
            cheap = settings(home / "cheap", server, cluster.address, key="right")
            first, second = (ragways.build(corpus, settings=cheap, budget=usd) for usd in (0.003, 1.0))
            assert first.stopped, first
            assert 0 < first.usage.usd <= 0.003, first
            assert (second.stopped, first.embedded + second.embedded) == ("", 401), second
            assert max(embedded(server).values()) == 1
            cure = ""
            try:
                ragways.build(corpus, settings=settings(home / "wrong", server, cluster.address, key="wrong"))
            except ModelRefused as refused:
                cure = refused.cure
            assert cure
    finally:
        ray.shutdown()
        for node in cluster.list_all_nodes():  # at once: to end in good order takes most of a minute
            node.kill_all_processes(check_alive=False, allow_graceful=False, wait=True)
    return told | {"seconds": round(time.monotonic() - began, 1)}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
