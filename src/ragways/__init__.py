"""ragways: one index of a corpus, every way of retrieval-augmented answering on top of it.

    import ragways

    ragways.build("docs", "my-index")                     # read files, make an index
    corpus = ragways.open("my-index")                     # open it
    corpus.ask("Who built the lighthouse?").answer        # an answer that cites its sentences
    corpus.retrieve("lighthouse", "fused")                # evidence alone
    corpus.compare("Who …?", ["naive", "fused"])          # several ways, side by side
    ragways.evaluate(corpus, questions, ["naive", "fused"]).table()

`abuild`, `aopen`, `aevaluate` and `AsyncCorpus` are the async twins.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ragways.core import __version__ as __version__

if TYPE_CHECKING:
    from ragways.asynchronous import AsyncCorpus as AsyncCorpus
    from ragways.asynchronous import aopen as aopen
    from ragways.core.errors import RagwaysError as RagwaysError
    from ragways.core.step import Step as Step
    from ragways.core.step import fuse as fuse
    from ragways.core.table import Table as Table
    from ragways.core.types import Answer as Answer
    from ragways.core.types import Citation as Citation
    from ragways.core.types import Document as Document
    from ragways.core.types import Evidence as Evidence
    from ragways.core.types import Hit as Hit
    from ragways.core.types import Hits as Hits
    from ragways.core.types import Origin as Origin
    from ragways.core.types import Piece as Piece
    from ragways.core.types import Query as Query
    from ragways.corpus.source import WebSource as WebSource
    from ragways.evaluation.question import Gold as Gold
    from ragways.evaluation.question import Question as Question
    from ragways.experiment import Evaluation as Evaluation
    from ragways.experiment import aevaluate as aevaluate
    from ragways.experiment import evaluate as evaluate
    from ragways.experiment import metrics as metrics
    from ragways.experiment import sample_questions as sample_questions
    from ragways.library import Corpus as Corpus
    from ragways.library import abuild as abuild
    from ragways.library import build as build
    from ragways.library import open as open
    from ragways.library import paradigms as paradigms
    from ragways.library import sample_corpus as sample_corpus
    from ragways.retrieval.ask import Result as Result
    from ragways.retrieval.paradigm import Paradigm as Paradigm
    from ragways.settings import Settings as Settings
    from ragways.settings import read_settings as read_settings


_MODULES = {
    "ragways.asynchronous": ("AsyncCorpus", "aopen"),
    "ragways.library": ("Corpus", "abuild", "build", "open", "paradigms", "sample_corpus"),
    "ragways.experiment": ("Evaluation", "aevaluate", "evaluate", "metrics", "sample_questions"),
    "ragways.core.types": ("Answer", "Citation", "Document", "Evidence", "Hit", "Hits", "Origin", "Piece", "Query"),
    "ragways.core.step": ("Step", "fuse"),
    "ragways.core.table": ("Table",),
    "ragways.core.errors": ("RagwaysError",),
    "ragways.corpus.source": ("WebSource",),
    "ragways.evaluation.question": ("Gold", "Question"),
    "ragways.retrieval.ask": ("Result",),
    "ragways.retrieval.paradigm": ("Paradigm",),
    "ragways.settings": ("Settings", "read_settings"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

# `open` is left out: `from ragways import *` must not hide Python's own.
__all__ = [
    "Answer",
    "AsyncCorpus",
    "Citation",
    "Corpus",
    "Document",
    "Evaluation",
    "Evidence",
    "Gold",
    "Hit",
    "Hits",
    "Origin",
    "Paradigm",
    "Piece",
    "Query",
    "Question",
    "RagwaysError",
    "Result",
    "Settings",
    "Step",
    "Table",
    "WebSource",
    "__version__",
    "abuild",
    "aevaluate",
    "aopen",
    "build",
    "evaluate",
    "fuse",
    "metrics",
    "paradigms",
    "read_settings",
    "sample_corpus",
    "sample_questions",
]


def __getattr__(name: str) -> object:
    """Heavy parts are loaded when they are first used."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'ragways' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(["__version__", *_HOME])
