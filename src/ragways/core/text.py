"""Text of documents and models as it may be shown."""

from __future__ import annotations

import re

_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Text of a document or a model as a terminal may show it: without what would move its cursor or turn the line."""
    return _CONTROLS.sub("\ufffd", text)


def shortened(text: str, limit: int) -> str:
    """The text on one line of at most `limit` characters; one that was cut ends in an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
