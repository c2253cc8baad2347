"""A reply's text as it is written: through real HTTP, with the faults of a stream."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from ragways.core.stream import OnText
from ragways.core.trace import span
from ragways.models.call import Call, Message, Reply
from ragways.models.client import ModelClient
from ragways.models.endpoint import Endpoint
from ragways.models.limits import Traffic
from ragways.testing import Fault, LoopbackServer, ScriptedModel
from tests.models.model_fakes import ABOUT, GOOD, NOTE, WORD, FakeTime, Heard, MemoryCache, Note, Word

TEXT = json.dumps({"text": "The tide rises twice a day — ünd ☂.", "pages": [1, 2]}, ensure_ascii=False)
WANTED = Note("The tide rises twice a day — ünd ☂.", (1, 2))


def done(
    server: LoopbackServer, heard: OnText | None, *, task=NOTE, given=ABOUT, cache: MemoryCache | None = None, **options
):
    async def main():
        endpoint = Endpoint(server.base_url, None, "loopback")
        async with ModelClient(endpoint, cache=cache, traffic=Traffic(time=FakeTime().time), **options) as client:
            with span("root") as root:
                return await client.do(task, given, on_text=heard), root.children[0]

    return asyncio.run(main())


def test_text_comes_in_pieces_and_is_whole_at_the_end():
    heard = Heard()
    with LoopbackServer(lambda _: TEXT) as server:
        outcome, here = done(server, heard)
    assert outcome.value == WANTED
    assert outcome.way == "model loopback"
    assert heard.text == TEXT
    assert len(heard.pieces) > 3
    assert heard.pieces[0][1], "the first piece begins the text"
    assert heard.restarts == 1
    body = server.requests[0].body
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    assert here.total.calls == 1


def test_json_is_streamed_only_when_somebody_listens_and_plain_text_always():
    with LoopbackServer(lambda _: TEXT) as server:
        assert done(server, None)[0].value == WANTED
        assert done(server, None, task=WORD, given=Word("tide"))[0].value == TEXT
    assert ["stream" in seen.body for seen in server.requests] == [False, True]


def test_pieces_arrive_while_the_rest_is_still_written():
    times: list[float] = []
    with LoopbackServer(lambda _: TEXT, faults=[Fault("dripping", seconds=0.05)]) as server:
        done(server, lambda text, *, restart=False: times.append(time.monotonic()))
        ended = time.monotonic()
    assert len(times) > 3
    assert ended - times[0] > 0.05 * (len(times) - 1) / 2, "the first piece came long before the last"


def test_an_endpoint_that_ignores_the_wish_gives_its_text_at_once():
    heard = Heard()
    with LoopbackServer(lambda _: TEXT, streams=False) as server:
        assert done(server, heard)[0].value == WANTED
    assert heard.pieces == [(TEXT, True)]


@pytest.mark.parametrize(
    ("refuses", "streamed", "usage"), [(("stream_options",), True, "estimated"), (("stream",), False, None)]
)
def test_an_endpoint_that_knows_no_streams_gets_a_simpler_request(refuses, streamed, usage):
    heard = Heard()
    with LoopbackServer(lambda _: TEXT, refuses=refuses) as server:
        outcome, here = done(server, heard)
    assert outcome.value == WANTED
    assert heard.text == TEXT
    assert (len(heard.pieces) > 1) is streamed
    assert here.children[0].details.get("usage") == usage


@pytest.mark.parametrize("kind", ["cut", "down"])
def test_faults_are_tried_again_and_the_text_begins_anew(kind):
    heard = Heard()
    with LoopbackServer(lambda _: TEXT, faults=[Fault(kind, requests=1)]) as server:
        outcome, here = done(server, heard)
    assert outcome.value == WANTED
    assert heard.text == TEXT
    assert here.children[0].details["tries"] == 2
    assert heard.restarts == (2 if kind == "cut" else 1), "only a cut stream had begun to speak"


def test_a_cached_reply_comes_in_one_piece():
    cache, heard = MemoryCache(), Heard()
    with LoopbackServer(lambda _: TEXT) as server:
        done(server, Heard(), cache=cache)
        outcome, _ = done(server, heard, cache=cache)
    assert outcome.way == "model loopback (cached)"
    assert heard.pieces == [(TEXT, True)]
    assert server.count == 1


def test_an_unusable_reply_is_requested_again_and_the_text_begins_anew():
    heard = Heard()
    with ScriptedModel(["I cannot.", GOOD]) as model:
        asyncio.run(ModelClient(model).do(NOTE, ABOUT, on_text=heard))
    assert heard.pieces == [("I cannot.", True), (json.dumps(GOOD), True)], "a model without streams speaks at once"


def stream(server: LoopbackServer, heard: OnText) -> Reply:
    async def main() -> Reply:
        endpoint = Endpoint(server.base_url, None, "loopback")
        try:
            return await endpoint.stream(Call((Message("user", "?"),)), heard)
        finally:
            await endpoint.aclose()

    return asyncio.run(main())


def test_tool_calls_come_through_a_stream():
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "tide"}'}}
    with LoopbackServer(lambda _: {"role": "assistant", "content": None, "tool_calls": [call]}) as server:
        reply = stream(server, Heard())
    assert [(c.id, c.name, c.arguments) for c in reply.tool_calls] == [("c1", "search", '{"query": "tide"}')]
    assert reply.finish == "tool_calls"
