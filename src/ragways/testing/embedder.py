"""An embedder that costs nothing, for tests that are not about meaning."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class HashingEmbedder:
    """Embeds a text as the sum of pseudo-random vectors of its words, so that texts with the same words are near.

    It needs no model and no network, and gives the same vectors on every machine.
    """

    name = "word-hashes"
    dimension = 32

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length 1 for each text; a text without words has a row of zeros."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimension), np.float32)
        for number, text in enumerate(texts):
            for word in text.lower().split():
                rows[number] += word_vector(word, self.dimension)
            rows[number] /= np.linalg.norm(rows[number]) or 1
        return rows


@lru_cache(maxsize=100_000)
def word_vector(word: str, dimension: int) -> NDArray[np.float32]:
    """The vector of one word, drawn by a seed made from its letters."""
    import numpy as np

    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    unit: NDArray[np.float32] = vector / np.float32(np.linalg.norm(vector))
    return unit
