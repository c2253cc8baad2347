"""How long a reply is waited for: to begin, between two tokens, and in all; through real HTTP with a slow server."""

from __future__ import annotations

import asyncio
import time

import pytest

from ragways.assemble import client_of
from ragways.core.errors import ModelUnavailable
from ragways.models.call import Call, Message, Reply
from ragways.models.embed import EndpointEmbedder
from ragways.models.endpoint import Endpoint
from ragways.models.limits import Traffic, TryAgain
from ragways.settings import Settings
from ragways.testing import Fault, LoopbackServer
from ragways.testing.replies import PIECE
from tests.models.model_fakes import Heard

WORDS = "The keeper lights the lamp at dusk and puts it out when the sun comes up over the bay. "
CALL = Call((Message("user", "?"),))
SLOW = 0.05
WAIT = 0.5


def sent(server: LoopbackServer, heard: Heard | None = None, **timeouts: float) -> Reply:
    """One try."""

    async def main() -> Reply:
        endpoint = Endpoint(server.base_url, None, "m", **timeouts)  # type: ignore[arg-type]
        try:
            return await (endpoint.stream(CALL, heard) if heard else endpoint.send(CALL))
        finally:
            await endpoint.aclose()

    return asyncio.run(main())


def dripping(text: str) -> LoopbackServer:
    return LoopbackServer(lambda _: text, faults=[Fault("dripping", seconds=SLOW)])


def test_a_stream_that_flows_takes_longer_than_the_timeout_and_is_sent_once():
    heard, began = Heard(), time.monotonic()
    with dripping(WORDS * 9) as server:
        reply = sent(server, heard, timeout=1.5)
    assert time.monotonic() - began > 1.5
    assert reply.text == heard.text == WORDS * 9
    assert (server.count, heard.restarts) == (1, 1)


def test_a_stream_that_stops_in_its_middle_is_tried_again():
    async def before_event(event: bytes) -> None:
        events.append(event)
        await asyncio.sleep(5 if len(events) == 4 else 0)

    events: list[bytes] = []
    heard = Heard()
    with (
        LoopbackServer(lambda _: WORDS, before_event=before_event) as server,
        pytest.raises(TryAgain, match=r"nothing came for 0\.5 s, the setting `model\.timeout`") as caught,
    ):
        sent(server, heard, timeout=WAIT)
    assert caught.value.lost, "what was written may be billed"
    assert heard.text == WORDS[: 3 * PIECE]


def test_comments_are_no_tokens():
    with (
        LoopbackServer(faults=[Fault("silent", seconds=0.02)]) as server,
        pytest.raises(TryAgain, match=r"`model\.timeout`"),
    ):
        sent(server, Heard(), timeout=WAIT)


def test_the_whole_is_bounded_by_a_setting_of_its_own():
    async def main() -> None:
        model = {"base_url": server.base_url, "name": "m", "timeout": WAIT, "total_timeout": 0.8, "patience": 0.2}
        async with client_of(Settings.model_validate({"model": model})) as client:
            await client.complete(CALL)

    with (
        dripping(WORDS * 30) as server,
        pytest.raises(ModelUnavailable, match=r"0\.8 s, the setting `model\.total_timeout`"),
    ):
        asyncio.run(main())
    assert server.count == 1, "that long a reply has used the patience up"


def test_a_reply_in_one_piece_may_drip():
    with dripping(WORDS * 10) as server:
        assert sent(server, timeout=WAIT).text == WORDS * 10
        with pytest.raises(TryAgain, match=r"`model\.total_timeout`"):
            sent(server, timeout=WAIT, total_timeout=0.6)


def test_the_timeout_of_the_embedder_bounds_the_whole():
    async def main() -> None:
        brief = Traffic(patience=0.1)
        embedder = EndpointEmbedder(server.base_url, None, "e", dimension=256, timeout=WAIT, traffic=brief)
        try:
            await embedder.embed(["a text"])
        finally:
            await embedder.aclose()

    with (
        LoopbackServer(dimension=256, faults=[Fault("dripping", seconds=SLOW)]) as server,
        pytest.raises(ModelUnavailable, match=r"no answer within 0\.5 s"),
    ):
        asyncio.run(main())
