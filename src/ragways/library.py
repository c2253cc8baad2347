"""ragways from Python, without `async`: build an index, open it, ask it.

import ragways

ragways.build(["docs"], index="my-index")
with ragways.open("my-index") as corpus:
    result = corpus.ask("Who built the lighthouse?", "hybrid-words")
    print(result.answer.text, [citation.quote for citation in result.answer.citations])
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from ragways.assemble import opened, recipe_of
from ragways.core.runtime import ProgressCallback, silent
from ragways.core.trace import Budget, spending
from ragways.index.build import build as build_index
from ragways.index.layers import USUAL, check_layers
from ragways.index.update import Summary
from ragways.retrieval.ask import Result, ask
from ragways.settings import Settings, limit_threads, read_settings

limit_threads()


def build(
    paths: Iterable[str | Path],
    index: str | Path | None = None,
    *,
    layers: Iterable[str] = USUAL,
    settings: Settings | None = None,
    budget: float | None = None,
    rebuild: bool = False,
    report: ProgressCallback = silent,
) -> Summary:
    """Index files and folders, or bring an index up to date with them; `budget` is in USD."""
    chosen = _settings(settings, index)
    recipe = recipe_of(chosen, check_layers(layers))
    with spending(Budget(usd=budget)):
        return asyncio.run(build_index(chosen.index, list(map(Path, paths)), recipe, rebuild=rebuild, report=report))


class Corpus:
    """An open index, for asking. Use it in a `with` block."""

    def __init__(self, settings: Settings) -> None:
        self._runner = asyncio.Runner()
        self._opened = opened(settings)
        self._settings = settings

    def __enter__(self) -> Corpus:
        try:
            self.resources = self._runner.run(self._opened.__aenter__())
        except BaseException:
            self._runner.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._runner.run(self._opened.__aexit__(kind, error, trace))
        finally:
            self._runner.close()

    def ask(self, question: str, paradigm: str = "hybrid-words", **settings: Any) -> Result:  # noqa: ANN401
        """Answer one question in one way; further arguments are settings of the paradigm."""
        chosen = {**self._settings.paradigms.get(paradigm, {}), **settings}
        return self._runner.run(ask(self.resources, question, paradigm, chosen))


def open(index: str | Path | None = None, *, settings: Settings | None = None) -> Corpus:
    """An index that is there already, opened for asking."""
    return Corpus(_settings(settings, index))


def _settings(settings: Settings | None, index: str | Path | None) -> Settings:
    chosen = settings or read_settings()
    return chosen if index is None else chosen.model_copy(update={"index": Path(index)})
