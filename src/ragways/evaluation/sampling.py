"""A part of a data set that is fair to its question types, and the part of its corpus that goes with it.

The thesis on MultiHop-RAG drew 50 questions of each of four types and kept the documents that their evidence names,
and no other: 200 questions, 157 documents. `sample` and `kept_documents` do that; more documents can be added for the
evidence to be looked for among.

What is drawn depends on the questions and the seed, not on their order in the file: everything is ordered by a hash of
seed and content.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ragways.core.errors import LoadError, UsageError
from ragways.core.types import Document, title_name
from ragways.evaluation.datasets import DATASETS, load_questions, write_corpus, write_lines
from ragways.evaluation.datasets.reading import plain_row
from ragways.evaluation.question import Gold, Question, plain_words

QUESTIONS, CORPUS = "questions.jsonl", "corpus.jsonl"


@dataclass(frozen=True)
class Sampled:
    """The questions, types by turns, so that the first few are as fair as all; `short`: types that had fewer than their
    share, with how many they had.
    """

    questions: tuple[Question, ...]
    of: int
    seed: int
    short: dict[str, int]

    @property
    def counts(self) -> dict[str, int]:
        """How many of each type."""
        counts: dict[str, int] = defaultdict(int)
        for question in self.questions:
            counts[question.type] += 1
        return dict(sorted(counts.items()))


def sample(
    questions: Sequence[Question], *, per_type: int | None = None, count: int | None = None, seed: int = 0
) -> Sampled:
    """`per_type` of each type, or `count` in all with as many of each type as there are. A type with too few gives all
    it has, and with `count` the others make up for it.
    """
    if (per_type is None) == (count is None):
        raise UsageError("name how many questions of each type, or how many in all", "give one of the two")
    if (per_type or count or 0) < 1:
        raise UsageError("a sample needs at least one question", "ask for more")
    by_type: dict[str, list[Question]] = defaultdict(list)
    for question in sorted(questions, key=lambda one: (_drawn(seed, one.text, *one.answers), one.id)):
        by_type[question.type].append(question)
    most = per_type if per_type is not None else len(questions)
    turns = [(turn, type, one) for type, some in by_type.items() for turn, one in enumerate(some[:most])]
    turns.sort(key=lambda each: each[:2])
    taken = tuple(one for _, _, one in turns[:count])
    share = per_type if per_type is not None else -(-len(taken) // max(len(by_type), 1))
    short = {type: len(some) for type, some in sorted(by_type.items()) if len(some) < share}
    return Sampled(taken, len(questions), seed, short)


def _drawn(seed: int, *parts: str) -> bytes:
    """Where in the order of this seed something stands."""
    digest = hashlib.blake2b(digest_size=16, key=str(seed).encode()[:64])
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


@dataclass(frozen=True)
class CorpusPart:
    """The part of a corpus that goes with questions: documents by key. `missing`: gold evidence in none of them."""

    keys: frozenset[str]
    evidence: int
    filled: int
    of: int
    missing: tuple[Gold, ...]


def kept_documents(
    questions: Iterable[Question], corpus: Iterable[Document], *, count: int | None = None, seed: int = 0
) -> CorpusPart:
    """The documents that hold gold evidence, all of them, and others drawn by the seed until there are `count`."""
    wanted = _Wanted(questions)
    drawn: list[tuple[bytes, str]] = []
    for document in corpus:
        if document.redirect is None:
            wanted.look(document)
            drawn.append((_drawn(seed, own_name(document), document.title, document.text), document.key))
    if not drawn:
        raise UsageError("the corpus holds no document", "name another with --corpus")
    evidence, missing = wanted.found()
    others = [key for _, key in sorted(drawn) if key not in evidence]
    filled = others[: max((count or 0) - len(evidence), 0)]
    return CorpusPart(frozenset((*evidence, *filled)), len(evidence), len(filled), len(drawn), missing)


def own_name(document: Document) -> str:
    """A document's name in its file: `dump.json#Title` is `Title`, as gold evidence names it."""
    return document.key.partition("#")[2] or document.key


