"""Alive, ready, figures for Prometheus, and structured logs, of a real server with keys."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ragways.service.api.health import writable
from ragways.service.keys import Keys
from ragways.service.metrics import Metrics
from ragways.service.state import FILE, State
from tests.service.conftest import RunningServer, serving

SECRET = "Who designed the Pell Rock Lighthouse?"


@pytest.fixture(scope="module")
def server(lights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, str, str]]:
    data = tmp_path_factory.mktemp("health") / "data"
    keys = Keys(state := State(data / FILE))
    reads, admin = keys.add("reader", tenant="main")[1], keys.add("boss", scope="admin", tenant="main")[1]
    state.close()
    with serving(
        data, "--index", str(lights), "--log-format", "json", environment={"RAGWAYS_SERVE__WORKERS": "1"}
    ) as running:
        yield running, reads, admin


def figures(text: str) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_figures_count_requests_and_questions_and_name_nobody(server: tuple[RunningServer, str, str], lights: Path):
    running, reads, admin = server
    with running.with_key(reads) as reader, running.with_key(admin) as boss:
        assert running.client.get("/metrics").status_code == 401
        assert reader.get("/metrics").status_code == 403
        path = f"/api/v1/collections/{lights.name}/ask"
        for paradigm in ("words", "words", "nothing"):
            reader.post(path, json={"question": SECRET, "paradigm": paradigm})
        running.client.get("/no/such/page/of/ours")
        reply = boss.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=")
    found = figures(reply.text)
    route = "/api/v1/collections/{collection}/ask"
    assert found["ragways_requests_total", "POST", route, "200"] == 2
    assert found["ragways_requests_total", "POST", route, "400"] == 1
    assert found["ragways_request_seconds_count", route] == 3
    assert found["ragways_questions_total", "answered", "words"] == 2
    assert found["ragways_questions_total", "failed", ""] == 1
    assert found["ragways_requests_total", "GET", "none", "404"] == 1
    assert found[("ragways_workers",)] >= 1
    assert found[("ragways_event_loop_lag_seconds_count",)] >= 1
    for text in (lights.name, "no/such", "Pell Rock", reads, "reader", "tenant"):
        assert text not in reply.text


def test_logs_are_lines_of_json_with_the_requests_id(server: tuple[RunningServer, str, str], lights: Path):
    running, reads, _ = server
    with running.with_key(reads) as reader:
        reply = reader.post(
            f"/api/v1/collections/{lights.name}/retrieve", json={"question": SECRET, "paradigm": "words"}
        )
        reader.get("/healthz")
    lines = [json.loads(line) for line in running.log.read_text().splitlines()]
    [line] = [line for line in lines if line.get("request") == reply.headers["x-request-id"]]
    assert (line["status"], line["route"]) == (200, "/api/v1/collections/{collection}/retrieve")
    assert line["seconds"] > 0
    assert line["time"].endswith("Z")
    text = running.log.read_text()
    assert SECRET not in text
    assert reads not in text


def test_alive_and_ready_without_a_key_and_not_ready_when_workers_hang(server: tuple[RunningServer, str, str]):
    running, _, _ = server
    assert running.client.get("/healthz").json() == {"alive": True}
    assert running.client.get("/readyz").json() == {"ready": True, "state": True, "workers": True}
    workers = [
        int(pid)
        for children in Path(f"/proc/{running.process.pid}/task").glob("*/children")
        for pid in children.read_text().split()
    ]
    assert workers
    try:
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        reply = wait_for(running, 503)
        assert reply == {"ready": False, "state": True, "workers": False}
    finally:
        for pid in workers:
            os.kill(pid, signal.SIGCONT)
    assert wait_for(running, 200)["ready"]


def wait_for(running: RunningServer, status: int) -> dict[str, Any]:
    """What is said once it is not the answer of a moment ago."""
    for _ in range(200):
        reply = running.client.get("/readyz")
        if reply.status_code == status:
            return dict(reply.json())
        time.sleep(0.05)
    raise AssertionError(f"never {status}")


def test_state_that_cannot_be_written_is_seen(tmp_path: Path):
    state = State(tmp_path / FILE)
    service: Any = SimpleNamespace(state=state)
    assert writable(service)
    blocker = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    state.db.execute("PRAGMA busy_timeout = 10")
    assert not writable(service)
    blocker.execute("ROLLBACK")
    blocker.close()
    assert writable(service)
    state.close()
    assert not writable(service)


def test_labels_are_bounded():
    metrics = Metrics()
    for number in range(100):
        metrics.request("", f"M{number}", 405, 0.1)
        metrics.worked(
            "ask", {"paradigm": f"p{number}", "abstained": True, "usage": {"input": 1, "output": 2, "usd": 0.5}}
        )
    found = figures(metrics.text().decode())
    assert found["ragways_requests_total", "other", "none", "405"] == 100
    assert found["ragways_questions_total", "abstained", "other"] == 100
    assert found["ragways_model_tokens_total", "output"] == 200
    assert found[("ragways_model_usd_total",)] == 50
