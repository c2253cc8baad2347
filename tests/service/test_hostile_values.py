"""Hostile values in every field of the real routes: no server error, nothing out of its folder, no line in a log."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI

from ragways.service.app import make_app
from ragways.service.config import ServiceConfig
from ragways.settings import read_settings
from tests.service.gated import Reply, ask
from tests.service.test_canary import OURS, indexed

NASTY = (
    "\ud800", "\x00", "a\x00b", "\r\nX-Evil: 1", "../../../etc/passwd", "..\\..\\x", "/etc/passwd", "%2e%2e%2f",
    "~root", "' OR 1=1 --", '"; DROP TABLE keys; --', "{{7*7}}", "${jndi:ldap://x}", "{0.__class__}", "%s%s%n",
    "<script>x</script>", "\u202etxt.exe", "\ufeff", "A\u0300" * 50, "🦆" * 40, "x" * 5000, "CON", "nul.txt",
    "a" * 300 + "/b", ".", "..", "-rf", "\u2028{\"action\": \"key.add\"}", "naive[k=1]" * 50, "date>" * 200, "(" * 500,
    "*" * 300, "[" * 900,
)  # fmt: skip
BODIES = (
    b"", b"{", b"null", b"[]", b"1", b'"x"', b"{}" * 100, b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe{}", b"\x00",
    b'{"question": NaN}', b'{"question": "x", "budget": NaN}', b'{"question": "x", "budget": 1e400}',
    b'{"question": "x", "budget": -0.1}', b'{"question": "x", "question": "y", "__proto__": {}}',
    b'{"question": "x", "settings": {"k": 1e308}}', b'{"question": "x", "settings": {"k": -1}}',
    b'{"question": "x", "settings": {"k": ' + b"9" * 5000 + b"}}",
    b'{"question": "x", "settings": {"k": 100000000000000000000}}',
    b'{"question": "\\ud800", "paradigm": "words"}', b"\xef\xbb\xbf{}", b'{"kind": "index", "layers": ["../x"]}',
)  # fmt: skip
HERE = "/api/v1/collections/shared"


@asynccontextmanager
async def server(folder: Path, cache: Path) -> AsyncIterator[FastAPI]:
    settings = read_settings(environment={}, cache=cache)
    app = make_app(ServiceConfig(folder / "data", settings, workers=1, jobs=0))
    await indexed(app.state.service, "main", "shared", OURS, {"words", "graph"})
    async with app.router.lifespan_context(app):
        yield app


def requests(value: str) -> list[tuple[str, str, Any]]:
    inside = quote(value.encode("utf-8", "surrogatepass"), safe="")
    return [
        ("POST", f"{HERE}/ask", {"question": value, "paradigm": "words"}),
        ("POST", f"{HERE}/ask", {"question": "x?", "paradigm": value}),
        ("POST", f"{HERE}/ask", {"question": "x?", "paradigm": "words", "where": value}),
        ("POST", f"{HERE}/ask", {"question": "x?", "paradigm": "words", "settings": {value: value}}),
        ("POST", f"{HERE}/ask", {"question": "x?", "paradigm": "words", "conversation": value}),
        ("POST", f"{HERE}/route", {"question": value}),
        ("POST", f"{HERE}/compare", {"question": "x?", "paradigms": [value]}),
        ("POST", f"{HERE}/feedback", {"question": value, "answer": value, "verdict": "good", "evidence": [value]}),
        ("POST", f"{HERE}/jobs", {"kind": "questions", "name": value}),
        ("POST", f"{HERE}/jobs", {"kind": "evaluate", "questions": "feedback", "paradigms": [value]}),
        ("POST", f"{HERE}/jobs", {"kind": "index", "layers": [value]}),
        ("POST", "/api/v1/collections", {"name": value}),
        ("POST", "/api/v1/collections", {"name": "fine", value: value}),
        ("POST", "/v1/chat/completions", {"model": value, "messages": [{"role": "user", "content": "x"}]}),
        ("POST", "/v1/chat/completions", {"model": "shared/words", "messages": [{"role": "user", "content": value}]}),
        ("POST", "/v1/embeddings", {"model": "shared/embedder", "input": value}),
        ("PUT", f"{HERE}/files/{inside}", b"x"),
        *(("GET", f"{HERE}/{path}", None) for path in (
            f"files/{inside}", f"files?search={inside}", f"documents/{inside}", f"documents?search={inside}",
            f"evidence/{inside}", f"entities?search={inside}", f"entities/{inside}/neighbourhood",
            f"paths?start={inside}&end={inside}", f"questions/{inside}", f"runs/{inside}/report.html",
            f"conversations/{inside}", f"communities/{inside}", f"files?offset={inside}&limit={inside}",
        )),
        ("GET", f"/api/v1/jobs/{inside}", None), ("GET", f"/v1/models/{inside}", None),
        ("GET", f"/assets/1/{inside}", None), ("GET", f"/{inside}", None), ("DELETE", f"{HERE}/runs/{inside}", None),
    ]  # fmt: skip


async def sent(app: FastAPI, method: str, path: str, body: Any) -> Reply:
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return await ask(app, method, path, {"Content-Type": "application/json"}, data)


def listed(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if "collections" not in path.parts and not path.name.startswith("index")}


def test_no_value_of_any_field_breaks_the_server_or_leaves_its_folder(
    tmp_path: Path, cache_folder: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "ragways.service")

    async def main() -> list[str]:
        found = []
        async with server(tmp_path, cache_folder) as app:
            before = listed(tmp_path)
            for value in NASTY:
                for method, path, body in requests(value):
                    reply = await sent(app, method, path, body)
                    text = reply.body.decode("utf-8", "replace") + str(reply.headers)
                    told = any(word in text for word in (str(tmp_path), "root:x:", "Traceback", "sqlite"))
                    if reply.status not in (501, *range(200, 500)) or told or "x-evil" in reply.headers:
                        found.append(f"{method} {path[:80]} {str(body)[:80]!r}: {reply.status} {text[:300]}")
            new = {path for path in listed(tmp_path) - before if path.suffix not in (".sqlite-wal", ".sqlite-shm")}
            assert not new
            assert app.state.service.audit.problems() == []
            assert not [row for row in app.state.service.audit.lines() if row["action"] == "key.add"]
        return found

    assert asyncio.run(main()) == []
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert not [record for record in caplog.records if "\n" in record.getMessage()]


def test_no_body_breaks_the_server(tmp_path: Path, cache_folder: Path):
    async def main() -> list[str]:
        found = []
        async with server(tmp_path, cache_folder) as app:
            for body in BODIES:
                for path in ("ask", "compare", "jobs", "feedback", "walk"):
                    reply = await sent(app, "POST", f"{HERE}/{path}", body)
                    if not 200 <= reply.status < 500:
                        found.append(f"{path} {body[:60]!r}: {reply.status} {reply.body[:200]!r}")
        return found

    assert asyncio.run(main()) == []
