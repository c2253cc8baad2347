"""An embedder and a language model. An object with a name and one method is enough for either."""

from __future__ import annotations

import string
from collections.abc import Sequence

from ragways import Settings
from ragways.assemble import EmbedderKind, ModelKind
from ragways.settings import RoleSettings


class Letters:
    """Embeds a text by how often each letter stands in it."""

    def __init__(self, letters: str) -> None:
        self.name = f"letters-{letters}"
        self._letters = letters

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A row a text."""
        return [[text.lower().count(letter) + 0.01 for letter in self._letters] for text in texts]


class Parrot:
    """Says the same, whatever it is asked."""

    def __init__(self, name: str, phrase: str) -> None:
        self.name = name
        self._phrase = phrase

    async def complete(self, messages: list[dict[str, str]]) -> str:
        """The phrase, with the first passage as its source."""
        return f"{self._phrase} [1]"


def _letters(settings: Settings) -> Letters:
    return Letters(str(settings.embedder.options.get("letters", string.ascii_lowercase)))


def _parrot(_: Settings, chosen: RoleSettings) -> Parrot:
    return Parrot(chosen.name or "parrot", str(chosen.options.get("phrase", "Pieces of eight.")))


LETTERS = EmbedderKind("letters", "counts letters", _letters)
PARROT = ModelKind("parrot", "says the same to everything", _parrot)
