"""Jobs through the real server: indexing, planning, watching, cancelling, and what a kill or a restart leaves."""

from __future__ import annotations

import json
import re
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ragways.core.errors import UsageError
from ragways.index.diagnosis import MANY
from ragways.service.app import make_app
from ragways.service.config import ServiceConfig
from ragways.service.state import FILE, State
from ragways.settings import Settings
from ragways.testing.replies import Fault
from ragways.testing.server import LoopbackServer
from tests.service.conftest import RunningServer, serving

API = "/api/v1"
LIGHT = "The lighthouse of Sollen was built in 1871 by the engineer Ada Marsh on the northern cliff."
FERRY = "The ferry Halcyon carries the post to the outer islands every second Tuesday of the month."
MILL = "The mill of Brannock grinds barley for the whole valley since the flood of the year 1902."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Two workers; every job has words alone to build, which is quick."""
    with serving(tmp_path_factory.mktemp("jobs") / "data", environment={"RAGWAYS_SERVE__WORKERS": "2"}) as running:
        yield running


def create(
    server: RunningServer, name: str, files: dict[str, str | bytes], layers: tuple[str, ...] = ("words",)
) -> str:
    place = f"{API}/collections/{name}"
    assert server.client.post(f"{API}/collections", json={"name": name, "layers": layers}).status_code == 201
    for path, text in files.items():
        assert server.client.put(f"{place}/files/{path}", content=text).status_code == 200
    return place


def ended(server: RunningServer, place: str, **body: object) -> dict[str, Any]:
    """A job from its start to its end, as its events tell it."""
    started = server.client.post(f"{place}/jobs", json=body)
    assert started.status_code == 202, started.text
    *_, (name, job) = server.events(f"{API}/jobs/{started.json()['id']}/events")
    assert name == "done"
    return dict(job)


def index(server: RunningServer, place: str, **body: object) -> dict[str, Any]:
    job = ended(server, place, kind="index", **body)
    assert job["state"] == "done", job
    return job


def states(server: RunningServer, place: str) -> dict[str, str]:
    return {one["path"]: one["state"] for one in server.client.get(f"{place}/files").json()["files"]}


def test_a_collection_without_named_layers_gets_a_graph_where_it_pays(server: RunningServer):
    """By the same rule as `ragways index`."""
    client, place = server.client, f"{API}/collections/isles"
    assert client.post(f"{API}/collections", json={"name": "isles"}).json()["wanted"] == []
    rows = [{"title": f"Isle {n}", "text": f"It lies {n} miles from Isle {n - 1}."} for n in range(MANY)]
    client.put(f"{place}/files/isles.jsonl", content="".join(json.dumps(row) + "\n" for row in rows))
    plan = ended(server, place, kind="plan")
    assert {one["name"] for one in plan["result"]["layers"]} == {"vectors", "words", "graph"}
    assert "graph built as well" in index(server, place)["result"]["chosen"]
    assert client.get(place).json()["layers"] == ["graph", "vectors", "words"]


def test_files_become_documents_and_each_tells_what_became_of_it(server: RunningServer):
    files: dict[str, str | bytes] = {
        "a/light.txt": LIGHT,
        "ferry.txt": FERRY,
        "bad.pdf": b"%PDF-nothing",
        "empty.txt": b"",
    }
    place = create(server, "whole", files)
    assert set(states(server, place).values()) == {"new"}
    # A plan prices the work, and changes nothing.
    plan = ended(server, place, kind="plan", layers=["vectors", "words"])
    assert (plan["result"]["new"], plan["result"]["to_embed"], plan["result"]["usd"]) == (2, 2, 0.0)
    assert {one["name"] for one in plan["result"]["layers"]} == {"vectors", "words"}
    assert server.client.get(place).json()["generation"] == 0
    assert set(states(server, place).values()) == {"new"}
    job = index(server, place)
    assert job["result"]["added"] == 2
    assert [one["path"] for one in job["result"]["failed"]] == ["bad.pdf"]
    assert states(server, place) == {
        "a/light.txt": "indexed", "bad.pdf": "failed", "empty.txt": "failed", "ferry.txt": "indexed"
    }  # fmt: skip
    reasons = {one["path"]: one["reason"] for one in server.client.get(f"{place}/files").json()["files"]}
    assert "PDF" in reasons["bad.pdf"]
    assert reasons["ferry.txt"] == ""
    documents = server.client.get(f"{place}/documents", params={"search": "light"}).json()
    assert [one["title"] for one in documents["documents"]] == ["light"]
    whole = server.client.get(f"{place}/documents/{documents['documents'][0]['id']}").json()
    assert whole["text"] == LIGHT
    # Replaced: the index has the old text until the next job, and then only the new one.
    server.client.put(f"{place}/files/ferry.txt", content=MILL)
    assert states(server, place)["ferry.txt"] == "changed"
    changed = index(server, place)
    assert changed["result"]["changed"] == 1
    assert [one["key"] for one in changed["result"]["erasure"]["documents"]] == ["files/ferry.txt"]
    assert changed["result"]["erasure"]["erased"] is True
    assert states(server, place)["ferry.txt"] == "indexed"
    status = server.client.get(place).json()
    assert (status["documents"], status["generation"], status["status"]["generation"]) == (2, 2, 2)
    # Who comes late is told how it stands; what has ended cannot be cancelled or go on.
    assert [name for name, _ in server.events(f"{API}/jobs/{job['id']}/events")] == ["done"]
    listed = server.client.get(f"{place}/jobs").json()["jobs"]
    assert [one["id"] for one in listed] == [changed["id"], job["id"], plan["id"]]
    assert {"reading", "words view"} <= {one["stage"] for one in job["progress"]["stages"]}
    assert server.client.post(f"{API}/jobs/{job['id']}/cancel").status_code == 409
    assert server.client.post(f"{API}/jobs/{job['id']}/resume").status_code == 409
    assert server.client.get(f"{API}/jobs/0000000000000000").status_code == 404
    # Deleted, with everything.
    before = len(collections_of(server))
    assert server.client.delete(place).status_code == 204
    assert len(collections_of(server)) == before - 1
    for path in (place, f"{place}/files", f"{place}/jobs", f"{place}/documents"):
        assert server.client.get(path).status_code == 404
    assert server.client.get(f"{API}/jobs/{job['id']}").status_code == 404
    create(server, "whole", {})
    assert server.client.get(f"{place}/jobs").json() == {"jobs": []}


def test_what_was_removed_is_gone_for_every_worker_and_shown_to_be(server: RunningServer):
    place = create(server, "removed", {"light.txt": LIGHT, "ferry.txt": FERRY, "mill.txt": MILL})
    index(server, place)
    folder = next(path for path in collections_of(server) if (path / "files" / "light.txt").is_file())
    said = {"question": "What does the mill grind?", "answer": MILL, "verdict": "good"}
    assert server.client.post(f"{place}/feedback", json=said).status_code == 201
    said = {"question": "Is it on time?", "answer": "Mostly.", "verdict": "good"}
    assert server.client.post(f"{place}/feedback", json=said).status_code == 201

    def asked(_: int) -> str:
        body = {"question": "Who built the lighthouse of Sollen?", "paradigm": "words"}
        return server.client.post(f"{place}/ask", json=body).text

    kept = f"{place}/conversations/{server.client.post(f'{place}/conversations').json()['id']}"
    for question in ("Who built the lighthouse of Sollen?", "How often does the ferry Halcyon run?"):
        body = {
            "question": question,
            "paradigm": "words",
            "settings": {"k": 1},
            "conversation": kept.rpartition("/")[2],
        }
        assert server.client.post(f"{place}/ask", json=body).status_code == 200
    assert "Ada Marsh" in server.client.get(kept).text

    with ThreadPoolExecutor(8) as threads:
        assert all("Ada Marsh" in text for text in threads.map(asked, range(16)))
        for name in ("light.txt", "mill.txt"):
            assert server.client.delete(f"{place}/files/{name}").status_code == 204
        job = index(server, place)
        assert not any("Ada Marsh" in text for text in threads.map(asked, range(16)))
    assert job["result"]["removed"] == 2
    assert [turn["question"] for turn in server.client.get(kept).json()["turns"]] == [
        "How often does the ferry Halcyon run?"
    ]
    erasure = job["result"]["erasure"]
    assert {one["key"]: (one["looked_for"], one["found"]) for one in erasure["documents"]} == {
        "files/light.txt": (1, []),
        "files/mill.txt": (1, []),
    }
    assert erasure["erased"] is True
    assert erasure["files"] > 5
    feedback = server.client.get(f"{place}/feedback").text  # the line that quoted the mill is gone
    assert [json.loads(line)["question"] for line in feedback.splitlines()] == ["Is it on time?"]
    # Seen with other eyes: no file of the collection or of the server has a piece of it.
    for files in (folder.rglob("*"), folder.parent.parent.glob("*")):
        read = [path.read_bytes() for path in files if path.is_file()]
        assert not [data for data in read if b"Ada Marsh" in data or b"Brannock" in data]
        assert [data for data in read if b"Halcyon" in data]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"kind": "index", "layers": ["nonsense"]}, 400),
        ({"kind": "dig"}, 422),
        ({"kind": "index", "path": "/etc"}, 422),
        ({"kind": "evaluate", "questions": "none", "paradigms": ["words"]}, 404),
        ({"kind": "evaluate", "questions": "../x", "paradigms": ["words"]}, 422),
        ({"kind": "questions", "name": "feedback"}, 409),
        ({"kind": "questions", "name": "x", "kinds": ["nonsense"]}, 400),
    ],
)
def test_jobs_that_make_no_sense_are_refused_at_once(server: RunningServer, body: dict[str, object], status: int):
    name = "refusing"
    if server.client.get(f"{API}/collections/{name}").status_code == 404:
        create(server, name, {})
    reply = server.client.post(f"{API}/collections/{name}/jobs", json=body)
    assert (reply.status_code, bool(reply.json()["error"]["message"])) == (status, True)
    assert server.client.get(f"{API}/collections/{name}/jobs").json() == {"jobs": []}


def collections_of(server: RunningServer) -> list[Path]:
    return sorted((server.log.parent / "data" / "collections").iterdir())


# An endpoint that can hold replies back, so that a job is under way as long as a test wants it to be

WORDS = ["quay", "gull", "rope", "mast", "tide", "reef", "cove", "pier", "buoy", "helm", "keel", "sail"]


def texts(count: int) -> dict[str, str | bytes]:
    """One file of so many documents."""
    rows = ({"title": f"Note {n}", "text": f"It tells of the {WORDS[n % 12]} number {n}."} for n in range(count))
    return {"notes.jsonl": "".join(json.dumps(row) + "\n" for row in rows)}


def endpoint(model: LoopbackServer, folder: Path) -> None:
    """Settings of a server whose embedder is this endpoint, one call at a time and each at a price."""
    (folder / "ragways.toml").write_text(
        f"""[embedder]
