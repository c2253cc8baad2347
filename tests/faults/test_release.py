"""What ships is listed and can be checked against known vulnerabilities; no secret stands on a command line."""

from __future__ import annotations

import importlib.util
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main

from ragways.apps.cli import app

ROOT = Path(__file__).parent.parent.parent
SECRET = {"token", "key", "secret", "password", "api-key", "auth"}


@pytest.fixture(scope="module")
def lock() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release_lock", ROOT / "release" / "lock.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["release_lock"] = module
    spec.loader.exec_module(module)
    return module


def test_the_list_names_every_locked_package(lock: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert lock.main(["sbom", str(tmp_path)]) == 0
    (file,) = tmp_path.iterdir()
    data = json.loads(file.read_text())
    text = (ROOT / "requirements.lock").read_text()
    pinned = [line.split(" ")[0].rstrip("\\") for line in text.splitlines() if "==" in line and line[0].isalnum()]
    assert [f"{each['name']}=={each['version']}" for each in data["components"]] == pinned
    assert data["bomFormat"] == "CycloneDX"
    assert sum(len(each["hashes"]) for each in data["components"]) == text.count("--hash=sha256:")
    assert "anyio" in {each["name"] for each in data["components"] if "properties" in each}, "markers are kept"
    before = file.read_bytes()
    lock.main(["sbom", str(tmp_path)])
    assert file.read_bytes() == before
    with pytest.raises(ValueError, match="one has no hash"):
        lock.read_lock("one==1.0\ntwo==2.0 \\\n    --hash=sha256:" + "0" * 64)


@contextmanager
def database(answer: Any) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
            body = json.dumps(answer(asked)).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_an_audit_says_what_is_known(lock: ModuleType, capsys: pytest.CaptureFixture[str]):
    def one(asked: list[Any]) -> Any:
        bad = [{"vulns": [{"id": "GHSA-1"}]} if "/numpy@" in each["package"]["purl"] else {} for each in asked]
        return {"results": bad}

    with database(one) as source:
        assert lock.main(["audit", "--source", source]) == 1
    said = capsys.readouterr().out
    assert "numpy" in said
    assert "GHSA-1" in said
    with database(lambda asked: {"results": [{} for _ in asked]}) as source:
        assert lock.main(["audit", "--source", source]) == 0
    with database(lambda asked: {"results": []}) as source:
        assert lock.main(["audit", "--source", source]) == 2
    capsys.readouterr()
    assert lock.main(["audit", "--source", "http://127.0.0.1:1/"]) == 2
    assert capsys.readouterr().out.startswith("not checked: ")


def commands(command: Any, path: str = "ragways") -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}")


def test_no_command_takes_a_secret_as_an_argument():
    found = list(commands(typer.main.get_command(app)))
    assert len(found) > 20
    for path, command in found:
        for parameter in command.params:
            names = {name.strip("-") for name in (*parameter.opts, *parameter.secondary_opts)}
            words = {word for name in names for word in name.split("-")}
            assert not words & SECRET, (
                f"{path} {sorted(names)}: every user of the machine can read it in the list of processes"
            )
