"""A client of OpenAI's API or of MCP that hangs up cancels the calls of a model that were made for it."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.conftest import RunningServer, serving

CHAT = {"messages": [{"role": "user", "content": "Who designed the Pell Rock Lighthouse?"}]}
TOOL = {"name": "ask", "arguments": {"question": "Who designed the Pell Rock Lighthouse?", "paradigm": "words"}}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": TOOL}


class SilentModel:
    """An endpoint that takes requests and never answers."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/v1"
        self.asked: list[socket.socket] = []
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        while True:
            try:
                self.asked.append(self.socket.accept()[0])
            except OSError:
                return

    def hung_up(self, number: int) -> bool:
        """Wait until whoever made this request has gone."""
        self.asked[number].settimeout(60)
        while self.asked[number].recv(65536):
            pass
        return True


@pytest.fixture(scope="module")
def silent() -> Iterator[SilentModel]:
    model = SilentModel()
    yield model
    model.socket.close()
    for each in model.asked:
        each.close()


@pytest.fixture(scope="module")
def server(lights: Path, silent: SilentModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    environment = {
        "RAGWAYS_MODEL__NAME": "silent", "RAGWAYS_MODEL__BASE_URL": silent.url, "RAGWAYS_SERVE__WORKERS": "1",
    }  # fmt: skip
    data: Path = tmp_path_factory.mktemp("hang-up") / "data"
    with serving(data, "--index", str(lights), environment=environment) as running:
        yield running


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", CHAT),
        ("/v1/chat/completions", {**CHAT, "stream": True}),
        ("/mcp", CALL),
    ],
    ids=["chat", "streamed chat", "mcp"],
)
def test_its_model_is_not_waited_for(
    server: RunningServer, silent: SilentModel, lights: Path, path: str, body: dict[str, object]
):
    before = len(silent.asked)
    text = json.dumps(body | ({"model": f"{lights.name}/words"} if path != "/mcp" else {})).encode()
    host, port = server.url.removeprefix("http://").split(":")
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(text)}\r\n\r\n"
    )
    with socket.create_connection((host, int(port))) as client:
        client.sendall(head.encode() + text)
        until = time.monotonic() + 300
        while len(silent.asked) == before:
            assert time.monotonic() < until, server.log.read_text()
            time.sleep(0.02)
    assert silent.hung_up(before)
