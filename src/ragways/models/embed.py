"""The seam between ragways and whatever turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ragways.core.trace import Usage

Vectors = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. A text's vector depends on the text alone, not on what else is in the call."""

    @property
    def name(self) -> str:
        """Model, precision and version of the graph. Stored in the index: vectors of two names are never mixed."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def parallel(self) -> int:
        """Calls of `embed` worth having under way at once."""
        ...

    def estimate(self, texts: Sequence[str]) -> Usage:
        """What embedding these texts would cost; nothing where it is done here, `nan` USD where no price is known."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and threads."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text, in the order given: (texts, dimension)."""
        ...

    async def tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """For each text one row of length 1 for each token, special tokens left out: (tokens, dimension)."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by the embedder's own tokenizer: nothing cut off, special tokens left out."""
        ...


def unit(rows: Vectors) -> Vectors:
    """Scale each row to length 1. A row of zeros stays zeros, so that it is near to nothing."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled


def maxsim(query: Vectors, document: Vectors) -> float:
    """Late interaction: the best cosine of each query token among the document's tokens, as a mean.

    ColBERT sums. For one question the mean gives the same order, and it stays within −1 to 1 however long the
    question is, so that one threshold fits all questions. Nothing against anything is 0.
    """
    if not len(query) or not len(document):
        return 0.0
    return float((query @ document.T).max(axis=1).mean())
