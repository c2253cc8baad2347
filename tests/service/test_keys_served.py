"""Keys at a real server: taken away at once, and nowhere to be read."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ragways.core.errors import UsageError
from ragways.service.app import make_app
from ragways.service.audit import Audit
from ragways.service.config import ServiceConfig
from ragways.service.keys import Keys
from ragways.service.state import State
from ragways.settings import Settings
from tests.service.conftest import Serve


def key(data: Path, *arguments: str) -> str:
    """As a person on the server's machine runs it."""
    command = [sys.executable, "-m", "ragways", "key", *arguments, "--data", str(data)]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=data.parent).stdout.strip()


def family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in family(int(child)))]


def test_keys_hold_while_a_server_runs_and_are_nowhere_to_be_read(tmp_path: Path, serve: Serve):
    data = tmp_path / "data"
    state = State(data / "service.sqlite")
    keys, audit = Keys(state), Audit(state)
    alice = keys.add("alice", scope="admin", budget=0.9)[1]
    bob = keys.add("bob", tenant="other")[1]
    secrets = [text.split("_", 2)[2] for text in (alice, bob)]
    with serve(data, "-v", "--log-format", "json", environment={"RAGWAYS_SERVE__WORKERS": "1"}) as server:
        assert server.client.get("/api/v1/me").status_code == 401
        with server.with_key(alice) as one, server.with_key(bob) as two:
            assert one.get("/api/v1/me").json()["budget"] == {"usd": 0.9, "spent": 0.0, "held": 0.0}
            assert one.post("/api/v1/collections", json={"name": "docs"}).status_code == 201
            assert two.post("/api/v1/collections", json={"name": "docs"}).status_code == 403
            assert two.get(f"/api/v1/collections/docs?key={alice}").status_code == 404
            assert two.get(f"/api/v1/{bob}").status_code == 404
            # What another process does holds with the next request.
            new = key(data, "rotate", "alice")
            assert one.get("/api/v1/me").status_code == 401
            key(data, "revoke", "bob")
            assert two.get("/api/v1/me").status_code == 401
        shown = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in family(server.process.pid)]
        assert len(shown) > 1  # with its worker
        server.stop(signal.SIGKILL)  # nothing is tidied up
    secrets.append(new.split("_", 2)[2])
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b'"request"' in kept  # the log of requests among them
    assert b"collection.create" in kept
    for secret in secrets:
        assert secret.encode() not in kept
        assert not any(secret.encode() in line for line in shown)
    assert [line["action"] for line in audit.lines()] == ["collection.create", "key.rotate", "key.revoke"]
    assert audit.problems() == []
    state.close()


def test_without_a_key_a_server_is_for_this_machine_alone(tmp_path: Path):
    config = ServiceConfig(tmp_path / "data", Settings(), host="0.0.0.0")
    with pytest.raises(UsageError, match="no key") as caught:
        make_app(config)
    assert "ragways key add" in caught.value.cure


def test_only_the_owner_of_a_server_may_read_what_it_makes(tmp_path: Path, serve: Serve):
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    here = "/api/v1/collections/docs"
    with serve(data) as server:
        server.client.post("/api/v1/collections", json={"name": "docs", "layers": ["words"]})
        server.client.put(f"{here}/files/light.txt", content=b"The harbour light was built by Ada Marsh.")
        job = server.client.post(f"{here}/jobs", json={"kind": "index"}).json()
        assert dict(server.events(f"/api/v1/jobs/{job['id']}/events"))["done"]["state"] == "done"
    made = [path for path in data.rglob("*") if path != data]
    assert any(path.name == "index.sqlite" for path in made)
    assert [path for path in made if path.stat().st_mode & 0o077] == []
