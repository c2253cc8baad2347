"""The sentence of a text that a question rests on, where a model was shown all of it."""

from __future__ import annotations

import re

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.draft import Draft, Support

_END = re.compile(r"(?<=[.!?])\s+|\n+")


def quote(support: Support, draft: Draft) -> str:
    """The sentence that shares most words with answer and question, those of the answer first; of equals, the first.

    A sentence, not the chunk: what a paradigm finds may be cut otherwise.
    """
    sentences = [" ".join(sentence.split()) for sentence in _END.split(support.quote or support.text)]
    answer, question = (set(plain_words(text).split()) for text in (" ".join(draft.answers), draft.text))

    def shared(sentence: str) -> tuple[int, int]:
        words = set(plain_words(sentence).split())
        return len(words & answer), len(words & question)

    return max((sentence for sentence in sentences if sentence), key=shared, default="")
