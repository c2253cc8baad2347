"""What turns texts into vectors: the protocol of embedders, and vectors from an OpenAI-compatible endpoint."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import ModelError, UnusableReply
from ragways.core.language import LATIN, language
from ragways.core.runtime import together
from ragways.core.trace import Usage, current_meter, span
from ragways.core.types import content_hash
from ragways.models.limits import Bound, MeteredTries, Traffic, token_count
from ragways.models.tokens import Prices, count_text
from ragways.models.transport import Extras, Refused, Transport

Vectors = NDArray[np.float32]
BATCH = 64
"""Texts of a request, at most."""
_CURE = "check the settings of the embedder (`embedder.base_url`, `embedder.name`, `embedder.dimension`)"


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. A text's vector depends on the text alone, not on what else is in the call."""

    @property
    def name(self) -> str:
        """Model, precision and version of the graph. Stored in the index: vectors of two names are never mixed."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def parallel(self) -> int:
        """Calls of `embed` worth having under way at once."""
        ...

    def estimate(self, texts: Sequence[str]) -> Usage:
        """What embedding these texts would cost; nothing where it is done here, `nan` USD where no price is known."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and threads."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text, in the order given: (texts, dimension)."""
        ...

    async def tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """For each text one row of length 1 for each token, special tokens left out: (tokens, dimension)."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by the embedder's own tokenizer: nothing cut off, special tokens left out."""
        ...


def reads(embedder: Embedder, text: str) -> bool:
    """Whether this embedder's vector of a text says something of it.

    One with an attribute `languages` knows only these. In other languages of Latin letters it still meets names and
    words that are alike; of other scripts it sees single characters (docs/figures.md).
    """
    known: frozenset[str] | None = getattr(embedder, "languages", None)
    code = language(text)
    return known is None or not code or code in known or code in LATIN


