"""Does this evidence hold an answer to this question? A chance, from what the reader says and what the evidence holds.

The chance is a logistic of `Features`; its weights are one table (`WEIGHTS`). `answer.threshold` is the least chance
with which an answer is given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from ragways.reading.phrase import IDENTIFIER
from ragways.reading.windows import content_stems, stems


@dataclass(frozen=True, slots=True)
class Features:
    """What the chance of an answer is made from.

    - `span`: the logit of the best span against there being none; `fit`: whether it is of the kind asked for; `margin`:
      how much more of the reader's weight it has than the next different one, 0 to 1
    - `answers`: the logit of "these passages answer" where the best span was read; `evidence`: that of its passage
    - `names`, `words`: the shares of the question's names and numbers, and of its words, that the passages hold;
      `stated`: the share of its names and numbers that the sentences cited hold
    - `nearness`: the cosine of the question and the answer's passage, where a retriever told one
    - `agreement`: how many retrievers found the answer's passage
    - `form`: what the question asks for (`questions.Form`)
    """

    span: float
    fit: bool
    margin: float
    answers: float
    evidence: float
    names: float
    words: float
    stated: float
    nearness: float | None
    agreement: int
    form: str

    def numbers(self) -> dict[str, float]:
        """What the weights are multiplied with. A feature that is not known counts as its usual value."""
        known = asdict(self)
        form = known.pop("form")
        known["nearness"] = USUAL_NEARNESS if self.nearness is None else self.nearness
        known["agreement"] = math.log1p(self.agreement)
        return {**{name: float(value) for name, value in known.items()}, f"form {form}": 1.0}


USUAL_NEARNESS: Final = 0.55
WEIGHTS: Final[Mapping[str, float]] = {
    "constant": -6.6,
    "span": 0.25,
    "fit": 1.5,
    "margin": 1.0,
    "answers": 0.15,
    "evidence": 0.0,
    "names": 2.2,
    "words": 1.0,
    "stated": 1.5,
    "nearness": 2.0,
    "agreement": 0.3,
    "form prose": 0.8,
}
"""By feature; a form without a weight of its own has none."""
_CLIPPED: Final = 10.0
"""Logits count up to this size, so that one of them never outweighs all else."""

_NAME = re.compile(r"(?<!^)(?<![.?!] )\b[A-Z][\w'’-]+|\b\w*\d\w*\b|\b\w+_\w+\b")


def chance(features: Features) -> float:
    """The chance that the answer is right, between 0 and 1."""
    numbers = features.numbers()
    total = WEIGHTS["constant"] + sum(
        WEIGHTS.get(name, 0.0) * max(-_CLIPPED, min(_CLIPPED, value)) for name, value in numbers.items()
    )
    return 1 / (1 + math.exp(-total))


def coverage(question: str, texts: Sequence[str]) -> tuple[float, float]:
    """The shares of the question's names and numbers, and of its words, that the texts hold together. A question
    without names counts as one with four of five found.
    """
    held, whole = frozenset[str]().union(*map(stems, texts)), " ".join(texts).casefold()
    names = [name.casefold() for name in _NAME.findall(question)]
    asked = content_stems(question)
    # An identifier is held as a whole; of other words, the beginning is enough.
    found = sum(name in whole if IDENTIFIER.search(name) else stems(name) <= held for name in names)
    return found / len(names) if names else 0.8, len(asked & held) / len(asked) if asked else 0.0
