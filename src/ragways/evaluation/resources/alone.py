"""Each paradigm measured as if it ran alone, so that what it takes does not depend on what ran before it.

What the paradigm before has loaded is released, and what any question loads is loaded before the first one is timed.
A process does not give memory back: to compare peaks, each paradigm runs in a process of its own
(`ragways eval run --apart`).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

from ragways.index.filtered import only
from ragways.index.open import Index
from ragways.models.client import ModelClient
from ragways.retrieval.ask import ask
from ragways.retrieval.paradigm import Paradigm
from ragways.retrieval.resources import Resources


@asynccontextmanager
async def alone(
    use: Resources,
    paradigm: str | Paradigm,
    settings: Mapping[str, Any],
    question: str,
    *,
    keep_vectors: bool = False,
) -> AsyncIterator[Resources]:
    """Resources of which nothing but what this paradigm needs is loaded: the index read anew, no vector known.

    To warm up, the question is asked once by rules, which takes no model call and is recorded nowhere. `keep_vectors`:
    texts that were embedded before stay so, where embedding is timed apart.
    """
    for forget in _memos():
        forget()
    gc.collect()
    index = Index.open(use.index.folder)
    if use.index.where:
        index = only(index, use.index.where)
    try:
        with suppress(Exception):  # what cannot be done by rules loads what it needs with its first question
            await ask(replace(use.over(index), model=ModelClient(None)), question, paradigm, settings)
        yield use.over(index, keep_vectors=keep_vectors)
    finally:
        index.close()


def _memos() -> Iterator[Callable[[], None]]:
    """What functions of retrieval remember of texts they have seen."""
    modules = [module for name, module in sys.modules.items() if name.startswith("ragways.retrieval.")]
    for module in modules:
        for value in list(vars(module).values()):
            if callable(clear := getattr(value, "cache_clear", None)):
                yield clear
