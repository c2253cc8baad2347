"""Judges by an embedder: tokens matched (BERTScore), sentences covered by the answer, sentences borne out by evidence.

BERTScore (Zhang et al. 2020) matches tokens of two texts by the cosine of their vectors in context. Precision is the
mean, over the tokens of a text, of the best cosine to a token of the reference; recall the same the other way round; F1
their harmonic mean. Tokens weigh the same (no idf) and values are not rescaled: they compare within one embedder only,
never with figures made with another. It hardly sees a negation.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from ragways.core.types import ABSTENTION
from ragways.evaluation.judges.judge import (
    Judge,
    JudgeResources,
    answer_alone,
    answer_of,
    evidence_texts,
    gold_texts,
)
from ragways.evaluation.metric import Metric
from ragways.evaluation.record import Record, Score
from ragways.retrieval.support import sentences

if TYPE_CHECKING:
    from ragways.models.embed import Embedder, Vectors

ROWS = 40_000
"""Rows that are kept, of sentences and of tokens alike: 60 MB at 384 numbers each."""
ROOM = 250
"""Tokens handed to the embedder at once when each is looked at: the built-in one reads no further than 254."""
SEEN = 20_000
"""Pieces whose match with the gold of a question is kept: 20 MB where gold has 250 tokens."""
THRESHOLD = 0.7
"""Cosine from which a sentence counts as supported."""
_BLIND = "; blind to negation, not rescaled"


# --- Vectors, each text embedded once: records of one question share most of their evidence -----------------------


class VectorCache:
    """Vectors by text. Those not used for longest go first once there are more than `limit` rows."""

    def __init__(self, limit: int = ROWS) -> None:
        self._limit, self._rows = limit, 0
        self._known: OrderedDict[tuple[str, str], Vectors] = OrderedDict()

    async def of(
        self, kind: str, texts: Sequence[str], make: Callable[[list[str]], Awaitable[list[Vectors]]]
    ) -> list[Vectors]:
        """One a text, in order; `make` is asked for those not known, all at once."""
        found = {text: known for text in dict.fromkeys(texts) if (known := self._get(kind, text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            for text, made in zip(missing, await make(missing), strict=True):
                found[text] = made
                self._put(kind, text, made)
        return [found[text] for text in texts]

    def _get(self, kind: str, text: str) -> Vectors | None:
        known = self._known.get((kind, text))
        if known is not None:
            self._known.move_to_end((kind, text))
        return known

    def _put(self, kind: str, text: str, made: Vectors) -> None:
        before = self._known.pop((kind, text), None)
        self._known[kind, text] = made
        self._rows += _cost(made) - (_cost(before) if before is not None else 0)
        while self._rows > self._limit and len(self._known) > 1:
            _, gone = self._known.popitem(last=False)
            self._rows -= _cost(gone)


def _cost(made: Vectors) -> int:
    """Rows; a text without any takes room too."""
    return max(1, len(made))


_caches: WeakKeyDictionary[Embedder, VectorCache] = WeakKeyDictionary()


async def of_sentences(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """A row of length 1 a text: (texts, dimension)."""
    import numpy as np

    async def make(missing: list[str]) -> list[Vectors]:
        return [row[None] for row in await embedder.embed(missing)]

    rows = await _caches.setdefault(embedder, VectorCache()).of("sentence", texts, make)
    return np.concatenate(rows) if rows else np.zeros((0, embedder.dimension), np.float32)


async def of_tokens(embedder: Embedder, texts: Sequence[str]) -> list[Vectors]:
    """For each text a row of length 1 a token, special tokens left out, however long the text is."""
    import numpy as np

    async def make(missing: list[str]) -> list[Vectors]:
        parts = [stretches(embedder, text) if text.strip() else [] for text in missing]
        made = iter(await embedder.tokens([part for some in parts for part in some]))
        nothing = np.zeros((0, embedder.dimension), np.float32)
        return [np.concatenate([nothing, *(next(made) for _ in some)]) for some in parts]

    return await _caches.setdefault(embedder, VectorCache()).of("tokens", texts, make)


def stretches(embedder: Embedder, text: str) -> list[str]:
    """The text where it has room, else in runs of whole sentences that do. A single sentence without room is cut there
    by the embedder.
    """
    if embedder.count([text])[0] <= ROOM:
        return [text]
    runs: list[list[str]] = [[]]
    used = 0
    lines = sentences(text) or (text,)
    for sentence, tokens in zip(lines, embedder.count(lines), strict=True):
        if runs[-1] and used + tokens > ROOM:
            runs.append([])
            used = 0
        runs[-1].append(sentence)
        used += tokens
    return [" ".join(run) for run in runs]


# --- BERTScore ----------------------------------------------------------------------------------------------------


class TokenMatch(NamedTuple):
    """Of one text with another."""

    precision: float
    recall: float
    f1: float


class TextPart(NamedTuple):
    """A part of a text against a reference: its tokens, the sum of their best cosines, and the reference's best."""

    tokens: int
    total: float
    best: Vectors


_matched: WeakKeyDictionary[Embedder, OrderedDict[tuple[str, tuple[str, ...]], TextPart | None]] = WeakKeyDictionary()


def against(part: Vectors, wanted: Vectors) -> TextPart:
    import numpy as np

    cosines = part @ wanted.T
    return TextPart(len(part), float(cosines.max(axis=1).sum(dtype=np.float64)), cosines.max(axis=0))


def joined(parts: Sequence[TextPart]) -> TokenMatch:
    """The parts of one text as a whole."""
    import numpy as np

    best = parts[0].best
    for part in parts[1:]:
        best = np.maximum(best, part.best)
    p = math.fsum(part.total for part in parts) / sum(part.tokens for part in parts)
    r = float(best.mean(dtype=np.float64))
    return TokenMatch(p, r, 2 * p * r / (p + r) if p > 0 and r > 0 else 0.0)


