"""The real MCP client against the real server: the same tools, `ask` and articles as `ragways mcp` serves, by key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from ragways.core.errors import StoreFailed
from ragways.retrieval.tools.toolbox import TOOLS
from ragways.service.keys import Keys
from ragways.service.state import FILE, State
from ragways.service.work.mcp import protocol_server
from tests.service.conftest import RunningServer, serving


@asynccontextmanager
async def connected(url: str, key: str = "") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=180) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def said(result: Any) -> Any:
    return json.loads(result.content[0].text)


@pytest.mark.parametrize("place", ["/mcp", "/mcp/NAME"])
def test_tools_ask_and_articles(demo_server: RunningServer, demo_name: str, place: str):
    async def talk() -> None:
        async with connected(demo_server.url + place.replace("NAME", demo_name)) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == ["ask", *TOOLS]
            assert "fused" in tools[0].input_schema["properties"]["paradigm"]["enum"]
            question = {"question": "Who designed the Pell Rock Lighthouse?", "paradigm": "fused"}
            answer = said(await client.call_tool("ask", question))
            assert "Askeby" in answer["answer"]
            assert answer["citations"]
            found = said(await client.call_tool("title_search", {"title": "Pell Rock Lighthouse"}))
            assert found["articles"][0]["title"] == "Pell Rock Lighthouse"
            listed = await client.list_resources()
            [content] = (await client.read_resource(listed.resources[0].uri)).contents
            assert listed.resources[0].name in content.text  # type: ignore[union-attr]
            assert (await client.list_resource_templates()).resource_templates
            for uri in ("ragways://article/12", "file:///etc/passwd"):
                with pytest.raises(MCPError):
                    await client.read_resource(uri)
            wrong = await client.call_tool("ask", {"question": "x", "paradigm": "nothing"})
            assert wrong.is_error
            assert "nothing" in said(wrong)["error"]

    asyncio.run(talk())


@pytest.fixture(scope="module")
def guarded(lights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, Keys]]:
    data = tmp_path_factory.mktemp("mcp") / "data"
    keys = Keys(State(data / FILE))
    keys.add("first")
    with serving(data, "--index", str(lights), environment={"RAGWAYS_SERVE__WORKERS": "1"}) as server:
        yield server, keys


def test_a_key_opens_its_own_and_its_budget_holds(guarded: tuple[RunningServer, Keys], lights: Path):
    server, keys = guarded
    reader, stranger = keys.add("reader")[1], keys.add("stranger", tenant="other")[1]
    poor = keys.add("poor", budget=0.0)[1]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"Accept": "application/json, text/event-stream"}
    for key, place, status in (
        ("", "/mcp", 401),
        ("rgw_0_wrong", f"/mcp/{lights.name}", 401),
        (stranger, "/mcp", 400),
        (stranger, f"/mcp/{lights.name}", 404),
        (stranger, "/mcp/nothing", 404),
        (reader, "/mcp", 200),
    ):
        with server.with_key(key) if key else httpx2.Client(base_url=server.url) as client:
            reply = client.post(place, json=body, headers=headers)
        assert (reply.status_code, key and place) == (status, key and place), reply.text
        assert status == 200 or reply.json()["error"]["message"]

    async def talk() -> None:
        async with connected(f"{server.url}/mcp/{lights.name}", poor) as client:
            refused = await client.call_tool("ask", {"question": "Who?"})
            assert refused.is_error
            assert "budget" in said(refused)["error"]

    asyncio.run(talk())


def test_errors_are_told_without_the_servers_paths():
    async def answer(*_: object) -> Any:
        raise StoreFailed("cannot read /srv/data/secret/index.sqlite", "look at /srv/data")

    async def talk(trusted: bool) -> str:
        async with Client(protocol_server(answer, trusted=trusted)) as client:
            with pytest.raises(MCPError) as error:
                await client.list_resources()
            return f"{(await client.call_tool('ask', {})).content[0].text} {error.value}"  # type: ignore[union-attr]

    assert "/srv" not in asyncio.run(talk(False))
    assert "/srv/data/secret" in asyncio.run(talk(True))
