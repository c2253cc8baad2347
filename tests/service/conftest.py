"""A real server in a process of its own, on the bundled corpus, and a client for it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

import ragways
from ragways.settings import Settings, read_settings
from tests.retrieval.conftest import demo_settings  # noqa: F401 - a fixture
from tests.service.pages import page_browser  # noqa: F401 - a fixture

STARTED = re.compile(r"serving (http://\S+?)/ ")


class RunningServer:
    """`ragways serve` as a user starts it. `client` has no key unless one is given."""

    def __init__(self, process: subprocess.Popen[str], url: str, log: Path) -> None:
        self.process = process
        self.url = url
        self.log = log
        self.client = httpx2.Client(base_url=url, timeout=180)

    def with_key(self, key: str) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, timeout=180, headers={"Authorization": f"Bearer {key}"})

    def events(self, path: str, body: object = None, **options: Any) -> Iterator[tuple[str, Any]]:
        """Events of a stream, as they come."""
        method = "GET" if body is None else "POST"
        with self.client.stream(method, path, json=body, **options) as reply:
            assert reply.status_code == 200, reply.read()
            name = ""
            for line in reply.iter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    yield name, json.loads(line[6:])

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.client.close()
        return self.process.wait(timeout=180)


@contextmanager
def serving(
    data: Path, *arguments: str, cache: Path | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[RunningServer]:
    """A server on a free port, until the end of the block."""
    data.parent.mkdir(parents=True, exist_ok=True)
    log = data.parent / f"{data.name}.log"
    one = {"RAGWAYS_SERVE__WORKERS": "1"}  # a worker takes a second or two to start; whoever needs more says so
    given = {**os.environ, **one, **({"RAGWAYS_CACHE": str(cache)} if cache else {}), **(environment or {})}
    with log.open("a") as out:
        began = out.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "ragways", "serve", "--data", str(data), "--port", "0", *arguments],
            stdout=out, stderr=out, text=True, env=given, cwd=data.parent,
        )  # fmt: skip
    server = None
    try:
        until = time.monotonic() + 180
        while (match := STARTED.search(log.read_text()[began:])) is None:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.02)
        server = RunningServer(process, match[1], log)
        while not _answers(server):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.02)
        yield server
    finally:
        if server is not None:
            server.stop()
        elif process.poll() is None:
            process.kill()


def _answers(server: RunningServer) -> bool:
    try:
        server.client.get("/healthz")
    except httpx2.TransportError:
        return False
    return True


@pytest.fixture(scope="session")
def demo_server(demo_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:  # noqa: F811
    """The bundled corpus with every layer, served read-only as a collection; no keys."""
    data, two = tmp_path_factory.mktemp("serve") / "data", {"RAGWAYS_SERVE__WORKERS": "2"}
    with serving(data, "--index", str(demo_settings.index), environment=two) as server:
        yield server


@pytest.fixture(scope="session")
def demo_name(demo_settings: Settings) -> str:  # noqa: F811
    """The name of the collection of the bundled corpus: that of its folder."""
    return demo_settings.index.name


Serve = Callable[..., Any]


@pytest.fixture
def serve() -> Serve:
    """Start servers of one's own: `with serve(folder, "--index", …) as server`."""
    return serving


@pytest.fixture(scope="session")
def lights(demo_corpus: Path, cache_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of two documents of the bundled corpus by words alone: a server of it starts without an embedder."""
    index = tmp_path_factory.mktemp("words") / "lights"
    names = ("Pell_Rock_Lighthouse.wiki", "Jorun_Askeby.wiki")
    settings = read_settings(environment={}, cache=cache_folder)
    ragways.build(
        [demo_corpus / "corpus" / "wiki" / name for name in names], index, layers=("words",), settings=settings
    )
    return index
