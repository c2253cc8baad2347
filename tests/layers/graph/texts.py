"""Texts as documents that layers extract from."""

from __future__ import annotations

from collections.abc import Mapping

from ragways.core.types import Document
from ragways.corpus.source import LoadOptions
from ragways.corpus.structure import Chunking, structure
from ragways.corpus.wiki.pages import page
from ragways.store.source import Source

CHUNKING = Chunking(1000, 0)


def documents(texts: Mapping[str, str]) -> list[Document]:
    """A document a text, by name: wikitext where the name ends so."""
    return [
        page(text, name, name.removesuffix(".wiki"), LoadOptions())
        if name.endswith(".wiki")
        else Document(name, name, text, "text")
        for name, text in texts.items()
    ]


def sources(texts: Mapping[str, str], chunking: Chunking = CHUNKING) -> list[Source]:
    """The same as layers see them, by number as a store gives them."""
    found = (Source.of(structure(document, chunking), with_title=False) for document in documents(texts))
    return sorted(found, key=lambda source: source.number)
