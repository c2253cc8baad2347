"""What a client is told of an error: enough to act on, and nothing of the server's disk, settings or other callers."""

from __future__ import annotations

import asyncio

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import BaseModel

from ragways.core import errors
from ragways.core.errors import RagwaysError
from ragways.service.errors import Full, TooMany, from_ragways, handle_errors, without_paths

SECRET = "/srv/ragways data/collections/1f2e/index/index.sqlite"
ALL = [
    kind for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, RagwaysError) and kind is not RagwaysError
]  # fmt: skip


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_no_error_tells_a_path_and_each_has_its_place(kind: type[RagwaysError]):
    shown = from_ragways(kind(f"cannot read {SECRET}: it is damaged", cure=f"look at '{SECRET}'"))
    assert 400 <= shown.status < 600
    assert shown.code
    said = str(shown.body("r1"))
    assert not any(part in said for part in ("srv", "data", "1f2e", "sqlite"))
    assert "r1" in said


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.UsageError("no"), 400), (errors.NoIndex("no"), 409), (errors.MissingLayer("no"), 409),
        (errors.StoreBusy("no"), 503), (errors.StoreFailed("no"), 503), (errors.ModelUnavailable("no"), 502),
        (errors.NoModel("no"), 501), (errors.BudgetExceeded("no"), 402), (errors.NoText("no"), 422),
        (errors.ToolError("no"), 404), (RagwaysError("no"), 500),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_the_status_follows_from_the_kind(error: RagwaysError, status: int):
    assert from_ragways(error).status == status


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot write /a/b c/d.txt: full", "cannot write …: full"),
        ("the setting k must be 3 and/or 4", "the setting k must be 3 and/or 4"),
        ('see "~/x/y" now', 'see "…" now'),
        (r"in C:\Users\me\x: no", "in …: no"),
        ("../up/x is not there", "… is not there"),
        ("no document docs/a.md", "no document docs/a.md"),
        ("x" * 900, "x" * 500),
    ],
)
def test_paths_are_taken_out_of_sentences(text: str, shown: str):
    assert without_paths(text) == shown


def test_what_is_busy_says_when_to_come_again():
    assert Full(retry_after=2.2).headers["Retry-After"] == "3"
    assert TooMany("no", retry_after=0).headers["Retry-After"] == "1"
    assert from_ragways(errors.StoreBusy("x")).headers["Retry-After"] == "1"


class Asked(BaseModel):
    number: int


def app() -> FastAPI:
    made = FastAPI()

    @made.get("/api/v1/usage")
    @made.get("/v1/usage")
    async def usage() -> None:
        raise errors.UsageError("no such way in /srv/x", "ask naive")

    @made.post("/api/v1/check")
    async def check(asked: Asked) -> None: ...

    @made.get("/api/v1/full")
    async def full() -> None:
        raise Full

    handle_errors(made)
    return made


async def _ask(method: str, path: str, body: object):
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app()), base_url="http://x") as client:
        return await client.request(method, path, json=body)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/api/v1/usage", None, 400, "usage"), ("GET", "/v1/usage", None, 400, "usage"),
        ("GET", "/nowhere", None, 404, "not_found"), ("PUT", "/api/v1/usage", None, 405, "method"),
        ("POST", "/api/v1/check", {"number": "SECRET words"}, 422, "invalid"),
        ("GET", "/api/v1/full", None, 503, "full"),
    ],
)  # fmt: skip
def test_routes_answer_in_one_shape(method: str, path: str, body: object, status: int, code: str):
    response = asyncio.run(_ask(method, path, body))
    shown = response.json()["error"]
    assert (response.status_code, shown["code"]) == (status, code)
    assert set(shown) == (
        {"message", "type", "code", "param"} if path.startswith("/v1/") else {"id", "code", "message", "cure"}
    )
    assert not any(part in response.text for part in ("srv", "SECRET", "Traceback"))
    if status == 503:
        assert response.headers["retry-after"] == "1"
