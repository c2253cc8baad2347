"""Time that passes only when everybody waits, and the small tasks that these tests ask for."""

from __future__ import annotations

import asyncio
import heapq
from dataclasses import dataclass

from ragways.models.limits import Time
from ragways.models.task import Prompt, Task


class FakeTime:
    def __init__(self, dice: float = 0.5) -> None:
        self.now = 1000.0
        self.slept: list[float] = []
        self._wakes: list[float] = []
        self.time = Time(clock=lambda: self.now, sleep=self.sleep, dice=lambda: dice)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        wake = self.now + max(0.0, seconds)
        heapq.heappush(self._wakes, wake)
        while True:
            for _ in range(30):  # whoever can still do something now does it first
                await asyncio.sleep(0)
            if self._wakes[0] == wake:
                self.now = max(self.now, wake)
            if self.now >= wake:
                self._wakes.remove(wake)
                heapq.heapify(self._wakes)
                return


class MemoryCache:
    """A cache of replies for one process."""

    def __init__(self) -> None:
        self.replies: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.replies.get(key)

    def put(self, key: str, reply: str) -> None:
        self.replies[key] = reply


class Heard:
    """A listener: the pieces it was given, the text as it stands, and how often it began anew."""

    def __init__(self) -> None:
        self.pieces: list[tuple[str, bool]] = []
        self.text = ""

    def __call__(self, text: str, *, restart: bool = False) -> None:
        self.pieces.append((text, restart))
        self.text = text if restart else self.text + text

    @property
    def restarts(self) -> int:
        return sum(restart for _, restart in self.pieces)


@dataclass(frozen=True)
class Note:
    text: str
    pages: tuple[int, ...] = ()


PROMPT = Prompt.parse("note", "# system\nBe brief.\n\n# user\nAbout {{topic}}:\n{{fenced source}}\n")


@dataclass(frozen=True)
class About:
    topic: str
    source: str


@dataclass(frozen=True)
class Word:
    word: str


NOTE: Task[About, Note] = Task("note", prompt=PROMPT, reply=Note)
WORD: Task[Word, str] = Task("word", prompt=Prompt.parse("word", "Say {{word}}."), reply=str)
GOOD = {"text": "fine", "pages": [1, 2]}
ABOUT = About("tides", "The tide rises.")
