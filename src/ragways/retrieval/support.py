"""Support, estimated, of what an answer cites: a weak signal beside each citation, where the settings ask for it.

It changes nothing of the answer, and nothing is left out or refused by it (`answer.support`; see `reading/support.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ragways.core.runtime import together
from ragways.core.types import Answer
from ragways.corpus.structure import sentence_spans
from ragways.reading.answers import PassageReader
from ragways.reading.support import estimate_support

MOST = 16
"""Citations that are looked at: one pass of the reader each."""
SIZE = 240
"""Characters of a quote that are looked at: with the sentence, about 128 tokens."""
_MARKS = re.compile(r"(?:\[\d+\])+")


async def with_support(reader: PassageReader | None, answer: Answer) -> Answer:
    """The answer with an estimate for each of its citations, in their order: that the quote, under the title of its
    piece, bears out the sentence that cites it.
    """
    said = cited_sentences(answer.text, sorted({citation.sentence for citation in answer.citations}))
    titles = {hit.piece.id: hit.piece.title for hit in answer.evidence.items}
    estimates = await together(
        estimate_support(
            reader, said[one.sentence], [(titles.get(one.piece, ""), sentences(one.quote) or (one.quote,))], size=SIZE
        )
        for one in answer.citations[:MOST]
    )
    return replace(answer, support=tuple(estimate.chance for estimate in estimates))


def cited_sentences(answer: str, numbers: Sequence[int]) -> dict[int, str]:
    """The sentences of an answer that cite something, by their numbers.

    A cited sentence ends with its marks, so that the first marks are those of the first number, and so on. Where marks
    and numbers do not fit, as when a model wrote marks of its own, the sentences of the answer are counted.
    """
    ends = list(_MARKS.finditer(answer))
    if len(ends) == len(numbers):
        found, start, before = {}, 0, -1
        for number, end in zip(numbers, ends, strict=True):
            text = answer[start : end.start()].strip()
            # Sentences that cite nothing stand between two that do; what they say is not this one's.
            found[number] = (sentences(text) or (text,))[-1] if number - before > 1 else text
            start, before = end.end(), number
        return found
    plain = " ".join(_MARKS.sub(" ", answer).split())
    counted = sentences(plain) or (plain,)
    return {number: counted[number] if 0 <= number < len(counted) else plain for number in numbers}


@lru_cache(maxsize=8192)
def sentences(text: str) -> tuple[str, ...]:
    """Sentences of a text; those without a letter or digit say nothing and are left out."""
    found = (text[start:end] for start, end in sentence_spans(text))
    return tuple(sentence for sentence in found if any(sign.isalnum() for sign in sentence))
