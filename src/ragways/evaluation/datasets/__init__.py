"""The one table of data sets: how each lays out its questions. Its corpus is read as any other file of records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ragways.core.errors import UsageError
from ragways.core.suggest import did_you_mean
from ragways.evaluation.datasets import graphrag_bench, hipporag, multihop_rag, plain, two_wiki_results
from ragways.evaluation.question import Question


@dataclass(frozen=True)
class Dataset:
    """A layout, with where the data comes from and under which licence."""

    name: str
    summary: str
    licence: str
    citation: str
    questions: Callable[[Path], list[Question]]


DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "hipporag",
            "MuSiQue, HotpotQA, 2WikiMultihopQA: questions of several hops with gold passages",
            "MuSiQue CC BY 4.0, HotpotQA CC BY-SA 4.0, 2WikiMultihopQA Apache-2.0",
            "Trivedi et al. 2022; Yang et al. 2018; Ho et al. 2020; layout of Gutiérrez et al. 2024",
            hipporag.questions,
        ),
        Dataset(
            "multihop-rag",
            "news articles; inference, comparison, temporal and null questions",
            "ODC-BY",
            "Tang and Yang 2024",
            multihop_rag.questions,
        ),
        Dataset(
            "graphrag-bench",
            "a textbook; questions of four kinds with evidence sentences",
            "MIT",
            "Xiang et al. 2025",
            graphrag_bench.questions,
        ),
        Dataset(
            "2wiki-results",
            "2Wiki passages; questions with gold titles beside what a system found",
            "Apache-2.0, MIT",
            "Ho et al. 2020",
            two_wiki_results.questions,
        ),
        Dataset("plain", "a set of one's own, JSON lines", "", "", plain.questions),
    )
}


def find_dataset(name: str) -> Dataset:
    if name not in DATASETS:
        raise UsageError(f"there is no format {name!r}", did_you_mean(name, DATASETS))
    return DATASETS[name]


def load_questions(format: str, file: Path) -> list[Question]:
    """The questions of a file, or an error that says what does not fit."""
    try:
        return find_dataset(format).questions(file)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{file} is not laid out as {format} ({error!r})", "check --format and --questions") from error
