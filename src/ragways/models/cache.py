"""Replies kept by the key of their call, so that nothing is paid twice."""

from __future__ import annotations

from typing import Protocol


class ReplyCache(Protocol):
    """Texts by key. A second `put` of a key replaces the first."""

    def get(self, key: str) -> str | None: ...

    def put(self, key: str, reply: str) -> None: ...


class MemoryCache:
    """A cache for one process: tests, and runs without an index."""

    def __init__(self) -> None:
        self.replies: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.replies.get(key)

    def put(self, key: str, reply: str) -> None:
        self.replies[key] = reply
