"""The one table of data sets: how each lays out its questions and, where they hold it, its corpus.

Any other corpus is read as any other file of records (`ragways.corpus`). Other packages add layouts by the entry point
`ragways.datasets`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ragways.core.errors import UsageError, did_you_mean
from ragways.core.registry import Registry
from ragways.evaluation.datasets import long_texts, multihop, reading
from ragways.evaluation.datasets.reading import DatasetDocument
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
    corpus: Callable[[Path], Iterable[DatasetDocument]] | None = None
    seen: bool = True


DATASETS: Registry[Dataset] = Registry(
    "ragways.datasets",
    "format",
    Dataset,
    (
        Dataset(
            "hipporag",
            "MuSiQue, HotpotQA, 2WikiMultihopQA: questions of several hops with gold passages",
            "MuSiQue CC BY 4.0, HotpotQA CC BY-SA 4.0, 2WikiMultihopQA Apache-2.0",
            "Trivedi et al. 2022; Yang et al. 2018; Ho et al. 2020; layout of Gutiérrez et al. 2024",
            multihop.hipporag_questions,
        ),
        Dataset(
            "multihop-rag",
            "news articles; inference, comparison, temporal and null questions",
            "ODC-BY",
            "Tang and Yang 2024",
            multihop.multihop_rag_questions,
        ),
        Dataset(
            "graphrag-bench",
            "a textbook; questions of four kinds, from facts to creative writing",
            "MIT",
            "Xiang et al. 2025",
            multihop.graphrag_bench_questions,
        ),
        Dataset(
            "2wiki-results",
            "2Wiki passages; questions with gold titles beside what a system found",
            "Apache-2.0, MIT",
            "Ho et al. 2020",
            multihop.two_wiki_questions,
        ),
        Dataset(
            "quality",
            "long articles and stories; questions with four options, answered by the gold one",
            "CC BY 4.0; each article under its own licence",
            "Pang et al. 2022",
            long_texts.quality_questions,
            long_texts.quality_corpus,
            seen=False,
        ),
        Dataset(
            "squality",
            "long stories; questions answered by summaries that people wrote",
            "CC BY 4.0; stories under Project Gutenberg's licence",
            "Wang et al. 2022",
            long_texts.squality_questions,
            long_texts.squality_corpus,
        ),
        Dataset(
            "monaco",
            "questions answered from dozens of Wikipedia pages, often with lists",
            "see the data set's card",
            "Wolfson et al. 2025",
            multihop.monaco_questions,
            seen=False,
        ),
        Dataset(
            "ultradomain",
            "textbooks and other long texts of 18 domains, each question with its whole context",
            "Apache-2.0",
            "Qian et al. 2024",
            long_texts.ultradomain_questions,
            long_texts.ultradomain_corpus,
            seen=False,
        ),
        Dataset(
            "ragrouter-bench",
            "factual, reasoning and summary questions over four corpora",
            "not stated; see those it is built from",
            "Wang et al. 2026",
            multihop.ragrouter_questions,
            multihop.ragrouter_corpus,
            seen=False,
        ),
        Dataset(
            "windows",
            "Wikipedia articles; evolved questions with gold sentences",
            "MIT; articles CC BY-SA",
            "Leviathanium 2025 (semantic-rag-chunking-research)",
            multihop.windows_questions,
        ),
        Dataset("plain", "a set of one's own, JSON lines", "", "", reading.plain_questions),
    ),
)


def load_questions(format: str, file: Path) -> list[Question]:
    """The questions of a file, at least one, each with a text and an id of its own; or an error that says what does not
    fit. An id that stands there twice gets a number, since a record is found again by it.
    """
    try:
        found = DATASETS.find(format).questions(file)
    except _WRONG as error:
        raise UsageError(f"{file} is not laid out as {format} ({error!r})", "check --format and --questions") from error
    if not found:
        raise UsageError(f"{file} holds no question", "name a file of questions")
    for question in found:
        if not question.text.strip():
            raise UsageError(f"question {question.id[:80]!r} of {file} has no text", "check --format and --questions")
    return _with_own_ids(found)


def _with_own_ids(questions: list[Question]) -> list[Question]:
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
        documents = [document for document in dataset.corpus(file) if document.text.strip()]
    except _WRONG as error:
        raise UsageError(f"{file} is not laid out as {dataset.name} ({error!r})", "check --format") from error
    if not documents:
        raise UsageError(f"{file} holds no text to index", "name the corpus with --corpus")
    rows = ({"id": one.id, "title": one.title, "text": one.text, **one.metadata} for one in documents)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode("utf-8", "surrogatepass"))
    return write_lines(folder / f"{dataset.name}-{digest.hexdigest()[:12]}.jsonl", lines)


def write_lines(file: Path, lines: Iterable[str]) -> Path:
    """All of the lines, or, if killed, what was there before."""
    from ragways.index.export import replacing

    with replacing(file) as draft, draft.open("w", encoding="utf-8", errors="replace") as stream:
        stream.writelines(lines)
    return file


# Data sets by name: where their files lie in a folder of data, as they are published or as this project keeps them.

_HIPPORAG_CORPUS = ("corpus.json*", "corpus.jsonl*", "*_corpus.json*")


@dataclass(frozen=True)
class KnownFiles:
    """A layout, and the names that its files go by; no corpus means that the questions hold it or lie beside it."""

    format: str
    questions: tuple[str, ...]
    corpus: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """Names of the folder it may lie in, beside its own."""


KNOWN: dict[str, KnownFiles] = {
    "musique": KnownFiles("hipporag", ("questions.json*", "musique*.json*"), _HIPPORAG_CORPUS),
    "hotpotqa": KnownFiles("hipporag", ("questions.json*", "hotpotqa*.json*"), _HIPPORAG_CORPUS),
    "2wikimultihopqa": KnownFiles(
        "hipporag", ("questions.json*", "2wikimultihopqa*.json*"), _HIPPORAG_CORPUS, ("2wiki", "2wiki-dev400")
    ),
    "multihop-rag": KnownFiles("multihop-rag", ("MultiHopRAG*.json*",), ("corpus.json*", "corpus-full*.json*")),
    "graphrag-bench": KnownFiles(
        "graphrag-bench", ("*questions*.json*",), ("*_corpus.json*", "medical.json*", "novel.json*")
    ),
    "quality": KnownFiles("quality", ("QuALITY*",)),
    "squality": KnownFiles("squality", ("dev.jsonl*", "test.jsonl*", "*.jsonl*")),
    "monaco": KnownFiles("monaco", ("monaco*.json*",)),
    "ultradomain": KnownFiles("ultradomain", ("*.jsonl*",)),
    "ragrouter-bench": KnownFiles("ragrouter-bench", ("Question.json*", "*[Qq]uestion*.json*")),
    "windows": KnownFiles("windows", ("50qa*.csv*", "20qa*.csv*", "*.csv*"), ("wiki-articles*.json*", "wiki.json*")),
}


@dataclass(frozen=True)
class DatasetFiles:
    """The files of a data set on this machine."""

    format: str
    questions: Path
    corpus: Path | None


def find_data(name: str, folder: Path | None, known: Mapping[str, KnownFiles] = KNOWN) -> DatasetFiles:
    """A data set in a folder of data, or in a folder of its name there; an error says what was looked for."""
    if name not in known:
        raise UsageError(f"there is no data set {name!r}", did_you_mean(name, known))
    if folder is None:
        raise UsageError(f"where {name} lies is not known", "say so with --data FOLDER, or in the setting data")
    files = known[name]
    for place in (*(folder / each for each in (name, *files.folders)), folder):
        questions, corpus = _first(place, files.questions), _first(place, files.corpus)
        if questions is not None and (corpus is not None or not files.corpus):
            return DatasetFiles(files.format, questions, corpus)
    wanted = " and ".join(" or ".join(names) for names in (files.questions, files.corpus) if names)
    raise UsageError(f"{folder} holds no {name}", f"put there, or in a folder {name}: {wanted}")


def _first(place: Path, names: tuple[str, ...]) -> Path | None:
    return next((file for name in names for file in sorted(place.glob(name)) if file.is_file()), None)
