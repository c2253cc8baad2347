"""Text of documents and models made harmless to whatever renders an answer."""

from __future__ import annotations

import re
from dataclasses import replace

from ragways.core.step import Step
from ragways.core.types import Answer

_SCHEME = re.compile(r"\b([a-z][a-z0-9+.-]{1,20}):(?=//)|\b(javascript|data|mailto|vbscript|file):", re.IGNORECASE)
_HOST = re.compile(r"\bwww\.(?=\w)", re.IGNORECASE)
_TAG = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)
_IMAGE = re.compile(r"!(?=\[)")
_TARGET = re.compile(r"\](?=[(:])")


def defused(text: str) -> str:
    """The same words, but no link, image or tag in them works: a reader sees addresses, and nothing follows them.

    A document, or a model that a document talked into it, could otherwise have whoever shows the answer load an address
    that carries the question away.
    """
    text = _TAG.sub("&lt;", text)
    text = _IMAGE.sub("! ", text)
    text = _TARGET.sub("] ", text)
    text = _SCHEME.sub(lambda match: f"{match[1] or match[2]}[:]", text)
    return _HOST.sub("www[.]", text)


def defuse() -> Step[Answer, Answer]:
    """An answer whose text is defused; what it quotes as evidence stays word for word."""

    async def run(answer: Answer) -> Answer:
        return replace(answer, text=defused(answer.text))

    return Step("defuse", run)
