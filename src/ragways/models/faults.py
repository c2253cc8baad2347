"""What can go wrong at an endpoint, for the loopback server to do on purpose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal[
    "slow",  # waits `seconds`, then answers as usual
    "limited",  # 429, with `Retry-After: seconds` when seconds are given
    "down",  # 503
    "closed",  # closes the connection without an answer
    "cut",  # promises more bytes than it sends, then closes
    "garbled",  # 200 with a body that is no JSON
    "error",  # 200 with an error object
    "empty",  # 200 with no choices
    "wrong",  # valid JSON that fits no schema
    "malformed",  # broken JSON as the message's text
    "no-usage",  # leaves out the count of tokens
    "nan",  # embeddings that are no numbers
    "short",  # one embedding too few
]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing to do wrong, on every request or some: the first `requests`, until `until` s, a `share` of them."""

    kind: Kind
    seconds: float | None = None
    requests: int | None = None
    until: float | None = None
    share: float = 1.0

    def strikes(self, number: int, running: float) -> bool:
        """Whether request `number` (from 1), `running` seconds after the start, is hit. No dice: 0.25 is every 4th."""
        if self.requests is not None and number > self.requests:
            return False
        if self.until is not None and running >= self.until:
            return False
        return int(number * self.share) > int((number - 1) * self.share)

    @classmethod
    def parse(cls, text: str) -> Fault:
        """`limited:share=0.2,seconds=1` as a fault; ValueError when it is none."""
        kind, _, rest = text.partition(":")
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is none of {', '.join(KINDS)}")
        values = dict(pair.split("=", 1) for pair in rest.split(",") if pair)
        unknown = values.keys() - {"seconds", "requests", "until", "share"}
        if unknown:
            raise ValueError(f"a fault has no {', '.join(sorted(unknown))}")
        return cls(
            kind,
            seconds=float(values["seconds"]) if "seconds" in values else None,
            requests=int(values["requests"]) if "requests" in values else None,
            until=float(values["until"]) if "until" in values else None,
            share=float(values.get("share", 1.0)),
        )
