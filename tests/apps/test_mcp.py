"""The server, met by a real client over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anyio.from_thread import start_blocking_portal

pytest.importorskip("mcp")

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from ragways.apps.mcp import place_of, serve, server_of, token_of
from ragways.apps.server import listen
from ragways.core.errors import MissingPart, UsageError
from ragways.retrieval.ask import PARADIGMS
from ragways.retrieval.tools.toolbox import TOOLS, Toolbox
from ragways.settings import read_settings
from tests.fakes import write

TOKEN = "a-token-for-tests"
FILES = {
    "Harbour.md": "# Harbour\n\nThe harbour light was built by Anna Brack in 1801.\n",
    "Anna Brack.md": "# Anna Brack\n\nAnna Brack was an engineer from Tellmouth.\n",
    "Storm.md": "# Storm\n\nThe storm of 1883 destroyed the Harbour.\n",
}


@dataclass
class BuildContext:
    index: Path
    environment: dict[str, str]
    port: int = 0

    @property
    def arguments(self) -> list[str]:
        return ["-m", "ragways.apps.cli", "mcp", "--index", str(self.index)]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Iterator[BuildContext]:
    """An index of three documents, and a server over HTTP on it."""
    from ragways.assemble import recipe_of
    from ragways.index.build import build
    from ragways.layers.table import USUAL

    folder = tmp_path_factory.mktemp("mcp")
    settings = read_settings(environment={}, index=folder / "index", cache=cache_folder)
    asyncio.run(build(folder / "index", [write(folder / "docs", FILES)], recipe_of(settings, USUAL)))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    here = BuildContext(folder / "index", {"RAGWAYS_CACHE": str(cache_folder)}, port)
    command = [sys.executable, *here.arguments, "--http", str(port)]
    process = subprocess.Popen(
        command, env={**here.environment, "RAGWAYS_MCP__TOKEN": TOKEN}, stderr=subprocess.PIPE, cwd=folder
    )
    try:
        _wait(port)
        yield here
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _wait(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")


@asynccontextmanager
async def over_stdio(context: BuildContext) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(command=sys.executable, args=context.arguments, env=context.environment)
    async with Client(parameters) as client:
        yield client


@asynccontextmanager
async def over_http(context: BuildContext) -> AsyncIterator[Client]:
    url = f"http://127.0.0.1:{context.port}/mcp"
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


Talk = Callable[[Callable[[Client], Coroutine[Any, Any, None]]], None]


@pytest.fixture(scope="module", params=[over_stdio, over_http])
def talk(context: BuildContext, request: pytest.FixtureRequest) -> Iterator[Talk]:
    """Does what a client wants done. Each way has one client, and over stdio one server, for all tests."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(request.param(context)) as client:
        yield lambda work: portal.call(work, client)


def said(result: Any) -> Any:
    return json.loads(result.content[0].text)


def test_tools_and_articles_are_listed_and_read(talk: Talk):
    async def work(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["ask", *TOOLS]
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools)
        ways = tools[0].input_schema["properties"]["paradigm"]["enum"]
        assert "hybrid-words" in ways
        assert all(PARADIGMS[name].needs <= {"vectors", "words"} for name in ways)
        articles = (await client.list_resources()).resources
        assert sorted(article.name for article in articles) == ["Anna Brack", "Harbour", "Storm"]
        for article in articles:
            (content,) = (await client.read_resource(article.uri)).contents
            assert article.name in content.text  # type: ignore[union-attr]
        assert (await client.list_resource_templates()).resource_templates
        for uri in ("ragways://article/12", "ragways://article/../../etc/passwd", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)

    talk(work)


def test_tools_and_paradigms_are_called(talk: Talk):
    async def work(client: Client) -> None:
        found = await client.call_tool("title_search", {"title": "Harbor"})
        assert not found.is_error
        assert said(found)["articles"][0]["title"] == "Harbour"
        passages = said(await client.call_tool("chunk_search", {"query": "Who built the harbour light?"}))
        assert passages["sources"].keys() == {passage["id"] for passage in passages["paragraphs"]}
        assert "docs/Harbour.md, line 3" in passages["sources"].values()
        answer = said(await client.call_tool("ask", {"question": "Who built the harbour light?"}))
        assert "Anna Brack" in answer["answer"]
        assert answer["citations"]

    talk(work)


def test_bad_arguments_are_answered(talk: Talk):
    async def work(client: Client) -> None:
        wrong: list[tuple[str, dict[str, Any]]] = [
            ("title_search", {}),
            ("title_search", {"title": 1, "k": "many"}),
            ("article_text", {"article": "Harbur"}),
            ("calculator", {"expression": "9**9**9"}),
            ("ask", {}),
            ("ask", {"question": " "}),
            ("ask", {"question": "x", "paradigm": "naiv"}),
            ("no_such_tool", {}),
            ("title_search", {"title": "x" * 1_000_000}),
        ]
        for name, given in wrong:
            result = await client.call_tool(name, given)
            assert result.is_error
            assert said(result)["error"]
        assert not (await client.call_tool("calculator", {"expression": "1+1"})).is_error

    talk(work)


