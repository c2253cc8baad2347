"""all-MiniLM-L6-v2 on the CPU, offline: the embedder that needs no endpoint. Its weights come with ragways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ragways.core.trace import Usage
from ragways.models.embed import Vectors, unit
from ragways.models.encoder import Encoder

MODEL: Final = "all-MiniLM-L6-v2"
VERSION: Final = 2
"""Part of the embedder's name. Raise it with every change that moves a vector, however little."""

DIMENSION: Final = 384
LANGUAGES: Final = frozenset({"en"})
USUAL_TOKENS: Final = 256


class MiniLM:
    """An `Embedder`: the mean of a text's token vectors, scaled to length 1. Safe to share between tasks and threads.

    A text's vector is the same, bit for bit, whatever else is embedded with it (`Encoder`).
    """

    def __init__(self, *, max_tokens: int = USUAL_TOKENS, threads: int | None = None) -> None:
        self._encoder = Encoder("embedder.onnx", max_tokens=max_tokens, threads=threads)
        self._max_tokens = max_tokens

    @property
    def name(self) -> str:
        """For example `all-MiniLM-L6-v2/int8-2`, followed by the limit of tokens where it is not the usual one."""
        limit = "" if self._max_tokens == USUAL_TOKENS else f"-{self._max_tokens}"
        return f"{MODEL}/int8-{VERSION}{limit}"

    @property
    def languages(self) -> frozenset[str]:
        """Those it was trained on."""
        return LANGUAGES

    @property
    def dimension(self) -> int:
        return DIMENSION

    @property
    def parallel(self) -> int:
        """Two: a call uses all threads already, and the other one has them while its vectors are stored."""
        return 2

    def estimate(self, texts: Sequence[str]) -> Usage:  # noqa: ARG002 - the protocol's
        return Usage()

    async def aclose(self) -> None:
        self._encoder.close()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        rows = await self._encoder.each(self._sentence, texts, len)
        return np.stack(rows) if rows else np.empty((0, DIMENSION), np.float32)

    async def tokens(self, texts: Sequence[str]) -> list[Vectors]:
        return await self._encoder.each(self._tokens, texts, len)

    def count(self, texts: Sequence[str]) -> list[int]:
        return [self._encoder.count(text) for text in texts]

    def _sentence(self, text: str) -> Vectors:
        return unit(self._encoder.run(self._encoder.ids(text)).mean(axis=0))

    def _tokens(self, text: str) -> Vectors:
        return unit(self._encoder.run(self._encoder.ids(text))[1:-1])
