"""Vectors from an OpenAI-compatible endpoint, through the same layers as chat: count → retry → rate limit → send.

There is no cache here: the index keeps vectors by the hash of their text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragways.core.errors import ModelError, UnusableReply
from ragways.core.gather import together
from ragways.core.trace import Usage, current_meter, span
from ragways.models.bound import Bound, count_text
from ragways.models.prices import Prices
from ragways.models.rate import Time
from ragways.models.traffic import Traffic
from ragways.models.wire import Refused, Wire

if TYPE_CHECKING:
    from ragways.models.embed import Vectors

_CURE = "check the settings of the embedder (`embedder.base_url`, `embedder.name`, `embedder.dimension`)"


class EndpointEmbedder:
    """`POST {base_url}/embeddings`. `dimension` must be known beforehand; `discover` asks the endpoint for it."""

    def __init__(
        self,
        base_url: str,
        key: str | None,
        model: str,
        *,
        dimension: int,
        timeout: float = 60.0,
        batch: int = 64,
        batch_tokens: int = 50_000,
        prices: Prices | None = None,
        concurrency: int = 16,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        patience: float = 180.0,
        tries: int = 100,
        time: Time | None = None,
    ) -> None:
        self._wire = Wire(base_url, key, timeout=timeout)
        self._model = model
        self._dimension = dimension
        self._batch = batch
        self._batch_tokens = batch_tokens
        self._prices = prices or Prices()
        self._bound = Bound()
        self._concurrency = concurrency
        self._traffic = Traffic(
            concurrency=concurrency,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            patience=patience,
            tries=tries,
            time=time,
        )

    @staticmethod
    async def discover(base_url: str, key: str | None, model: str) -> int:
        """How long this model's vectors are: embeds one word."""
        probe = EndpointEmbedder(base_url, key, model, dimension=0)
        try:
            data, _ = await probe._traffic.send(
                f"embedder {model}", lambda: probe._send(["dimension"]), tokens=1, used=lambda _: 1
            )
            return len(_rows(data, 1)[0])
        finally:
            await probe.aclose()

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self._wire.base_url!r}, model={self._model!r}, dimension={self._dimension})"

    @property
    def name(self) -> str:
        return f"endpoint:{self._model}:{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def parallel(self) -> int:
        return self._concurrency

    async def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        with span("embed", texts=len(texts)) as here:
            here.way = f"model {self._model}"
            done = await together(self._one(batch) for batch in self._batches(texts))
        return np.concatenate(done) if done else np.zeros((0, self._dimension), dtype=np.float32)

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
        usd = self._prices.of(usage, self._model, self._wire.base_url)
        return replace(usage, usd=math.nan if usd is None else usd)

    async def aclose(self) -> None:
        await self._wire.aclose()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        size = 0
        for text, tokens in zip(texts, self.count(texts), strict=True):
            if batch and (len(batch) >= self._batch or size + tokens > self._batch_tokens):
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
            most = self._bound.most_of(texts)
            meter = current_meter()
            usd = self._prices.most(most, self._model, self._wire.base_url, meter)
            reservation = meter.reserve(replace(most, usd=usd))
            usage = Usage()
            try:
                data, here.details["tries"] = await self._traffic.send(
                    f"embedder {self._model}",
                    lambda: self._send(texts),
                    tokens=most.tokens,
                    used=lambda data: _usage(data).tokens,
                )
                usage, facts = self._cost(most, _usage(data))
                here.usage = usage
                here.details |= facts
            finally:
                reservation.settle(usage)
            return self._checked(_rows(data, len(texts)), len(texts))

    def _cost(self, most: Usage, usage: Usage) -> tuple[Usage, dict[str, object]]:
        facts: dict[str, object] = {}
        if usage.calls == 0:
            usage, facts["usage"] = most, "estimated"
        else:
            self._bound.learn(most, usage)
        price = self._prices.of(usage, self._model, self._wire.base_url)
        if price is None:
            facts["price"] = "unknown"
        return replace(usage, usd=price or 0.0), facts

    async def _send(self, texts: list[str]) -> Mapping[str, object]:
        # Endpoints refuse an empty text, and one of them would fail the whole batch.
        payload: dict[str, object] = {
            "model": self._model,
            "input": [text or " " for text in texts],
            "encoding_format": "float",
        }
        try:
            return await self._wire.post("/embeddings", payload)
        except Refused as refused:
            raise refused.explained(self._wire.base_url, self._model) from None

    def _checked(self, rows: list[list[float]], wanted: int) -> Vectors:
        import numpy as np

        from ragways.models.embed import unit

        try:
            vectors = np.asarray(rows, dtype=np.float32)
        except (ValueError, TypeError):
            raise UnusableReply(f"{self._model} sent vectors of mixed lengths or no numbers", _CURE) from None
        if vectors.shape != (wanted, self._dimension):
            raise UnusableReply(
                f"{self._model} sent vectors of shape {vectors.shape}, not {(wanted, self._dimension)}", _CURE
            )
        if not np.isfinite(vectors).all():
            raise UnusableReply(f"{self._model} sent vectors that hold no numbers (NaN or infinite)", _CURE)
        return unit(vectors)


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
    tokens = (usage.get("prompt_tokens") or usage.get("total_tokens")) if isinstance(usage, dict) else None
    return Usage(calls=1, input=tokens) if isinstance(tokens, int) and tokens > 0 else Usage()