def unit(rows: Vectors) -> Vectors:
    """Scale each row to length 1. A row of zeros stays zeros, so that it is near to nothing."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled


def checked_vectors(name: str, rows: object, count: int, dimension: int, cure: str = _CURE) -> Vectors:
    """What an embedder gave for `count` texts as rows of length 1; an error in words where it is something else."""
    try:
        vectors = np.asarray(rows, dtype=np.float32)
    except (ValueError, TypeError):
        raise UnusableReply(f"{name} sent vectors of mixed lengths or no numbers", cure) from None
    if vectors.shape != (count, dimension):
        raise UnusableReply(f"{name} sent vectors of shape {vectors.shape}, not {(count, dimension)}", cure)
    if not np.isfinite(vectors).all():
        raise UnusableReply(f"{name} sent vectors that hold no numbers (NaN or infinite)", cure)
    return unit(vectors)


class EndpointEmbedder:
    """`POST {base_url}/embeddings`, through the same layers as chat: count → retry → rate limit → send.

    There is no cache here: the index keeps vectors by the hash of their text. `dimension` must be known beforehand;
    `discover` asks the endpoint for it. `prefixes` stand before questions and before passages.
    """

    def __init__(
        self,
        base_url: str,
        key: str | None,
        model: str,
        *,
        dimension: int,
        prefixes: tuple[str, str] = ("", ""),
        extras: Extras | None = None,
        timeout: float = 60.0,
        batch_tokens: int = 50_000,
        prices: Prices | None = None,
        traffic: Traffic | None = None,
    ) -> None:
        self._transport = Transport(base_url, key, timeout=timeout, extras=extras)
        self._model = model
        self._prefixes = prefixes
        self._dimension = dimension
        self._batch_tokens = batch_tokens
        self._prices = prices or Prices()
        self._bound = Bound()
        self._traffic = traffic or Traffic()

    @staticmethod
    async def discover(base_url: str, key: str | None, model: str, extras: Extras | None = None) -> int:
        """How long this model's vectors are: embeds one word."""
        probe = EndpointEmbedder(base_url, key, model, dimension=0, extras=extras)
        try:
            data, _ = await probe._traffic.send(
                f"embedder {model}", lambda: probe._send(["dimension"]), tokens=1, used=lambda _: 1
            )
            return len(_rows(data, 1)[0])
        finally:
            await probe.aclose()

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self._transport.base_url!r}, model={self._model!r}, dimension={self._dimension})"

    @property
    def name(self) -> str:
        prefixes = f":{content_hash(*self._prefixes)[:8]}" if any(self._prefixes) else ""
        return f"endpoint:{self._model}:{self._dimension}{prefixes}"

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def parallel(self) -> int:
        return self._traffic.concurrency

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._embed([self._prefixes[1] + text for text in texts])

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embed([self._prefixes[0] + text for text in texts])

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        with span("embed", texts=len(texts)) as here:
            here.way = f"model {self._model}"
            rows = await together(self._one(batch) for batch in self._batches(texts))
        return np.concatenate(rows) if rows else np.zeros((0, self._dimension), dtype=np.float32)

    async def tokens(self, texts: Sequence[str]) -> list[Vectors]:  # noqa: ARG002 - the protocol's
        raise ModelError(
            f"{self.name} gives one vector a text and none for its tokens",
            "use the built-in embedder for reranking by tokens, or another reranking step",
        )

    def count(self, texts: Sequence[str]) -> list[int]:
        """By our own count: an endpoint does not tell its tokenizer."""
        return [count_text(text) for text in texts]

    def estimate(self, texts: Sequence[str]) -> Usage:
        calls, tokens = sum(1 for _ in self._batches(texts)), sum(self.count(texts))
        usage = Usage(calls=calls, input=tokens)
        usd = self._prices.of(usage, self._model, self._transport.base_url)
        return replace(usage, usd=math.nan if usd is None else usd)

    async def aclose(self) -> None:
        await self._transport.aclose()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        size = 0
        for text, tokens in zip(texts, self.count(texts), strict=True):
            if batch and (len(batch) >= BATCH or size + tokens > self._batch_tokens):
                yield batch
                batch, size = [], 0
            batch.append(text)
            size += tokens
        if batch:
            yield batch

    async def _one(self, texts: list[str]) -> Vectors:
        """One request, reserved before it is sent and settled after."""
        with span("embedding call", texts=len(texts)) as here:
            here.way = f"model {self._model}"
            bound = self._bound.of_texts(texts)
            most = self._prices.to_reserve(bound, self._model, self._transport.base_url, current_meter())
            tries = MeteredTries(most)
            await tries.reserve()
            usage = Usage()
            try:
                data, here.details["tries"] = await self._traffic.send(
                    f"embedder {self._model}",
                    lambda: tries.send(lambda: self._send(texts)),
                    tokens=bound.tokens,
                    used=lambda data: _usage(data).tokens,
                )
                usage, facts = self._cost(bound, _usage(data))
                here.details |= facts
            finally:
                tries.settle(usage)
                here.usage = usage + tries.lost
            return checked_vectors(self._model, _rows(data, len(texts)), len(texts), self._dimension)

    def _cost(self, bound: Usage, usage: Usage) -> tuple[Usage, dict[str, object]]:
        facts: dict[str, object] = {}
        if usage.calls == 0:
            usage, facts["usage"] = bound, "estimated"
        else:
            self._bound.learn(bound, usage)
        usage = self._prices.priced(usage, self._model, self._transport.base_url)
        if usage.unpriced:
            facts["price"] = "unknown"
        return usage, facts

    async def _send(self, texts: list[str]) -> Mapping[str, object]:
        # Endpoints refuse an empty text, and one of them would fail the whole batch.
        payload: dict[str, object] = {
            "model": self._model,
            "input": [text or " " for text in texts],
            "encoding_format": "float",
        }
        try:
            return await self._transport.post("/embeddings", payload) or {}
        except Refused as refused:
            raise refused.explained(self._transport.base_url, self._model) from None


def _rows(data: Mapping[str, object], wanted: int) -> list[list[float]]:
    """The vectors in the order of the texts: `index` says which is whose, and need not be sorted."""
    items = data.get("data")
    if not isinstance(items, list):
        raise UnusableReply("the reply of the embeddings endpoint holds no vectors", _CURE)
    try:
        rows = {item.get("index", at): list(item["embedding"]) for at, item in enumerate(items)}
    except (KeyError, TypeError, AttributeError):
        raise UnusableReply("the reply of the embeddings endpoint holds no vectors", _CURE) from None
    if len(items) != wanted or set(rows) != set(range(wanted)):
        raise UnusableReply(f"the embeddings endpoint sent {len(rows)} vectors for {wanted} texts", _CURE)
    return [rows[at] for at in range(wanted)]


def _usage(data: Mapping[str, object]) -> Usage:
    usage = data.get("usage")
    tokens = token_count(usage, "prompt_tokens") or token_count(usage, "total_tokens")
    return Usage(calls=1, input=tokens) if tokens else Usage()