def greedy(text: Sequence[Vectors], reference: Sequence[Vectors]) -> TokenMatch | None:
    """Of two texts in parts; None where one has no token. Parts are taken one by one, which bounds the memory."""
    import numpy as np

    text, reference = [part for part in text if len(part)], [part for part in reference if len(part)]
    if not text or not reference:
        return None
    wanted = np.concatenate(reference)
    return joined([against(part, wanted) for part in text])


async def _answer(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    text, *golds = await of_tokens(resources.embedder, [answer_alone(record) or ABSTENTION, *record.gold])
    matches = [
        (match, gold) for gold, tokens in zip(record.gold, golds, strict=True) if (match := greedy([text], [tokens]))
    ]
    if not matches:
        return _scores("", None, "no words to compare")
    match, gold = max(matches, key=lambda one: one[0].f1)
    return _scores("", match, details={"gold": gold} if len(record.gold) > 1 else {})


async def _context(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    found, wanted = evidence_texts(record), gold_texts(record)
    if not wanted:
        return _scores("context-", None, "no gold evidence in words")
    parts = await _parts(resources.embedder, found, tuple(wanted))
    match = joined(parts) if parts else None
    return _scores("context-", match, "" if match else "no words to compare")


async def _parts(embedder: Embedder, found: Sequence[str], wanted: tuple[str, ...]) -> list[TextPart]:
    """Each piece against the gold, looked at once however many ways found it: they find much the same."""
    import numpy as np

    known = _matched.setdefault(embedder, OrderedDict())
    missing = [text for text in dict.fromkeys(found) if (text, wanted) not in known]
    vectors = await of_tokens(embedder, [*missing, *wanted]) if missing else []
    gold = [part for part in vectors[len(missing) :] if len(part)]
    for text, tokens in zip(missing, vectors, strict=False):
        known[text, wanted] = against(tokens, np.concatenate(gold)) if gold and len(tokens) else None
    parts = [part for text in found if (part := known[text, wanted]) is not None]
    while len(known) > SEEN:
        known.popitem(last=False)
    return parts


def _scores(
    of: str, match: TokenMatch | None, why: str = "", details: Mapping[str, str] | None = None
) -> dict[str, Score]:
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
        Metric("bertscore-p", "embedding", f"tokens of the answer in the gold answer{_BLIND}", ("gold", "answer"),
               refusal="as text"),
        Metric("bertscore-r", "embedding", f"tokens of the gold answer in the answer{_BLIND}", ("gold", "answer"),
               refusal="as text"),
        Metric("bertscore-f1", "embedding", f"harmonic mean of the two{_BLIND}", ("gold", "answer"), refusal="as text"),
    ),
    _answer,
)  # fmt: skip

CONTEXT_BERTSCORE = Judge(
    "context-bertscore",
    "tokens of what was found matched with those of the gold evidence",
    "embedder",
    (
        Metric("context-bertscore-p", "embedding", f"tokens of what was found in the gold evidence{_BLIND}",
               ("answer", "evidence"), refusal="no matter"),
        Metric("context-bertscore-r", "embedding", f"tokens of the gold evidence in what was found{_BLIND}",
               ("answer", "evidence"), refusal="no matter"),
        Metric("context-bertscore-f1", "embedding", f"harmonic mean of the two{_BLIND}", ("answer", "evidence"),
               refusal="no matter"),
    ),
    _context,
)  # fmt: skip


# --- Sentences ----------------------------------------------------------------------------------------------------


async def best_cosines(embedder: Embedder, texts: Sequence[str], among: Sequence[str]) -> Vectors:
    """For each text the cosine to the nearest of the others; both must hold one at least."""
    rows = await of_sentences(embedder, [*texts, *among])
    best: Vectors = (rows[: len(texts)] @ rows[len(texts) :].T).max(axis=1)
    return best


async def _coverage(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    answer = sentences(answer_alone(record) or ABSTENTION)
    golds = [found for gold in record.gold if (found := sentences(gold))]
    if not answer or not golds:
        return {"coverage": Score(None, "no words to compare")}
    values = [float((await best_cosines(resources.embedder, gold, answer)).mean()) for gold in golds]
    return {"coverage": Score(max(values))}


async def _support(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    answer = sentences(answer_of(record) or ABSTENTION)
    found = list(dict.fromkeys(sentence for text in evidence_texts(record) for sentence in sentences(text)))
    if not answer or not found:
        return {name: Score(None, "no words to compare") for name in ("support-hard", "support-soft")}
    best = await best_cosines(resources.embedder, answer, found)
    return {
        "support-hard": Score(float((best >= THRESHOLD).mean()), details={"sentences": len(answer)}),
        "support-soft": Score(float(best.mean()), details={"sentences": len(answer)}),
    }


COVERAGE = Judge(
    "coverage",
    "sentences of the gold answer found again in the answer",
    "embedder",
    (
        Metric("coverage", "embedding", "mean, over gold sentences, of the best cosine to a sentence of the answer",
               ("gold", "answer"), refusal="as text"),
    ),
    _coverage,
)  # fmt: skip

SUPPORT = Judge(
    "support",
    "sentences of the answer found again in the evidence",
    "embedder",
    (
        Metric("support-hard", "embedding", f"answer sentences with cosine {THRESHOLD} or more to one of the evidence",
               ("evidence",), refusal="left out", source_refusal="as text"),
        Metric("support-soft", "embedding", "mean, over answer sentences, of the best cosine to one of the evidence",
               ("evidence",), refusal="left out", source_refusal="as text"),
    ),
    _support,
)  # fmt: skip