kind = "endpoint"
base_url = "{model.base_url}"
name = "loopback"
dimension = 8
key = "sk-only-by-pipe"
[model]
concurrency = 1
[prices.loopback]
input = 1000.0
output = 0.0
[serve]
workers = 1
jobs = 1
"""
    )


def until_held(model: LoopbackServer, calls: int) -> None:
    """Wait until the endpoint has so many calls."""
    end = time.monotonic() + 300
    while model.count < calls:
        assert time.monotonic() < end
        time.sleep(0.02)


def hold(model: LoopbackServer, after: int = 0) -> None:
    """Hold back every reply but those to so many calls from now."""
    first = model.count + after

    class Later(Fault):
        def strikes(self, number: int, running: float) -> bool:
            return number > first

    model.faults = [Later("slow", seconds=600)]


def embedded(model: LoopbackServer, since: int = 0) -> list[str]:
    return [text for request in model.requests[since:] for text in list(request.body["input"])]  # type: ignore[call-overload]


def processes(pid: int) -> list[tuple[int, bytes]]:
    """Processes below this one, with their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat, line = (entry / "stat").read_text(), (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if int(stat.rsplit(")", 1)[1].split()[1]) == pid:
                found.append((int(entry.name), line))
    return found


def half_upload(server: RunningServer, path: str) -> socket.socket:
    """Send one of four MiB, and wait until the server has begun to write it."""
    address = urlsplit(server.url)
    sending = socket.create_connection((address.hostname, address.port))
    sending.sendall(f"PUT {path} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: {4 << 20}\r\n\r\n".encode())
    sending.sendall(b"x" * (2 << 20))
    end = time.monotonic() + 300
    while not any(file.stat().st_size for one in collections_of(server) for file in (one / "incoming").glob("*")):
        assert time.monotonic() < end
        time.sleep(0.02)
    return sending


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_a_job_outlives_cancelling_a_kill_and_a_stop_of_the_server(tmp_path: Path):
    with LoopbackServer() as model:
        endpoint(model, tmp_path)
        hold(model, after=1)
        with serving(tmp_path / "data") as server:
            first = create(server, "first", texts(150), layers=("vectors",))
            second = create(server, "second", {"light.txt": LIGHT})
            job = server.client.post(f"{first}/jobs", json={"kind": "index"}).json()
            waiting = server.client.post(f"{second}/jobs", json={"kind": "index"}).json()
            until_held(model, 2)
            assert job_of(server, job)["state"] == "running"
            assert job_of(server, waiting)["state"] == "waiting"
            assert job_of(server, job)["progress"]["stage"] == "embedding"
            assert server.client.post(f"{API}/jobs/{waiting['id']}/cancel").json()["state"] == "cancelled"
            assert server.client.post(f"{API}/jobs/{job['id']}/cancel").json()["state"] == "cancelled"
            assert server.client.get(first).json()["generation"] == 0
            assert server.client.post(f"{API}/jobs/{job['id']}/resume").json()["state"] == "running"
            until_held(model, 3)
            # An upload is on its way, in the place of a file that is there.
            sending = half_upload(server, f"{second}/files/light.txt")
            [folder] = [path for path in collections_of(server) if any((path / "incoming").glob("*"))]
            child = next(pid for pid, line in processes(server.process.pid) if b"\0job\0" in line)
            # No secret where others can read it.
            assert b"sk-only-by-pipe" not in Path(f"/proc/{child}/cmdline").read_bytes()
            assert b"sk-only-by-pipe" not in Path(f"/proc/{child}/environ").read_bytes()
            server.stop(signal.SIGKILL)
            sending.close()
            assert (folder / "files" / "light.txt").read_text() == LIGHT
            end = time.monotonic() + 300
            while not gone(child):
                assert time.monotonic() < end, "the job outlived its server"
                time.sleep(0.05)
        paid = embedded(model)[:64]
        model.faults = []
        seen = len(model.requests)
        with serving(tmp_path / "data") as server:
            *_, (name, done) = server.events(f"{API}/jobs/{job['id']}/events")
            assert (name, done["state"], done["result"]["added"]) == ("done", "done", 150)
            assert done["result"]["spent"] > 0
            # No half file was left, and the next upload goes as if nothing had been.
            assert not list((folder / "incoming").glob("*"))
            assert server.client.get(f"{second}/files/light.txt").text == LIGHT
            assert server.client.put(f"{second}/files/light.txt", content=MILL).json()["size"] == len(MILL)
            # What was paid for before is not asked for again, and everything else is.
            assert not set(embedded(model, seen)) & set(paid)
            assert len(set(embedded(model, seen)) | set(paid)) == 150
            # A budget too small for one call ends the job with its reason.
            server.client.put(f"{first}/files/more.txt", content=MILL)
            poor = ended(server, first, kind="index", budget=0.000001)
            assert (poor["state"], poor["error"]["code"]) == ("failed", "budget")
            assert re.search(r"the next call may cost up to \$0\.\d*[1-9]", poor["error"]["message"]), poor["error"]
            # A plan says what it would cost, which is not what planning has cost.
            priced = ended(server, first, kind="plan")["result"]
            assert priced["usd"] == sum(layer["usd"] for layer in priced["layers"]) > 0
            hold(model)
            calls = model.count
            again = server.client.post(f"{API}/jobs/{poor['id']}/resume", json={"budget": 0.5}).json()
            assert (again["state"], again["error"]) == ("running", None)
            next_one = server.client.post(f"{first}/jobs", json={"kind": "index"}).json()
            until_held(model, calls + 1)
            assert server.stop() in (0, -signal.SIGTERM)
        # Nothing is lost: both wait for the next server.
        with closing(State(tmp_path / "data" / FILE)) as state:
            rows = dict(state.db.execute("SELECT id, state FROM jobs").fetchall())
        assert (rows[poor["id"]], rows[next_one["id"]]) == ("waiting", "waiting")


def test_money_of_an_unknown_price_is_null(tmp_path: Path):
    with LoopbackServer() as model:
        endpoint(model, tmp_path)
        environment = {"RAGWAYS_MODEL__BASE_URL": model.base_url, "RAGWAYS_MODEL__NAME": "nobodys"}
        settings = tmp_path / "ragways.toml"
        settings.write_text(settings.read_text().replace("[prices.loopback]\ninput = 1000.0\noutput = 0.0\n", ""))
        with serving(tmp_path / "data", environment=environment) as server:
            place = create(server, "dear", {"light.txt": LIGHT}, layers=("vectors", "words"))
            result = index(server, place)["result"]
            assert (result["spent"], result["usage"]["usd"]) == (None, None)
            assert result["usage"]["calls"] == 1
            body = {"question": "Who built the lighthouse?", "paradigm": "words"}
            *steps, (_, answer) = server.events(f"{place}/ask", {**body, "stream": True})
            assert (answer["usage"]["calls"], answer["usage"]["usd"]) == (1, None)
            money = {data["name"]: data["usd"] for name, data in steps if name == "step" and "usd" in data}
            assert (money["words"], money["answer"]) == (None, None)
            known = server.client.post(f"{place}/ask", json=body).json()["usage"]
            assert (known["calls"], known["usd"]) == (0, 0), "a reply from the cache costs nothing"
            assert "ragways_model_usd_total 0.0" in server.client.get("/metrics").text


def job_of(server: RunningServer, job: dict[str, Any]) -> dict[str, Any]:
    return dict(server.client.get(f"{API}/jobs/{job['id']}").json())


def test_a_second_server_on_one_folder_is_refused(server: RunningServer):
    config = ServiceConfig(server.log.parent / "data", Settings())
    with pytest.raises(UsageError, match="another server"):
        make_app(config)
    assert server.client.get(f"{API}/collections").status_code == 200
