import asyncio
from dataclasses import replace

import numpy as np
import pytest

from ragways.core.errors import BudgetExceeded, ModelError, ModelRefused, ModelUnavailable, UnusableReply
from ragways.core.trace import Budget, Usage, span, spending
from ragways.models.embed import Embedder, EndpointEmbedder
from ragways.models.limits import Time, Traffic
from ragways.models.tokens import Price, Prices
from ragways.testing.replies import Fault, vector
from ragways.testing.server import LoopbackServer


async def soon(seconds):
    await asyncio.sleep(min(seconds, 0.01))


def embed(server, texts, tries=100, **settings):
    async def main():
        traffic = Traffic(tries=tries, time=replace(Time(), sleep=soon))
        embedder = EndpointEmbedder(
            server.base_url, None, "loopback", **{"dimension": 8, "traffic": traffic, **settings}
        )
        try:
            return await embedder.embed(texts)
        finally:
            await embedder.aclose()

    return asyncio.run(main())


def test_vectors_in_order_and_of_length_1():
    texts = [f"text {at}" for at in range(150)] + [""]
    with LoopbackServer() as server, span("root") as root, spending() as meter:
        rows = embed(server, texts)
    wanted = np.array([vector(text or " ", 8) for text in texts], dtype=np.float32)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, wanted, rtol=1e-5)
    assert server.count == 3
    assert root.total == meter.spent
    assert meter.spent.calls == 3
    assert root.children[0].children[0].details["price"] == "unknown"


def test_batches_by_tokens():
    with LoopbackServer() as server:
        embed(server, ["word " * 100] * 10, batch_tokens=250)
        assert server.count == 5
        assert embed(server, []).shape == (0, 8)
        assert server.count == 5


def test_it_is_an_embedder():
    embedder = EndpointEmbedder("http://localhost/v1", "k-1", "m", dimension=8)
    as_protocol: Embedder = embedder
    assert (as_protocol.name, as_protocol.dimension) == ("endpoint:m:8", 8)
    assert as_protocol.count(["one two", ""]) == [2, 0]
    with pytest.raises(ModelError) as caught:
        asyncio.run(embedder.tokens(["x"]))
    assert caught.value.cure
    assert "k-1" not in repr(embedder)


def test_the_dimension_can_be_discovered():
    with LoopbackServer(dimension=5) as server:
        assert asyncio.run(EndpointEmbedder.discover(server.base_url, None, "m")) == 5


@pytest.mark.parametrize(
    ("kind", "said"),
    [("short", "1 vectors for 2"), ("wrong", r"\(2, 1\)"), ("nan", "NaN")],
)
def test_vectors_that_are_none(kind, said):
    with LoopbackServer(faults=[Fault(kind)]) as server, pytest.raises(UnusableReply, match=said) as caught:
        embed(server, ["a", "b"])
    assert caught.value.cure


@pytest.mark.parametrize("kind", ["limited", "down", "closed", "cut", "garbled", "error"])
def test_faults_that_pass(kind):
    with LoopbackServer(faults=[Fault(kind, requests=2)]) as server:
        assert embed(server, ["a"]).shape == (1, 8)
    assert server.count == 3


def test_faults_that_stay():
    with LoopbackServer(faults=[Fault("down")]) as server, pytest.raises(ModelUnavailable):
        embed(server, ["a"] * 200, tries=2)
    with LoopbackServer(key="k") as server, pytest.raises(ModelRefused):
        embed(server, ["a"])


def test_a_budget_is_not_passed():
    prices = Prices({"loopback": Price(input=1.0, output=0.0)})
    with LoopbackServer() as server, spending(Budget(calls=2, usd=1)) as meter, pytest.raises(BudgetExceeded):
        embed(server, ["x"] * 200, prices=prices)
    assert meter.spent.calls <= 2
    assert replace(meter.reserved, usd=0.0) == Usage()
