"""Objects of one's own as the model and the embedder."""

from __future__ import annotations

import asyncio
import json
import threading

import numpy as np
import pytest

from ragways.core.errors import ModelRefused, UnusableReply, UsageError
from ragways.core.trace import Budget, span, spending
from ragways.models.adapt import as_embedder, as_model
from ragways.models.call import Call, Message, Tool
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder
from tests.models.model_fakes import ABOUT, GOOD, NOTE, Note


class Own:
    name = "own"

    def __init__(self, reply: object = None) -> None:
        self.reply = json.dumps(GOOD) if reply is None else reply
        self.messages: list[dict[str, str]] = []
        self.thread = ""

    def complete(self, messages: list[dict[str, str]]) -> object:
        self.messages, self.thread = messages, threading.current_thread().name
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


class AsyncOwn(Own):
    async def complete(self, messages: list[dict[str, str]]) -> object:
        await asyncio.sleep(0)
        return super().complete(messages)


@pytest.mark.parametrize("own", [Own(), AsyncOwn()], ids=["sync", "async"])
def test_a_name_and_complete_make_a_model(own: Own):
    with span("root") as root, spending(Budget(calls=1)):
        outcome = asyncio.run(ModelClient(as_model(own)).do(NOTE, ABOUT))
    assert outcome.value == Note("fine", (1, 2))
    assert outcome.way == "model own"
    assert root.total.calls == 1
    assert root.total.output > 0
    assert root.children[0].children[0].details["usage"] == "estimated"
    assert [message["role"] for message in own.messages] == ["system", "user"]
    assert "JSON schema" in own.messages[0]["content"]
    assert '"pages"' in own.messages[0]["content"]
    assert (own.thread == "MainThread") is isinstance(own, AsyncOwn), "what is not async runs in a thread"


def test_errors_of_the_object_are_reported():
    with pytest.raises(ModelRefused, match=r"own failed \(ValueError: no luck\)") as caught:
        asyncio.run(ModelClient(as_model(Own(ValueError("no luck")))).do(NOTE, ABOUT))
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(ModelRefused, match="returned int, not text"):
        asyncio.run(ModelClient(as_model(Own(42))).do(NOTE, ABOUT))
    call = Call((Message("user", "?"),), tools=(Tool("t", "", {}),))
    with pytest.raises(ModelRefused, match="cannot call tools"):
        asyncio.run(as_model(Own()).send(call))


def test_an_object_that_is_no_model_is_refused_with_what_it_lacks():
    with pytest.raises(UsageError, match="name") as caught:
        as_model(object())
    assert "complete" in caught.value.cure

    class Nameless:
        name = "x"

    with pytest.raises(UsageError, match="no method `complete`"):
        as_model(Nameless())


class Vectors:
    name = "own vectors"

    def __init__(self, rows: object = None) -> None:
        self.rows = rows
        self.asked: list[list[str]] = []

    def embed(self, texts: list[str]) -> object:
        self.asked.append(texts)
        return [[float(len(text)), 4.0, 0.0] for text in texts] if self.rows is None else self.rows


class AsyncVectors(Vectors):
    async def embed(self, texts: list[str]) -> object:
        await asyncio.sleep(0)
        return np.asarray(super().embed(texts), dtype=np.float64)


@pytest.mark.parametrize("kind", [Vectors, AsyncVectors])
def test_a_name_and_embed_make_an_embedder(kind: type[Vectors]):
    own = kind()
    embedder = as_embedder(own)
    assert isinstance(embedder, Embedder)
    assert embedder.name == "own vectors"
    assert embedder.dimension == 3
    assert embedder.dimension == 3
    assert len(own.asked) == 1, "the dimension is asked for once"
    rows = asyncio.run(embedder.embed(["abc", ""]))
    assert rows.dtype == np.float32
    assert np.allclose(rows, [[0.6, 0.8, 0.0], [0.0, 1.0, 0.0]])
    assert embedder.count(["two words"]) == [2]
    assert embedder.estimate(["x"]).calls == 0


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([[1.0, 2.0]], "shape"),
        ([[1.0, 2.0], [1.0]], "mixed lengths"),
        ([["a"], ["b"]], "no numbers"),
        ([[float("nan")], [1.0]], "NaN"),
        (None, ""),
        (7, "shape"),
    ],
)
def test_values_that_are_no_vectors_are_refused(rows: object, told: str):
    embedder = as_embedder(Vectors(rows))
    if not told:
        assert asyncio.run(embedder.embed(["x", "y"])).shape == (2, 3)
        return
    with pytest.raises(UnusableReply, match=told) as caught:
        asyncio.run(embedder.embed(["x", "y"]))
    assert "embed(texts)" in caught.value.cure
