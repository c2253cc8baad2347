"""How answers and chances are scored: words in common as SQuAD counts them, and how well right is told from wrong."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def normal(text: str) -> str:
    """SQuAD's own: lower case, no punctuation, no articles."""
    text = "".join(c for c in unicodedata.normalize("NFC", text).lower() if c not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def f1(said: str, gold: Sequence[str]) -> float:
    """The share of words that two answers have in common, the best of the accepted ones."""

    def one(answer: str) -> float:
        a, b = normal(said).split(), normal(answer).split()
        same = sum((Counter(a) & Counter(b)).values())
        return 2 * same / (len(a) + len(b)) if same else float(a == b)

    return max(map(one, gold), default=0.0)


def auc(score: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """How often a right one has a higher score than a wrong one."""
    ranks = np.argsort(np.argsort(score))
    good = int(right.sum())
    return float((ranks[right].sum() - good * (good - 1) / 2) / max(good * (len(right) - good), 1))


def kept(right: NDArray[np.float64], wrong: NDArray[np.float64], refused: float = 0.95) -> float:
    """The share of right ones above a threshold that refuses this share of the wrong ones."""
    return float((right > np.quantile(wrong, refused)).mean())