def test_a_cancelled_call_leaves_the_server_well(talk: Talk):
    async def work(client: Client) -> None:
        for _ in range(5):
            call = asyncio.create_task(client.call_tool("ask", {"question": "Who built the harbour light?"}))
            await asyncio.sleep(0.002)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        assert said(await client.call_tool("calculator", {"expression": "1+1"}))["value"] == "2"

    talk(work)


def test_fifty_calls_at_once(talk: Talk):
    async def work(client: Client) -> None:
        calls = [client.call_tool("calculator", {"expression": f"{n} * 2"}) for n in range(40)]
        calls += [client.call_tool("chunk_search", {"query": f"storm {n}"}) for n in range(10)]
        results = await asyncio.gather(*calls)
        assert [said(result)["value"] for result in results[:40]] == [str(2 * n) for n in range(40)]
        assert all(said(result)["paragraphs"] for result in results[40:])

    talk(work)


def test_cancellation_reaches_the_tool(context: BuildContext, monkeypatch: pytest.MonkeyPatch, cache_folder: Path):
    from ragways.assemble import opened_live

    began, ended = asyncio.Event(), asyncio.Event()

    async def slow(self: Toolbox, name: str, arguments: Any, **_: Any) -> Any:
        began.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    monkeypatch.setattr(Toolbox, "run", slow)

    async def run() -> None:
        settings = read_settings(environment={}, index=context.index, cache=cache_folder)
        async with opened_live(settings) as live, Client(server_of(live, settings)) as client:
            call = asyncio.create_task(client.call_tool("title_search", {"title": "x"}))
            await asyncio.wait_for(began.wait(), 10)
            call.cancel()
            await asyncio.wait_for(ended.wait(), 10)

    asyncio.run(run())


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}])
def test_http_wants_the_token(context: BuildContext, headers: dict[str, str]):
    for path in ("/mcp", "/", "/other"):
        reply = httpx2.post(f"http://127.0.0.1:{context.port}{path}", headers=headers, json={})
        assert reply.status_code == 401


def test_another_host_name_is_refused(context: BuildContext):
    """A page in a browser that rebinds its name to this machine does not get through."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example", "Accept": "application/json"}
    reply = httpx2.post(f"http://127.0.0.1:{context.port}/mcp", headers=headers, json={})
    assert reply.status_code in (400, 403, 421)


def test_it_listens_on_this_machine_alone_unless_told_otherwise():
    assert place_of("8765") == ("127.0.0.1", 8765)
    assert place_of("0.0.0.0:80") == ("0.0.0.0", 80)
    assert place_of("[::1]:80") == ("::1", 80)
    for wrong in ("", "host", "host:", "host:99999", "host:0", "host:x", "1:-1"):
        with pytest.raises(UsageError):
            place_of(wrong)


def test_a_place_that_is_taken_is_one_line(context: BuildContext):
    with pytest.raises(UsageError, match="cannot listen"):
        listen("127.0.0.1", context.port)


def test_a_token_is_made_up_and_shown_once(capsys: pytest.CaptureFixture[str]):
    settings = read_settings(environment={})
    made = token_of(settings)
    assert len(made) > 30
    assert capsys.readouterr().err == f"ragways: token: {made}\n"
    assert token_of(read_settings(environment={"RAGWAYS_MCP__TOKEN": "given-by-hand"})) == "given-by-hand"
    with pytest.raises(UsageError, match=r"mcp\.token is shorter"):
        token_of(read_settings(environment={"RAGWAYS_MCP__TOKEN": "short"}))


def test_a_missing_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.apps.mcp.find_spec", lambda name: None)
    with pytest.raises(MissingPart, match=r"pip install 'ragways\[mcp\]'"):
        serve(read_settings(environment={}))


def test_a_filter_of_the_server_and_one_of_a_question_both_hold(context: BuildContext):
    from ragways.assemble import opened_live

    settings = read_settings(environment={}, index=context.index)

    async def run() -> None:
        async with opened_live(settings) as live, Client(server_of(live, settings, None, 'not path~"Brack"')) as client:
            found = said(await client.call_tool("chunk_search", {"query": "Who was Anna Brack, the engineer?"}))
            assert "Tellmouth" not in json.dumps(found)
            listed = [resource.name for resource in (await client.list_resources()).resources]
            assert sorted(listed) == ["Harbour", "Storm"]
            question = {"question": "Who built the harbour light?"}
            answer = said(await client.call_tool("ask", question))
            assert {each["title"] for each in answer["evidence"]} == {"Harbour", "Storm"}
            answer = said(await client.call_tool("ask", {**question, "where": "path~Storm"}))
            assert {each["title"] for each in answer["evidence"]} == {"Storm"}
            answer = said(await client.call_tool("ask", {**question, "where": "path~Brack"}))
            assert answer["abstained"]
            assert "No document matches" in answer["explanation"]
            wrong = await client.call_tool("ask", {**question, "where": "path~"})
            assert wrong.is_error

    asyncio.run(run())


def test_a_filter_that_cannot_be_read_ends_the_server_at_once(context: BuildContext):
    with pytest.raises(UsageError, match="a value should stand here"):
        serve(read_settings(environment={}, index=context.index), where="path~")
