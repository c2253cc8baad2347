"""What steps work with: the index, the embedder, the door to a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragways.index.reader import Index
from ragways.models.door import Door
from ragways.models.embed import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_QUESTIONS_KEPT = 64


@dataclass
class Resources:
    """`care` is how plain the evidence must be before a rule answers from it, `sentences` the most it says."""

    index: Index
    embedder: Embedder
    model: Door
    care: float = 0.5
    sentences: int = 3
    _questions: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    async def embed_question(self, text: str) -> NDArray[np.float32]:
        """The question's vector, made once however many retrievers ask for it."""
        if text not in self._questions:
            if len(self._questions) >= _QUESTIONS_KEPT:
                self._questions.clear()
            self._questions[text] = (await self.embedder.embed([text]))[0]
        return self._questions[text]
