"""BERTScore (Zhang et al. 2020): tokens of two texts matched by the cosine of their vectors in context.

Precision is the mean, over the tokens of a text, of the best cosine to a token of the reference; recall the same the
other way round; F1 their harmonic mean. Tokens weigh the same (no idf) and values are not rescaled: they compare within
one embedder only, never with figures made with another. It hardly sees a negation.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from ragways.evaluation.judges.judge import Judge, JudgeResources
from ragways.evaluation.judges.shown import found_texts, said, wanted_texts
from ragways.evaluation.judges.vectors import of_tokens
from ragways.evaluation.metric import Metric, Score
from ragways.evaluation.record import Record

if TYPE_CHECKING:
    from ragways.models.embed import Embedder, Vectors

SEEN = 20_000
"""Pieces whose match with the gold of a question is kept: 20 MB where gold has 250 tokens."""
_seen: WeakKeyDictionary[Embedder, OrderedDict[tuple[str, tuple[str, ...]], Part | None]] = WeakKeyDictionary()
_BLIND = "; blind to negation, not rescaled"


class Match(NamedTuple):
    precision: float
    recall: float
    f1: float


class Part(NamedTuple):
    """A part of a text against a reference: its tokens, the sum of their best cosines, and the reference's best."""

    tokens: int
    total: float
    best: Vectors


def against(part: Vectors, wanted: Vectors) -> Part:
    import numpy as np

    cosines = part @ wanted.T
    return Part(len(part), float(cosines.max(axis=1).sum(dtype=np.float64)), cosines.max(axis=0))


def joined(parts: Sequence[Part]) -> Match:
    """The parts of one text as a whole."""
    import numpy as np

    best = parts[0].best
    for part in parts[1:]:
        best = np.maximum(best, part.best)
    p = math.fsum(part.total for part in parts) / sum(part.tokens for part in parts)
    r = float(best.mean(dtype=np.float64))
    return Match(p, r, 2 * p * r / (p + r) if p > 0 and r > 0 else 0.0)


def greedy(text: Sequence[Vectors], reference: Sequence[Vectors]) -> Match | None:
    """Of two texts in parts; None where one has no token. Parts are taken one by one, which bounds the memory."""
    import numpy as np

    text, reference = [part for part in text if len(part)], [part for part in reference if len(part)]
    if not text or not reference:
        return None
    wanted = np.concatenate(reference)
    return joined([against(part, wanted) for part in text])


async def _answer(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    text, *golds = await of_tokens(resources.embedder, [said(record), *record.gold])
    matches = [
        (match, gold) for gold, tokens in zip(record.gold, golds, strict=True) if (match := greedy([text], [tokens]))
    ]
    if not matches:
        return _scores("", None, "no words to compare")
    match, gold = max(matches, key=lambda one: one[0].f1)
    return _scores("", match, details={"gold": gold} if len(record.gold) > 1 else {})


async def _context(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    found, wanted = found_texts(record), wanted_texts(record)
    if not wanted:
        return _scores("context-", None, "no gold evidence in words")
    parts = await _parts(resources.embedder, found, tuple(wanted))
    match = joined(parts) if parts else None
    return _scores("context-", match, "" if match else "no words to compare")


async def _parts(embedder: Embedder, found: Sequence[str], wanted: tuple[str, ...]) -> list[Part]:
    """Each piece against the gold, looked at once however many ways found it: they find much the same."""
    import numpy as np

    known = _seen.setdefault(embedder, OrderedDict())
    missing = [text for text in dict.fromkeys(found) if (text, wanted) not in known]
    vectors = await of_tokens(embedder, [*missing, *wanted]) if missing else []
    gold = [part for part in vectors[len(missing) :] if len(part)]
    for text, tokens in zip(missing, vectors, strict=False):
        known[text, wanted] = against(tokens, np.concatenate(gold)) if gold and len(tokens) else None
    parts = [part for text in found if (part := known[text, wanted]) is not None]
    while len(known) > SEEN:
        known.popitem(last=False)
    return parts


def _scores(of: str, match: Match | None, why: str = "", details: Mapping[str, str] | None = None) -> dict[str, Score]:
    values = match or (None, None, None)
    return {
        f"{of}bertscore-{name}": Score(value, why, details or {})
        for name, value in zip(("p", "r", "f1"), values, strict=True)
    }


BERTSCORE = Judge(
    "bertscore",
    "tokens of the answer matched with those of the best gold answer",
    "embedder",
    (
        Metric(
            "bertscore-p", "embedding", f"tokens of the answer in the gold answer{_BLIND}", ("gold", "answer", "said")
        ),
        Metric(
            "bertscore-r", "embedding", f"tokens of the gold answer in the answer{_BLIND}", ("gold", "answer", "said")
        ),
        Metric("bertscore-f1", "embedding", f"harmonic mean of the two{_BLIND}", ("gold", "answer", "said")),
    ),
    _answer,
)

CONTEXT_BERTSCORE = Judge(
    "context-bertscore",
    "tokens of what was found matched with those of the gold evidence",
    "embedder",
    (
        Metric("context-bertscore-p", "embedding", f"tokens of what was found in the gold evidence{_BLIND}",
               ("answer", "evidence")),
        Metric("context-bertscore-r", "embedding", f"tokens of the gold evidence in what was found{_BLIND}",
               ("answer", "evidence")),
        Metric("context-bertscore-f1", "embedding", f"harmonic mean of the two{_BLIND}", ("answer", "evidence")),
    ),
    _context,
)  # fmt: skip
