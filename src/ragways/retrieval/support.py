"""Support, estimated, of what an answer cites: a weak signal beside each citation, where the settings ask for it.

It changes nothing of the answer, and nothing is left out or refused by it (`answer.support`; see `reading/support.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ragways.core.markdown import claims, unmarked
from ragways.core.runtime import together
from ragways.core.types import Answer
from ragways.corpus.structure import sentence_spans
from ragways.reading.answers import PassageReader
from ragways.reading.support import estimate_support

MOST = 16
"""Citations that are looked at: one pass of the reader each."""
SIZE = 240
"""Characters of a quote that are looked at: with the sentence, about 128 tokens."""


async def with_support(reader: PassageReader | None, answer: Answer) -> Answer:
    """The answer with an estimate for each of its citations, in their order: that the quote, under the title of its
    piece, bears out the sentence that cites it.
    """
    numbers = sorted({citation.sentence for citation in answer.citations})
    claimed = cited_sentences(answer.text, numbers, len(answer.evidence.items))
    titles = {hit.piece.id: hit.piece.title for hit in answer.evidence.items}
    estimates = await together(
        estimate_support(
            reader,
            claimed[one.sentence],
            [(titles.get(one.piece, ""), sentences(one.quote) or (one.quote,))],
            size=SIZE,
        )
        for one in answer.citations[:MOST]
    )
    return replace(answer, support=tuple(estimate.chance for estimate in estimates))


def cited_sentences(answer: str, numbers: Sequence[int], shown: int) -> dict[int, str]:
    """The sentences of an answer that cite something, by their numbers. `shown` passages were given with it.

    The first claim with a citation is that of the first number, and so on. Where claims and numbers do not fit, as when
    a document's own words hold such marks, the sentences of the answer are counted.
    """
    cited = claims(answer, shown)
    if len(cited) == len(numbers):
        return {number: claim.text for number, claim in zip(numbers, cited, strict=True)}
    plain = " ".join(unmarked(answer).split())
    counted = sentences(plain) or (plain,)
    return {number: counted[number] if 0 <= number < len(counted) else plain for number in numbers}


@lru_cache(maxsize=8192)
def sentences(text: str) -> tuple[str, ...]:
    """Sentences of a text; those without a letter or digit say nothing and are left out."""
    found = (text[start:end] for start, end in sentence_spans(text))
    return tuple(sentence for sentence in found if any(sign.isalnum() for sign in sentence))
