"""Where questions and their corpus come from: files that were named, or a data set by its name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from ragways.core.errors import UsageError

if TYPE_CHECKING:
    from ragways.core.runtime import ProgressCallback
    from ragways.evaluation.datasets import DatasetFiles
    from ragways.settings import Settings

DEMO = "demo"
"""The bundled questions over the bundled corpus."""


def source(
    settings: Settings,
    dataset: str | None,
    data: Path | None,
    questions: Path | None,
    format: str | None,
    corpus: Path | None,
) -> DatasetFiles:
    """The files; those that were named go before what the data set would be read from."""
    from ragways.evaluation.datasets import KNOWN, DatasetFiles, KnownFiles, find_data

    if dataset is None:
        if questions is None:
            raise UsageError("no questions are named", "give --questions FILE, or --dataset NAME")
        return DatasetFiles(format or "plain", questions, corpus)
    if dataset == DEMO:
        bundle = Path(str(resources.files("ragways"))) / "demo"
        found = DatasetFiles("plain", bundle / "questions.jsonl", bundle / "corpus")
    else:
        known = {**KNOWN, DEMO: KnownFiles("plain", ())}
        found = find_data(dataset, data or settings.data, known)
    return DatasetFiles(format or found.format, questions or found.questions, corpus or found.corpus)


def corpus_of(found: DatasetFiles, settings: Settings) -> Path:
    """The corpus: a file or folder of its own, or what the questions hold, written out."""
    from ragways.evaluation.datasets import DATASETS, write_corpus

    if found.corpus is not None:
        return found.corpus
    return write_corpus(DATASETS.find(found.format), found.questions, settings.cache / "evaluation" / "corpora")


async def indexed(
    settings: Settings, corpus: Path, paradigms: Iterable[str], report: ProgressCallback, *, openie: Path | None = None
) -> Settings:
    """The settings with an index of this corpus, kept in the cache, with the layers that the paradigms need."""
    from ragways.assemble import recipe_of
    from ragways.index.build import build
    from ragways.index.layers import check_layers
    from ragways.retrieval.ask import PARADIGMS

    layers = check_layers(sorted({"vectors", *(need for name in paradigms for need in PARADIGMS.find(name).needs)}))
    chosen = settings.model_copy(update={"index": _place(settings.cache, corpus, openie)})
    recipe = recipe_of(
        chosen,
        layers,
        graph=chosen.graph.model_copy(update={"method": "import", "file": str(openie)}) if openie else None,
    )
    await build(chosen.index, [corpus], recipe, report=report)
    return chosen


def _place(cache: Path, corpus: Path, openie: Path | None) -> Path:
    """An index for each corpus, found again by where the corpus lies; the build itself notices what changed in it."""
    named = f"{corpus.resolve()}|{openie.resolve() if openie else ''}"
    return cache / "evaluation" / hashlib.sha256(named.encode()).hexdigest()[:16]
