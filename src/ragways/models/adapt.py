"""One's own objects as the model or the embedder of ragways.

    class MyModel:
        name = "my-model"

        def complete(self, messages: list[dict[str, str]]) -> str: ...

    class MyEmbedder:
        name = "my-embedder"

        def embed(self, texts: list[str]) -> list[list[float]]: ...

Both methods may be `async`. Others run in a thread, so that they do not hold up what runs beside them.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ragways.core.errors import ModelError, ModelRefused, RagwaysError, UsageError
from ragways.core.sync import run_sync
from ragways.core.trace import Usage
from ragways.models.call import Call, Model, Reply
from ragways.models.dialect import with_schema
from ragways.models.limits import TryAgain, count_call
from ragways.models.tokens import count_text

if TYPE_CHECKING:
    from ragways.models.embed import Embedder, Vectors

_CURE_MODEL = "a model needs a `name` and a method `complete(messages)` that returns the text of the reply"
_CURE_EMBEDDER = "an embedder needs a `name` and a method `embed(texts)` that returns one list of floats for each text"


class OwnModel(Protocol):
    """A language model of one's own: a name, and a method from messages to the text of the reply, sync or async."""

    @property
    def name(self) -> str: ...

    def complete(self, messages: list[dict[str, str]], /) -> str | Awaitable[str]: ...


class OwnEmbedder(Protocol):
    """An embedder of one's own: a name, and a method from texts to one row of numbers for each, sync or async."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: list[str], /) -> Any: ...  # noqa: ANN401 - lists or an array, or an awaitable of these


def as_model(obj: object) -> Model:
    """The object as a `Model`.

    A `name` and a method `complete(messages) -> str` are enough; messages are dicts with `role` and `content`. Such a
    model has no structured output, so the schema of a reply is put into the system message, and no usage, so tokens
    are our own count. It cannot call tools. What is a `Model` already is returned as it is.
    """
    if all(hasattr(obj, part) for part in ("name", "base_url", "send", "aclose")):
        return obj  # type: ignore[return-value]
    return _OwnModel(_name(obj, _CURE_MODEL), _method(obj, "complete", _CURE_MODEL))


def as_embedder(obj: object) -> Embedder:
    """The object as an `Embedder`.

    A `name` and a method `embed(texts)` are enough, which returns lists of floats or an array of shape (texts,
    dimension). Rows are scaled to length 1. The dimension is `obj.dimension` if there is one, else it is found by
    embedding one word. What is an `Embedder` already is returned as it is.
    """
    from ragways.models.embed import Embedder

    if isinstance(obj, Embedder):
        return obj
    dimension = getattr(obj, "dimension", None)
    return _OwnEmbedder(
        _name(obj, _CURE_EMBEDDER),
        _method(obj, "embed", _CURE_EMBEDDER),
        dimension if isinstance(dimension, int) else None,
    )


class _OwnModel:
    def __init__(self, name: str, complete: Callable[..., object]) -> None:
        self._name = name
        self._complete = complete

    def __repr__(self) -> str:
        return f"as_model({self._name!r})"

    @property
    def name(self) -> str:
        return self._name

    @property
    def base_url(self) -> str:
        return ""

    async def send(self, call: Call) -> Reply:
        if call.tools:
            raise ModelRefused(
                f"model {self._name} cannot call tools", "set an endpoint that can, or choose another paradigm"
            )
        messages = with_schema(call)
        began = time.perf_counter()
        text = await _called(
            self._name, self._complete, [{"role": message.role, "content": message.content} for message in messages]
        )
        if not isinstance(text, str):
            raise ModelRefused(
                f"`complete` of model {self._name} returned {type(text).__name__}, not text", _CURE_MODEL
            )
        usage = Usage(calls=1, input=count_call(call), output=count_text(text))
        return Reply(text, usage, self._name, time.perf_counter() - began, estimated=True)

    async def aclose(self) -> None:
        """The object is its owner's to close."""


class _OwnEmbedder:
    parallel = 1

    def __init__(self, name: str, embed: Callable[..., object], dimension: int | None) -> None:
        self._name = name
        self._embed = embed
        self._dimension = dimension

    def __repr__(self) -> str:
        return f"as_embedder({self._name!r})"

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            run_sync(self.embed(["dimension"]))
        return self._dimension or 0

    def estimate(self, texts: Sequence[str]) -> Usage:  # noqa: ARG002 - the protocol's
        return Usage()

    def count(self, texts: Sequence[str]) -> list[int]:
        """By our own count: the object does not tell its tokenizer."""
        return [count_text(text) for text in texts]

    async def aclose(self) -> None:
        """The object is its owner's to close."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        from ragways.models.embed import checked_vectors

        if not texts:
            if self._dimension is None:
                await self.embed(["dimension"])
            return np.zeros((0, self.dimension), dtype=np.float32)
        rows = await _called(self._name, self._embed, list(texts))
        if self._dimension is None:
            self._dimension = _length_of_first(rows)
        return checked_vectors(self._name, rows, len(texts), self._dimension, _CURE_EMBEDDER)

    async def tokens(self, texts: Sequence[str]) -> list[Vectors]:  # noqa: ARG002 - the protocol's
        raise ModelError(
            f"{self._name} gives one vector a text and none for its tokens",
            "use the built-in embedder for reranking by tokens, or another reranking step",
        )


def _length_of_first(rows: object) -> int:
    try:
        return len(rows[0])  # type: ignore[index]
    except (TypeError, IndexError, KeyError):
        return 0  # the check of the rows says what is wrong


def _name(obj: object, cure: str) -> str:
    name = getattr(obj, "name", None)
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"this {type(obj).__name__} has no `name`", f"{cure}; results and vectors are stored by it")
    return name


def _method(obj: object, name: str, cure: str) -> Callable[..., object]:
    method: Callable[..., object] | None = getattr(obj, name, None)
    if not callable(method):
        raise UsageError(f"this {type(obj).__name__} has no method `{name}`", cure)
    return method


async def _called(name: str, method: Callable[..., object], given: object) -> object:
    """What the method returns, run in a thread unless it is `async`. Its errors become errors in words."""
    try:
        result = method(given) if inspect.iscoroutinefunction(method) else await asyncio.to_thread(method, given)
        return await result if inspect.isawaitable(result) else result
    except (RagwaysError, TryAgain):
        raise
    except Exception as error:
        cause = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise ModelRefused(f"{name} failed ({cause})", "the error comes from your own object; look there") from error
