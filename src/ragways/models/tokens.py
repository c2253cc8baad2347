"""Token counts by cl100k, the vocabulary that budgets and prices are given in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Protocol, cast


class _Encoder(Protocol):
    def encode(self, text: str) -> list[int]: ...


@cache
def _encoder() -> _Encoder:
    import splintr

    return cast(_Encoder, splintr.Tokenizer.from_pretrained("cl100k_base"))


def count_tokens(text: str) -> int:
    return len(_encoder().encode(text))


def count_each(texts: Sequence[str]) -> list[int]:
    encode = _encoder().encode
    return [len(encode(text)) for text in texts]
