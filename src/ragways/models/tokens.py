"""Tokens, and what they cost.

Tokens are counted by cl100k, the vocabulary that budgets and prices are given in. Prices set by the user come first,
then the offline table of `genai-prices`, then: unknown.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Protocol, cast
from urllib.parse import urlsplit

from ragways.core.errors import SettingsError, UsageError
from ragways.core.trace import Meter, Usage

_VOCABULARY = 100_256
"""Tokens of cl100k that stand for text."""


class _Encoder(Protocol):
    def encode(self, text: str) -> list[int]: ...

    def decode_lossy(self, tokens: list[int]) -> str: ...

    def decode_token_bytes(self, token: int) -> bytes: ...


@cache
def _encoder() -> _Encoder:
    import splintr

    return cast(_Encoder, splintr.Tokenizer.from_pretrained("cl100k_base"))


def count_tokens(text: str) -> int:
    return len(_encoder().encode(text))


def count_each(texts: Sequence[str]) -> list[int]:
    encode = _encoder().encode
    return [len(encode(text)) for text in texts]


def token_ends(text: str) -> list[int]:
    """The place in the text at which each token ends. One that ends within a character ends before it."""
    encoder, data = _encoder(), text.encode()
    sizes = [len(encoder.decode_token_bytes(token)) for token in encoder.encode(text)]
    if len(data) == len(text):
        return list(accumulate(sizes))
    # A byte that goes on with a character is 10xxxxxx.
    begins = [0, *accumulate((byte & 0xC0) != 0x80 for byte in data)]
    whole = [len(data) == at or (data[at] & 0xC0) != 0x80 for at in accumulate(sizes)]
    return [begins[at] - (not here) for at, here in zip(accumulate(sizes), whole, strict=True)]


def text_of(tokens: Sequence[int]) -> str:
    """The text that these tokens are; an error where one of them is none."""
    if not all(0 <= token < _VOCABULARY for token in tokens):
        raise UsageError("these are no tokens of cl100k", "send the text itself")
    return _encoder().decode_lossy(list(tokens))


def count_text(text: str) -> int:
    """As `count_tokens`, for text that may hold half a character from a broken file."""
    try:
        return count_tokens(text)
    except UnicodeEncodeError:
        return count_tokens(text.encode("utf-8", "replace").decode())


@dataclass(frozen=True, slots=True)
class Price:
    """USD for a million tokens. `cached` is the price of input that the endpoint had cached; None: as other input."""

    input: float
    output: float
    cached: float | None = None

    def of(self, usage: Usage) -> float:
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached
        return (fresh * self.input + usage.cached * cached + usage.output * self.output) / 1_000_000


class Prices:
    """Prices by the name of the model. Never fetches anything."""

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self._own = dict(own or {})

    def of(self, usage: Usage, model: str, base_url: str = "") -> float | None:
        """USD for this usage, or None when nobody knows the price."""
        own = self._own.get(model)
        return own.of(usage) if own is not None else _by_table(usage, model, base_url)

    def known(self, model: str, base_url: str = "") -> bool:
        return self.of(Usage(calls=1, input=1, output=1), model, base_url) is not None

    def priced(self, usage: Usage, model: str, base_url: str = "") -> Usage:
        """Return this usage with its price, or with its calls as unpriced."""
        usd = self.of(usage, model, base_url)
        return replace(usage, usd=usd or 0.0, unpriced=usage.calls if usd is None else 0)

    def to_reserve(self, usage: Usage, model: str, base_url: str, meter: Meter) -> Usage:
        """Return what to reserve, with its price. Under a budget in USD an unknown price is an error, never free."""
        priced = self.priced(usage, model, base_url)
        if priced.unpriced and any(each.budget.usd is not None for each in meter.chain()):
            raise SettingsError(
                f"the price of model {model!r} is not known, so a budget in USD cannot be enforced",
                f'set it, 0 if it costs nothing: [prices."{model}"] input = … output = … (USD per million tokens)',
            )
        return priced


def _by_table(usage: Usage, model: str, base_url: str) -> float | None:
    from genai_prices import Usage as Tokens
    from genai_prices.data_snapshot import get_snapshot

    tokens = Tokens(input_tokens=usage.input, cache_read_tokens=usage.cached, output_tokens=usage.output)
    # A model of a known name on a machine of one's own does not cost what a provider takes for it.
    places = [base_url] if base_url and is_private(base_url) else [base_url, ""] if base_url else [""]
    for place in places:
        try:
            found = get_snapshot().calc(tokens, model, None, place or None, None)
        except LookupError:
            continue
        return float(found.total_price)
    return None


def is_private(base_url: str) -> bool:
    """Whether the address is this machine or a private network."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or "." not in host
