"""How much of a question texts hold: its words, rare ones counting more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragways.index.words import terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
_MOST = 64  # words of a question
_STEM = 5  # letters: `director` meets `directed`
_SHORT = 4  # letters below which a word must begin a word of the text: `war` is not in `award`


class Cover:
    """The words of a question, and how much each weighs.

    A word weighs the more, the fewer of the `among` texts hold it: these are what was found for the question, so what
    all of them say tells none apart. `among` becomes rows of `held`, a column for each word.
    """

    def __init__(self, question: str, among: Sequence[str]) -> None:
        import numpy as np

        stems = dict.fromkeys(
            _beginning(word, term) for word in _WORD.findall(question.casefold())[: 4 * _MOST] for term in terms(word)
        )
        self._stems = [stem if len(stem) >= _SHORT else f" {stem}" for stem in stems][:_MOST]
        self.held: NDArray[np.bool_] = np.array([self.of(text) for text in among], dtype=bool)
        self.held = self.held.reshape(len(among), len(self._stems))
        weights = np.log(1 + (len(among) + 1) / (self.held.sum(axis=0) + 1))
        self.weights: NDArray[np.float64] = weights / max(float(weights.sum()), 1e-9)

    def of(self, text: str) -> list[bool]:
        """Which words of the question stand in a text."""
        flat = f" {text}".casefold()
        return [stem in flat for stem in self._stems]


def _beginning(word: str, term: str) -> str:
    """The beginning that all forms of a word share: `cities` and `city` have the stem `citi`."""
    return word[: min(_STEM, len(term.removesuffix("i")))]
