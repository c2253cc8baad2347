"""Run in the environment of Ray (`make clients`): a cluster of three nodes, each its own processes, of which some die.

Prints a line of JSON when everything held.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

import ragways
from ragways.cluster import asking
from ragways.settings import Settings, plain_settings
from ragways.testing.replies import Fault
from ragways.testing.server import LoopbackServer

SMALL = {"num_cpus": 1, "object_store_memory": 80 * 1024**2}
# A node that dies is missed within seconds.
MISSED = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3, "health_check_timeout_ms": 3000}
PARADIGMS = ("naive", "words", "hybrid-words", "graph-ppr")
QUESTIONS = ("Who kept light 17?", "Anna Holm and the storm of 1844")


class LateActor(asking.ShardActor):
    """One whose node takes long to start it."""

    def __init__(self, folder: str, generation: int) -> None:
        time.sleep(12)
        super().__init__(folder, generation)


def settings(index: Path, server: LoopbackServer, **cluster: object) -> Settings:
    embedder = {"kind": "endpoint", "base_url": server.base_url, "name": "loopback", "dimension": 16}
    plain = {"index": index, "embedder": embedder, "model": {"concurrency": 1}, "cluster": cluster}
    return Settings.model_validate(plain)


def by_model(chosen: Settings, index: Path, server: LoopbackServer) -> Settings:
    """The same for another index, whose facts a model finds, a passage a call."""
    model = {"base_url": server.base_url, "name": "loopback", "key": "any"}
    graph = {"method": "model", "passage_tokens": 1}
    return Settings.model_validate({**plain_settings(chosen), "index": index, "model": model, "graph": graph})


def questions_to_model(server: LoopbackServer) -> Counter[str]:
    """How often the model was asked what."""
    return Counter(
        json.dumps(request.body["messages"]) for request in list(server.requests) if "messages" in request.body
    )


def found(corpus: ragways.Corpus) -> tuple[dict[str, Any], set[str]]:
    """What is found in several ways, and what the results say of shards."""
    hits = {f"{way} {asked}": corpus.retrieve(asked, way) for way in PARADIGMS for asked in QUESTIONS}
    rows = {name: [(hit.piece.id, hit.score) for hit in some] for name, some in hits.items()}
    return rows, {some.shards for some in hits.values()}


def seconds(began: float) -> float:
    """How long it has run, said on the way: a machine may be slow."""
    passed = round(time.monotonic() - began, 1)
    sys.stderr.write(f"{passed} s\n")
    return passed


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


def main(home: Path) -> dict[str, object]:
    told: dict[str, object] = {}
    began = time.monotonic()
    rows = [
        {"id": n, "text": f"Keeper {n} of light {n} saw ship {n * 7} in the storm of {1800 + n % 90}."}
        for n in range(400)
    ]
    corpus, other = home / "corpus", home / "other"
    for folder in (corpus, other):
        folder.mkdir()
    (corpus / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (corpus / "holm.md").write_text("# Anna Holm\n\nAnna Holm built the lighthouse of Sandy Point in 1887.\n")
    (other / "bread.md").write_text("# Bread\n\nBread is made of flour.\n")
    cluster = Cluster(
        initialize_head=True, head_node_args={**SMALL, "include_dashboard": False, "_system_config": MISSED}
    )
    doomed, next_doomed = cluster.add_node(**SMALL), cluster.add_node(**SMALL)
    told["nodes"] = seconds(began)
    try:
        # So slow that the index is still being built when the driver that must wait for it has given up, which is soon.
        with LoopbackServer(dimension=16, faults=[Fault("slow", seconds=5.0, requests=9)]) as server:
            three = settings(home / "three", server, engine="ray", address=cluster.address, replicas=2, seconds=20)
            layers = ("vectors", "words", "graph")

            # A node dies in mid-index, and another comes; a second driver builds an index of its own meanwhile.
            summary: dict[str, Any] = {}
            run = threading.Thread(
                target=lambda: summary.update(done=ragways.build(corpus, layers=layers, settings=three, shards=3))
            )
            run.start()
            caches = [home / "three" / "shards" / str(shard) / "work_cache.sqlite" for shard in range(3)]
            until(lambda: len(server.requests) >= 4 and all(cache.exists() for cache in caches))
            same = second_driver(corpus, home / "three", server)
            cluster.remove_node(doomed, allow_graceful=False)
            driver = second_driver(
                other, home / "bread", server, "--shards", "2", "--engine", "ray", "--address", cluster.address
            )
            cluster.add_node(**SMALL)
            run.join(300)
            assert summary["done"].added == 401, summary
            said = same.communicate(timeout=240)[0]
            assert same.returncode == 3, said
            assert "another process is writing" in said, said
            paid = embedded(server)
            said = driver.communicate(timeout=240)[0]
            assert driver.returncode == 0, said
            told["twice"] = twice = sum(1 for times in paid.values() if times > 1)
            # The call that was under way on the lost node, of at most 64 texts.
            assert twice <= 64, told
            told["built"] = seconds(began)

            one = settings(home / "one", server)
            ragways.build(corpus, layers=layers, settings=one)
            with ragways.open(settings=one) as corpus_of_one:
                expected, _ = found(corpus_of_one)

            # A model finds facts in the tasks of the shards, which is all that it is asked: no passage twice.
            few = home / "few"
            few.mkdir()
            for n in range(6):
                (few / f"{n}.md").write_text(f"# Keeper {n}\n\nKeeper {n} kept the light of Port Elm in {1800 + n}.\n")
            asked_by: list[Counter[str]] = []
            found_by: list[object] = []
            for chosen, shards in ((three, 3), (one, 0)):
                before = questions_to_model(server)
                extracting = by_model(chosen, home / f"model-{shards}", server)
                done = ragways.build(few, layers=layers, settings=extracting, shards=shards)
                asked_by.append(questions_to_model(server) - before)
                assert (done.added, done.undone, done.usage.calls >= 6) == (6, 0, True), done
                with ragways.open(settings=extracting) as opened:
                    found_by.append(found(opened))
            assert found_by[0] == found_by[1]
            assert asked_by[0] == asked_by[1]
            assert max(asked_by[0].values()) == 1
            told["by model"] = seconds(began)

            # A node dies in mid-question.
            with ragways.open(settings=three) as asked:
                assert found(asked) == (expected, {""})
                told["asked"] = seconds(began)
                killing = threading.Timer(0.2, lambda: cluster.remove_node(next_doomed, allow_graceful=False))
                killing.start()
                during = 0
                while killing.is_alive() or not during:
                    assert found(asked) == (expected, {""})
                    during += 1
                assert found(asked) == (expected, {""})
            told["lost"], told["during"] = seconds(began), during

            # Actors take longer to start than a question may: that is no question's fault.
            late = settings(home / "three", server, engine="ray", address=cluster.address, replicas=1, seconds=10)
            plain, asking.ShardActor = asking.ShardActor, LateActor  # type: ignore[misc]
            with ragways.open(settings=late) as asked:
                assert asked.retrieve(QUESTIONS[0], "words").shards == ""
            asking.ShardActor = plain  # type: ignore[misc]
            told["late"] = seconds(began)

            # A shard that nobody can read.
            shutil.move(home / "three" / "shards" / "1", home / "away")
            with ragways.open(settings=three) as asked:
                left = [asked.retrieve(QUESTIONS[0], way) for way in ("naive", "words")]
            assert {hits.shards[:22] for hits in left} == {"2 of 3 shards answered"}, left
    finally:
        ray.shutdown()
        for node in cluster.list_all_nodes():  # at once: to end in good order takes most of a minute
            node.kill_all_processes(check_alive=False, allow_graceful=False, wait=True)
    return told | {"seconds": seconds(began)}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
