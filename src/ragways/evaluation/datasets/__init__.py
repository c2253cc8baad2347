"""The one table of data sets: how each lays out its questions and, where they hold it, its corpus.

Any other corpus is read as any other file of records (`ragways.corpus`).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragways.core.errors import UsageError, did_you_mean
from ragways.evaluation.datasets import (
    graphrag_bench,
    hipporag,
    monaco,
    multihop_rag,
    plain,
    quality,
    ragrouter_bench,
    squality,
    two_wiki_results,
    ultradomain,
    windows,
)
from ragways.evaluation.question import Question

_WRONG = (KeyError, TypeError, ValueError, AttributeError, IndexError)
"""What reading a file in a layout that is not its own runs into."""


@dataclass(frozen=True)
class Dataset:
    """A layout, with where the data comes from and under which licence.

    `corpus` gives the documents as plain records where the file of questions holds them (or lies beside them); `seen`
    is False where the layout was learnt from the code that reads it and not tried on the data.
    """

    name: str
    summary: str
    licence: str
    citation: str
    questions: Callable[[Path], list[Question]]
    corpus: Callable[[Path], Iterable[dict[str, Any]]] | None = None
    seen: bool = True


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
            "a textbook; questions of four kinds, from facts to creative writing",
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
        Dataset(
            "quality",
            "long articles and stories; questions with four options, answered by the gold one",
            "CC BY 4.0; each article under its own licence",
            "Pang et al. 2022",
            quality.questions,
            quality.corpus,
            seen=False,
        ),
        Dataset(
            "squality",
            "long stories; questions answered by summaries that people wrote",
            "CC BY 4.0; stories under Project Gutenberg's licence",
            "Wang et al. 2022",
            squality.questions,
            squality.corpus,
        ),
        Dataset(
            "monaco",
            "questions answered from dozens of Wikipedia pages, often with lists",
            "see the data set's card",
            "Wolfson et al. 2025",
            monaco.questions,
            seen=False,
        ),
        Dataset(
            "ultradomain",
            "textbooks and other long texts of 18 domains, each question with its whole context",
            "Apache-2.0",
            "Qian et al. 2024",
            ultradomain.questions,
            ultradomain.corpus,
            seen=False,
        ),
        Dataset(
            "ragrouter-bench",
            "factual, reasoning and summary questions over four corpora",
            "not stated; see those it is built from",
            "Wang et al. 2026",
            ragrouter_bench.questions,
            ragrouter_bench.corpus,
            seen=False,
        ),
        Dataset(
            "windows",
            "Wikipedia articles; evolved questions with gold sentences",
            "MIT; articles CC BY-SA",
            "Leviathanium 2025 (semantic-rag-chunking-research)",
            windows.questions,
        ),
        Dataset("plain", "a set of one's own, JSON lines", "", "", plain.questions),
    )
}


def find_dataset(name: str) -> Dataset:
    if name not in DATASETS:
        raise UsageError(f"there is no format {name!r}", did_you_mean(name, DATASETS))
    return DATASETS[name]


def load_questions(format: str, file: Path) -> list[Question]:
    """The questions of a file, at least one, each with a text and an id of its own; or an error that says what does not
    fit. An id that stands there twice gets a number, since a record is found again by it.
    """
    try:
        found = find_dataset(format).questions(file)
    except _WRONG as error:
        raise UsageError(f"{file} is not laid out as {format} ({error!r})", "check --format and --questions") from error
    if not found:
        raise UsageError(f"{file} holds no question", "name a file of questions")
    for question in found:
        if not question.text.strip():
            raise UsageError(f"question {question.id[:80]!r} of {file} has no text", "check --format and --questions")
    return _told_apart(found)


def _told_apart(questions: list[Question]) -> list[Question]:
    taken = {question.id for question in questions}
    count: Counter[str] = Counter()
    apart = []
    for question in questions:
        count[question.id] += 1
        id, number = question.id, count[question.id]
        while number > 1 and (id := f"{question.id}#{number}") in taken:
            number += 1
        count[question.id] = number
        taken.add(id)
        apart.append(question if id == question.id else replace(question, id=id))
    return apart


def write_corpus(dataset: Dataset, file: Path, folder: Path) -> Path:
    """The corpus that comes with the questions, as records that the loader reads. The file is named after its
    content, so that equal questions give equal documents wherever they lie.
    """
    if dataset.corpus is None:
        raise UsageError(f"{dataset.name} keeps its corpus in a file of its own", "name it with --corpus")
    try:
        records = [record for record in dataset.corpus(file) if str(record.get("text", "")).strip()]
    except _WRONG as error:
        raise UsageError(f"{file} is not laid out as {dataset.name} ({error!r})", "check --format") from error
    if not records:
        raise UsageError(f"{file} holds no text to index", "name the corpus with --corpus")
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode("utf-8", "surrogatepass"))
    return write_lines(folder / f"{dataset.name}-{digest.hexdigest()[:12]}.jsonl", lines)


def write_lines(file: Path, lines: Iterable[str]) -> Path:
    """All of the lines, or, if killed, what was there before."""
    from ragways.index.export import replacing

    with replacing(file) as draft:
        file.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8", errors="replace") as stream:
            stream.writelines(lines)
    return file
