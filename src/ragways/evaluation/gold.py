"""The documents of gold evidence in an index, and its ranks among the hits of a paradigm."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ragways.core.types import Hit, Hits, title_name
from ragways.evaluation.question import Gold, Question, holds, plain_words
from ragways.index.open import Index
from ragways.layers.words import terms

MOST = 0.7
"""Share of a statement's words that a piece must have: of GraphRAG-Bench's, 70 of 100 are then in the text at all."""


class GoldIndex:
    """Which documents of an index a piece of gold evidence means."""

    def __init__(self, index: Index) -> None:
        self._by_title: dict[str, list[str]] = defaultdict(list)
        self._by_key: dict[str, str] = {}
        self._index = index
        for id, key, title in index.documents():
            self._by_title[title_name(title)].append(id)
            self._by_key[key] = id
            self._by_key.setdefault(key.rpartition("#")[2], id)

    def documents(self, gold: Gold) -> set[str]:
        """The documents any of which will do; none where it is not in the index."""
        if gold.key:
            return {self._by_key[gold.key]} if gold.key in self._by_key else set()
        named = self._by_title[title_name(gold.title)]
        if gold.text and len(named) > 1:
            return {id for id in named if self._says(id, gold.text)}
        return set(named)

    def _says(self, id: str, text: str) -> bool:
        document = self._index.document(id)
        return document is not None and plain_words(text)[:2000] in plain_words(document.text)

    def ranks(self, question: Question, hits: Hits) -> list[int | None]:
        """For each piece of gold, its rank: among documents, or among pieces for a quote."""
        order = {id: n for n, id in enumerate(dict.fromkeys(hit.piece.document for hit in hits.items), start=1)}
        return self._found(question, hits.items, order)

    def places(self, question: Question, shown: Sequence[Hit]) -> list[int | None]:
        """For each piece of gold, its place among the pieces that were shown: the first of its document, or with its
        quote.
        """
        order: dict[str, int] = {}
        for n, hit in enumerate(shown, start=1):
            order.setdefault(hit.piece.document, n)
        return self._found(question, shown, order)

    def _found(self, question: Question, hits: Sequence[Hit], order: dict[str, int]) -> list[int | None]:
        stated = any(gold.statement for gold in question.gold)
        texts = [frozenset(terms(hit.piece.text)) for hit in hits] if stated else []
        return [_stated(gold, texts) if gold.statement else self._rank(gold, hits, order) for gold in question.gold]

    def _rank(self, gold: Gold, hits: Sequence[Hit], order: dict[str, int]) -> int | None:
        if gold.quote:
            return next((n for n, hit in enumerate(hits, start=1) if holds(hit.piece, gold)), None)
        if gold.is_passage:
            return next((n for n, hit in enumerate(hits, start=1) if hit.piece.id == gold.id), None)
        return min((order[id] for id in self.documents(gold) if id in order), default=None)


def _stated(gold: Gold, texts: Sequence[frozenset[str]]) -> int | None:
    """The first piece that has most of a statement's words. Two texts that say the same seldom share all of them."""
    words = set(terms(gold.statement))
    most = MOST * len(words)
    return next((n for n, text in enumerate(texts, start=1) if words and len(words & text) >= most), None)
