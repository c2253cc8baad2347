"""What `check_endpoint` finds at endpoints of every kind, each played by the loopback server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ragways.models.check import EndpointReport, check_endpoint
from ragways.models.dialect import Dialect, DialectMemory
from ragways.models.endpoint import Endpoint
from ragways.models.tokens import Price, Prices
from ragways.testing.replies import Fault
from ragways.testing.server import LoopbackServer

JSON = {"JSON by schema", "JSON by a tool", "JSON of any shape", "JSON by the prompt"}
ALL = {"plain text", *JSON, "tools", "streaming", "usage reported"}
CALL = {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": '{"country": "France"}'}}
Body = Mapping[str, object]


def capable(body: Body) -> object:
    """A model that does what it is asked."""
    messages = body["messages"]
    assert isinstance(messages, list)
    if "tools" in body and "tool_choice" not in body:
        return {"role": "assistant", "content": "", "tool_calls": [CALL]}
    said = " ".join(str(message["content"]) for message in messages)
    return json.dumps({"capital": "Paris"}) if "JSON" in said else "one two three four five six seven eight"


def talkative(_: Body) -> str:
    return "The capital of France is Paris, a city on the Seine."


def thinking(body: Body) -> object:
    usage = {"prompt_tokens": 10, "completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": 40}}
    message = capable(body)
    message = message if isinstance(message, dict) else {"role": "assistant", "content": message}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def checked(server: LoopbackServer, memory: DialectMemory | None = None, key: str | None = None) -> EndpointReport:
    async def main() -> EndpointReport:
        endpoint = Endpoint(server.base_url, key, "m", memory=memory)
        try:
            return await check_endpoint(endpoint, prices=Prices({"m": Price(1.0, 10.0)}))
        finally:
            await endpoint.aclose()

    return asyncio.run(main())


def works(report: EndpointReport) -> set[str]:
    return {probe.name for probe in report.probes if probe.works}


@pytest.mark.parametrize(
    ("server", "lacking", "dialect"),
    [
        (LoopbackServer(capable), set(), Dialect()),
        (LoopbackServer(talkative, forms=(), refuses=("tools",)), {*JSON, "tools"}, Dialect(form="plain")),
        (LoopbackServer(talkative), {*JSON, "tools"}, Dialect(form="plain")),
        (
            LoopbackServer(capable, forms=("json_object",), refuses=("tools",)),
            {"JSON by schema", "JSON by a tool", "tools"},
            Dialect(form="json_object"),
        ),
        (LoopbackServer(capable, forms=()), {"JSON by schema", "JSON of any shape"}, Dialect(form="tool")),
        (LoopbackServer(capable, streams=False), {"streaming"}, Dialect()),
        (LoopbackServer(capable, refuses=["stream"]), {"streaming"}, Dialect(stream="no")),
        (LoopbackServer(capable, refuses=["temperature"]), set(), Dialect(temperature=False)),
        (LoopbackServer(capable, refuses=["max_tokens"]), set(), Dialect(limit="max_completion_tokens")),
        (LoopbackServer(capable, faults=[Fault("no-usage")]), {"usage reported"}, Dialect()),
    ],
    ids=[
        "perfect", "plain text only", "says yes to all and obeys nothing", "json_object only", "tools only",
        "ignores streams", "refuses streams", "refuses temperature", "wants max_completion_tokens", "counts nothing",
    ],
)  # fmt: skip
def test_what_works_and_what_is_remembered(server: LoopbackServer, lacking: set[str], dialect: Dialect, tmp_path: Path):
    memory = DialectMemory(tmp_path)
    with server:
        report = checked(server, memory)
        remembered = memory.get(server.base_url, "m")
    assert works(report) == ALL - lacking
    assert report.answers
    assert (report.dialect, remembered) == (dialect, dialect)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('<tool_call>{"name": "reply", "arguments": {"capital": "Paris"}}</tool_call>', "wrote a tool call as text"),
        ('{"city": "Paris"}', 'JSON of another shape: {"city": "Paris"}'),
    ],
)
def test_json_in_place_of_a_tool_call_is_reported_as_what_it_is(text: str, note: str):
    def writes(body: Body) -> object:
        return text if "tool_choice" in body else "I looked France up." if "tools" in body else capable(body)

    with LoopbackServer(writes) as server:
        notes = {probe.name: (probe.works, probe.note) for probe in checked(server).probes}
    assert notes["JSON by a tool"][0] is False
    assert note in notes["JSON by a tool"][1]
    assert notes["tools"] == (False, "no tool was called, the model wrote: I looked France up.")


def test_reasoning_is_counted_and_priced():
    with LoopbackServer(thinking) as server:
        report = checked(server)
    calls = sum("messages" in seen.body for seen in server.requests)
    assert (report.usage.calls, report.usage.output, report.usage.reasoning) == (calls, 50 * calls, 40 * calls)
    assert report.usd == pytest.approx(calls * (10 * 1.0 + 50 * 10.0) / 1_000_000)


def test_a_web_page_gets_one_request(tmp_path: Path):
    memory = DialectMemory(tmp_path)
    with LoopbackServer(faults=[Fault("page")]) as server:
        report = checked(server, memory)
        assert memory.get(server.base_url, "m") is None
    assert not report.answers
    assert [probe.name for probe in report.probes] == ["plain text"]
    assert "/v1" in report.probes[0].note
    assert server.count == 1
