"""What an agent asks of its tools, and what it gets back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ragways.core.types import Piece
from ragways.models.call import Tool


@dataclass(frozen=True, slots=True)
class Outcome:
    """The text for the model, and the pieces of documents that it quotes. `failed` tells that the text is an error."""

    text: str
    pieces: tuple[Piece, ...] = ()
    failed: bool = False


class Tools(Protocol):
    """Nothing that a caller sends makes `run` raise: what is wrong is said in the outcome."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def tools(self) -> Sequence[Tool]: ...

    async def run(self, name: str, arguments: str) -> Outcome: ...
