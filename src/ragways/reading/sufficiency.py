"""How likely an answer is right, by the reader's logits and by what of the question the evidence contains.

The chance is a logistic of `Features`; its weights are one table (`WEIGHTS`). `answer.threshold` is the least chance
with which an answer is given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from ragways.reading.windows import content_stems, stems


@dataclass(frozen=True, slots=True)
class Features:
    """What the chance of an answer is made from.

    - `span`: the logit of the best span against there being none; `margin`: how much more of the reader's weight it has
      than the next different one, 0 to 1; `evidence`: the logit of its passage being evidence
    - `names`: the share of the question's names and numbers that a passage contains; `words`: the share of its words
      that the sentences cited contain
    - `nearness`: the cosine of the question and the first passage cited, where a retriever gave one
    - `agreement`: how many retrievers found that passage
    - `length`, `nested`: how many words that mean something a question has, and in how many steps it comes to what it
      asks for ("the father of the actor who …"); `form`: what it asks for (`questions.Form`)
    """

    span: float
    margin: float
    evidence: float
    names: float
    words: float
    nearness: float | None
    agreement: int
    length: int
    nested: int
    form: str

    def weighed(self) -> dict[str, float]:
        """What the weights are multiplied with. A feature that is not known counts as its usual value."""
        known = asdict(self)
        form = known.pop("form")
        known["nearness"] = USUAL_NEARNESS if self.nearness is None else self.nearness
        known["agreement"] = math.log1p(self.agreement)
        # Logits count up to a size, so that one of them never outweighs all else.
        known["span"] = math.tanh(self.span / LARGE_SPAN)
        known["length"] = min(self.length, LONG) / 10
        known["nested"] = min(self.nested, DEEP)
        known["evidence"] = max(-LARGE_EVIDENCE, min(LARGE_EVIDENCE, self.evidence))
        known["sentences"] = form in BY_SENTENCES
        return {name: float(value) for name, value in known.items()}


BY_SENTENCES: Final = frozenset({"prose", "choice", "yes-no", "same", "both"})
"""Forms of questions that whole sentences answer. Nothing here concludes yes, no or a winner from them."""


USUAL_NEARNESS: Final = 0.45
LARGE_SPAN: Final = 4.0
LARGE_EVIDENCE: Final = 10.0
LONG: Final = 25
DEEP: Final = 4
WEIGHTS: Final[Mapping[str, float]] = {
    "constant": -5.87,
    "span": 0.67,
    "margin": 0.38,
    "evidence": 0.25,
    "names": 1.38,
    "words": 1.68,
    "nearness": 2.20,
    "agreement": 0.27,
    "length": 0.70,
    "nested": -0.33,
    "sentences": 1.19,
}
"""By feature. Fitted by `python -m benchmarks.abstention --rows DIR --fit` on eight sets of questions that the reader
was not trained on, answerable and unanswerable ones counting the same; what speaks for an answer has no negative
weight. `sentences` was fitted on how and why, and taken over for the other forms that sentences answer. Weights fitted
on six sets by the reader as it is now separate no better on the set left out. "These passages answer" added nothing to
the logits of span and evidence. How well it does: docs/figures.md.
"""

# Capitals that do not begin a sentence, with those that follow; numbers; identifiers.
_LINK = r"(?:(?:of|the|de|la|von|van|and|in|for|du|di)\s+){0,2}"
_NAME = re.compile(rf"(?<!^)(?<![.?!] )\b[A-Z][\w'’.-]*(?:\s+{_LINK}[A-Z0-9][\w'’.-]*)*|\b\w*\d\w*\b|\b\w+_\w+\b")


def chance(features: Features) -> float:
    """The chance that the answer is right, between 0 and 1."""
    total = WEIGHTS["constant"] + sum(WEIGHTS.get(name, 0.0) * value for name, value in features.weighed().items())
    return 1 / (1 + math.exp(-total))


_STEP = re.compile(
    r"(?<!^)\b(?:that|who|whose|which|where|whom|when)\b|\bof (?:the|an?) \w+ (?:that|who|of|where|which|in which)|"
    r"['’]s\b| of the | by the | in which ",
    re.IGNORECASE,
)


def structure(question: str) -> tuple[int, int]:
    """A question's `length` and `nested`."""
    return len(content_stems(question)), len(_STEP.findall(question))


@lru_cache(maxsize=64)
def names_in(question: str) -> tuple[tuple[int, int], ...]:
    """Where a question has names and numbers."""
    return tuple(match.span() for match in _NAME.finditer(question))


class Coverage(NamedTuple):
    """The shares of a question's names and numbers, and of its words, that texts contain."""

    names: float
    words: float


def coverage(question: str, texts: Sequence[str]) -> Coverage:
    """What of a question texts contain: a name where one of them has all of it in a row, words wherever they stand. A
    question without names counts as one of whose names four of five are there.
    """
    present, wanted = frozenset[str]().union(*map(stems, texts)), content_stems(question)
    names, missing = names_of(question, texts)
    share = 1 - len(missing) / len(names) if names else 0.8
    return Coverage(share, len(wanted & present) / len(wanted) if wanted else 0.0)


def names_of(question: str, texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names and numbers of a question, each once, and those of them that none of the texts has in a row."""
    rows = [_in_a_row(text) for text in texts]
    named = (_in_a_row(question[start:end]) for start, end in names_in(question))
    names = list(dict.fromkeys(filter(str.strip, named)))
    return names, [name for name in names if not any(name in row for row in rows)]


def _in_a_row(text: str) -> str:
    """A text as its words alone, each between spaces. A possessive is left out."""
    return f" {' '.join(_WORD.findall(_POSSESSIVE.sub(' ', text.casefold())))} "


_WORD = re.compile(r"\w+")
_POSSESSIVE = re.compile(r"['’]s\b")