class _Wanted:
    """Gold evidence, and the documents that were seen to hold it. The same rules as for gold in an index."""

    def __init__(self, questions: Iterable[Question]) -> None:
        gold = list(dict.fromkeys(gold for question in questions for gold in question.gold))
        self._keys = {one.key: one for one in gold if one.key and not one.quote}
        self._quotes = [(one, plain_words(one.quote)) for one in gold if one.quote]
        self._titles: dict[str, list[Gold]] = defaultdict(list)
        for one in gold:
            if not one.key and not one.quote:
                self._titles[title_name(one.title)].append(one)
        self._all = gold
        self._documents: dict[Gold, list[tuple[str, bool]]] = defaultdict(list)

    def look(self, document: Document) -> None:
        for name in {own_name(document), document.key.rpartition("#")[2]}:
            if name in self._keys:
                self._documents[self._keys[name]].append((document.key, True))
        title = title_name(document.title)
        for gold in self._titles.get(title, []):
            says = not gold.text or plain_words(gold.text)[:2000] in plain_words(document.text)
            self._documents[gold].append((document.key, says))
        text = plain_words(document.text) if self._quotes else ""
        for gold, quote in self._quotes:
            if (not gold.title or title_name(gold.title) == title) and quote in text:
                self._documents[gold].append((document.key, True))

    def found(self) -> tuple[set[str], tuple[Gold, ...]]:
        """Of several documents with a title, those that say the text; one alone needs not say it word for word."""
        kept: set[str] = set()
        missing = []
        for gold in self._all:
            known = self._documents.get(gold, [])
            good = {key for key, says in known if says or len(known) == 1}
            kept |= good
            if not good:
                missing.append(gold)
        return kept, tuple(missing)


def documents(path: Path) -> Iterator[Document]:
    """Those of a file or folder. A file that cannot be read is an error here: a part must be taken of the whole."""
    from ragways.corpus.load import load, walk
    from ragways.corpus.source import SourceFile

    for file in walk([path]):
        if isinstance(file, SourceFile):
            try:
                yield from load(file)
            except LoadError as error:
                raise UsageError(error.message, error.cure or "mend it or take it away") from error


def write_documents(corpus: Iterable[Document], keys: frozenset[str], file: Path) -> Path:
    """The documents with these keys as records, named as they were; of their form, only the text remains."""
    return write_lines(file, (json.dumps(_record(one), ensure_ascii=False) + "\n" for one in corpus if one.key in keys))


def _record(document: Document) -> dict[str, str]:
    facts = {name: value for name, value in document.metadata.items() if value}
    return {**facts, "id": own_name(document), "title": document.title, "text": document.text}


# A sample as files


def write_questions(questions: Iterable[Question], file: Path) -> Path:
    """As a plain set of one's own (`--format plain`)."""
    return write_lines(file, (json.dumps(plain_row(question), ensure_ascii=False) + "\n" for question in questions))


def write_sample(
    file: Path,
    folder: Path,
    format: str,
    *,
    per_type: int | None = None,
    count: int | None = None,
    seed: int = 0,
    corpus: Path | None = None,
    fill_to: int | None = None,
) -> dict[str, Any]:
    """Draw from a file of questions (see `sample`) and write `questions.jsonl` into a folder; returns what was written.

    With a corpus, given or coming with the questions, `corpus.jsonl` holds the documents with their evidence and
    others until there are `fill_to`.
    """
    dataset = DATASETS.find(format)
    drawn = sample(load_questions(format, file), per_type=per_type, count=count, seed=seed)
    files, part = [write_questions(drawn.questions, folder / QUESTIONS)], None
    with TemporaryDirectory() as place:
        whole = corpus or (write_corpus(dataset, file, Path(place)) if dataset.corpus is not None else None)
        if whole is not None:
            part = kept_documents(drawn.questions, documents(whole), count=fill_to, seed=seed)
            files.append(write_documents(documents(whole), part.keys, folder / CORPUS))
    written = {} if part is None else {"corpus": {
        "documents": len(part.keys), "of": part.of, "evidence": part.evidence, "filled": part.filled,
        "gold_not_in_corpus": len(part.missing),
    }}  # fmt: skip
    return {
        "format": format, "seed": seed, "questions": len(drawn.questions), "of": drawn.of, "types": drawn.counts,
        "short": drawn.short, "licence": dataset.licence, "citation": dataset.citation, **written,
        "files": [str(one) for one in files],
    }  # fmt: skip
