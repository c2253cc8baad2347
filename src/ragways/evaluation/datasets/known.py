"""Data sets by name: where their files lie in a folder of data, as they are published or as this project keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ragways.core.errors import UsageError, did_you_mean

_HIPPORAG_CORPUS = ("corpus.json*", "corpus.jsonl*", "*_corpus.json*")


@dataclass(frozen=True)
class Files:
    """A layout, and the names that its files go by; no corpus means that the questions hold it or lie beside it."""

    format: str
    questions: tuple[str, ...]
    corpus: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """Names of the folder it may lie in, beside its own."""


KNOWN: dict[str, Files] = {
    "musique": Files("hipporag", ("questions.json*", "musique*.json*"), _HIPPORAG_CORPUS),
    "hotpotqa": Files("hipporag", ("questions.json*", "hotpotqa*.json*"), _HIPPORAG_CORPUS),
    "2wikimultihopqa": Files(
        "hipporag", ("questions.json*", "2wikimultihopqa*.json*"), _HIPPORAG_CORPUS, ("2wiki", "2wiki-dev400")
    ),
    "multihop-rag": Files("multihop-rag", ("MultiHopRAG*.json*",), ("corpus.json*", "corpus-full*.json*")),
    "graphrag-bench": Files(
        "graphrag-bench", ("*questions*.json*",), ("*_corpus.json*", "medical.json*", "novel.json*")
    ),
    "quality": Files("quality", ("QuALITY*",)),
    "squality": Files("squality", ("dev.jsonl*", "test.jsonl*", "*.jsonl*")),
    "monaco": Files("monaco", ("monaco*.json*",)),
    "ultradomain": Files("ultradomain", ("*.jsonl*",)),
    "ragrouter-bench": Files("ragrouter-bench", ("*[Qq]uestion*.json*", "*.json*")),
    "windows": Files("windows", ("50qa*.csv*", "*.csv*"), ("wiki-articles*.json*",)),
}


@dataclass(frozen=True)
class Found:
    """The files of a data set on this machine."""

    format: str
    questions: Path
    corpus: Path | None


def find_data(name: str, folder: Path | None, known: Mapping[str, Files] = KNOWN) -> Found:
    """A data set in a folder of data, or in a folder of its name there; an error says what was looked for."""
    if name not in known:
        raise UsageError(f"there is no data set {name!r}", did_you_mean(name, known))
    if folder is None:
        raise UsageError(f"where {name} lies is not known", "say so with --data FOLDER, or in the setting data")
    files = known[name]
    for place in (*(folder / each for each in (name, *files.folders)), folder):
        questions, corpus = _first(place, files.questions), _first(place, files.corpus)
        if questions is not None and (corpus is not None or not files.corpus):
            return Found(files.format, questions, corpus)
    wanted = " and ".join(" or ".join(names) for names in (files.questions, files.corpus) if names)
    raise UsageError(f"{folder} holds no {name}", f"put there, or in a folder {name}: {wanted}")


def _first(place: Path, names: tuple[str, ...]) -> Path | None:
    return next((file for name in names for file in sorted(place.glob(name)) if file.is_file()), None)
