"""ragways: one index of a corpus, every way of retrieval-augmented answering on top of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragways.library import Corpus as Corpus
    from ragways.library import build as build
    from ragways.library import open as open

__version__ = "0.1.0"
__all__ = ["Corpus", "__version__", "build", "open"]


def __getattr__(name: str) -> object:
    """Heavy parts are loaded when they are first used."""
    if name in ("Corpus", "build", "open"):
        from ragways import library

        return getattr(library, name)
    raise AttributeError(f"module 'ragways' has no attribute {name!r}")
