"""What of the files of a run is new, changed, unchanged or gone.

`ragways index` and `ragways index --plan` both read files here, so a plan counts what a run will do.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from ragways.core.errors import LoadError, NoText, UsageError
from ragways.core.runtime import Progress, ProgressCallback
from ragways.core.types import Document, Structure, content_hash, document_number
from ragways.corpus.isolated import IsolatedReader
from ragways.corpus.load import for_shards, gives_one
from ragways.corpus.source import NO_TEXT, Share, Skipped, SourceFile
from ragways.corpus.structure import Chunking, structure
from ragways.index.documents import searched_text
from ragways.index.indexed_files import UNREAD
from ragways.index.shards import Deal
from ragways.index.store import Store, document_hash, number_of
from ragways.index.update import FoundFiles, Recipe, Summary
from ragways.models.tokens import count_each

_LOG = logging.getLogger("ragways.index")
_OFTEN = 1000
"""Documents of a file after which it is told how many have been read."""


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document that is new or has changed, with the texts of its chunks as retrievers see them."""

    structure: Structure
    source: str
    texts: tuple[str, ...]
    hashes: tuple[str, ...]

    @property
    def number(self) -> int:
        return number_of(self.structure.document.id)

    def put(self, store: Store) -> tuple[bool, list[int]]:
        """Store it. Tells whether an earlier version was there, and the tokens of each chunk."""
        existed = store.has(self.number)
        document = self.structure.document
        tokens = count_each([document.text[chunk.start : chunk.end] for chunk in self.structure.chunks])
        store.put(self.structure, self.source, tokens, self.hashes)
        return existed, tokens


@dataclass(frozen=True, slots=True)
class BegunFile:
    """A file that was not known, and gives its first document: whether or not it is read to its end, what was stored of
    it goes when the file does.
    """

    key: str
    root: str


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file whose documents have all been given. `gone` are the documents that it no longer has; `size` is `UNREAD` of
    one to be read again.
    """

    key: str
    root: str
    size: int
    modified: int
    gone: frozenset[int]


@dataclass(frozen=True, slots=True)
class EmptyFile:
    """A file without text. Nothing went wrong: it has no document, and no longer the one it may have had."""

    key: str


class FileReader:
    """Compares the files of a run with what a store holds. What is to be done about it is left to whoever reads."""

    def __init__(
        self,
        store: Store,
        recipe: Recipe,
        found: FoundFiles,
        summary: Summary,
        progress: ProgressCallback,
        deal: Deal | None = None,
    ) -> None:
        self._store = store
        self._chunking = recipe.chunking
        self._options = replace(recipe.options, notice=summary.leave_out, share=deal or Share())
        self._roots = found.roots
        self._deal = deal
        self._summary = summary
        self._progress = progress
        self._reader = IsolatedReader()
        self._files = list(self._under_known_names(found))
        summary.skipped, summary.hidden, summary.left_out = list(found.skipped), found.hidden, dict(found.left_out)
        for entry in found.skipped:
            if store.files.known(entry.key) is not None:
                summary.failed.append(Skipped(entry.key, f"{entry.reason}; its earlier version is kept"))
        summary.failed += found.failed
        self._unread = {entry.key for entry in (*found.skipped, *found.failed)}

    def _under_known_names(self, found: FoundFiles) -> Iterator[tuple[str, SourceFile]]:
        """A file that was read before below another folder keeps its name, or it would be there twice."""
        taken = set[str]()
        for root, file in found.files:
            place = self._store.files.place(Path(os.path.realpath(file.path)))
            known = (root, file)
            if place is not None and place[1] not in taken:  # `\n` in a name is not a line end, but written as one
                known = place[0], replace(file, key=place[1])
            taken.add(known[1].key)
            yield known

    def dealt(self, shards: int) -> list[FoundFiles]:
        """The files of each shard, under the names that they have. One that may give many documents is every shard's:
        each takes those that are dealt to it.
        """
        files: list[list[tuple[str, SourceFile]]] = [[] for _ in range(shards)]
        for root, file in self._files:
            if gives_one(file.path.name):
                files[document_number(file.key) % shards].append((root, file))
            elif self._is_known(root, file):
                for some in files:
                    some.append((root, file))
            else:
                with self._summary.timed("reading"):
                    for some, each in zip(files, for_shards(file, self._options, shards), strict=True):
                        some.append((root, each))
        unread = [Skipped(key, "") for key in sorted(self._unread)]
        return [FoundFiles(some, unread, 0, self._roots) for some in files]

    def _is_known(self, root: str, file: SourceFile) -> bool:
        """Whether the file is as it was read last."""
        try:
            status = file.path.stat()
        except OSError:
            return False
        return self._store.files.known(file.key) == (root, status.st_size, status.st_mtime_ns)

    def changes(self) -> Iterator[ReadDocument | BegunFile | ReadFile | EmptyFile]:
        """Every document that is new or changed, and after the documents of a file, the file; before the first of a new
        file, that it is begun. What is unchanged is counted in the summary, and what cannot be read is noted there.
        """
        with closing(self._reader):
            for done, (root, file) in enumerate(self._files):
                self._tell(done, file.key)
                _LOG.debug("reading", extra={"fields": {"file": file.key}})
                try:
                    yield from self._file(done, root, file)
                except NoText:
                    self._summary.leave_out(Skipped(file.key, NO_TEXT))
                    yield EmptyFile(file.key)
                except LoadError as error:
                    self._summary.failed.append(Skipped(file.key, error.message.removeprefix(f"{file.key} ")))

    def vanished(self) -> list[str]:
        """Keys of files that were read before under the roots of this run, and are not there any more."""
        seen = {file.key for _, file in self._files} | self._unread
        gone = [(root, key) for root in self._roots for key in sorted(self._store.files.of_root(root) - seen)]
        self._summary.withdrawn = sum((Path(root).parent / key).is_file() for root, key in gone)
        return [key for _, key in gone]

    def _file(self, done: int, root: str, file: SourceFile) -> Iterator[ReadDocument | BegunFile | ReadFile]:
        try:
            stat = file.path.stat()
        except OSError as error:
            raise LoadError(f"cannot be read: {error.strerror}") from error
        known = self._store.files.known(file.key)
        if known is not None and known[0] != root and os.path.exists(known[0]):
            raise UsageError(
                f"{file.key} is in the index already, from {known[0]}",
                "index the folder that holds both, or rename one",
            )
        before = self._store.hashes_of_source(file.key)
        if known == (root, stat.st_size, stat.st_mtime_ns):
            self._summary.unchanged += len(before)
            return
        numbers, failed = set[int](), len(self._summary.failed)
        for document in self._documents(file):
            number = number_of(document.id)
            if self._deal is not None and not self._deal.has(number):
                continue
            if known is None and not numbers:
                yield BegunFile(file.key, root)
            numbers.add(number)
            if len(numbers) % _OFTEN == 0:
                self._tell(done, f"{file.key}: {len(numbers):,} documents")
            if before.get(number) == document_hash(document):
                self._summary.unchanged += 1
            else:
                yield self._structured(document, file)
        # One with records that cannot be read is read again, and told of, in every run, as one that cannot be read is.
        size = stat.st_size if len(self._summary.failed) == failed else UNREAD
        yield ReadFile(file.key, root, size, stat.st_mtime_ns, frozenset(before.keys() - numbers))

    def _tell(self, done: int, note: str) -> None:
        self._progress(Progress("reading", done, len(self._files), note))

    def _documents(self, file: SourceFile) -> Iterator[Document]:
        documents = self._reader.load(file, self._options)
        while True:
            with self._summary.timed("reading"):
                document = next(documents, None)
            if document is None:
                return
            yield document

    def _structured(self, document: Document, file: SourceFile) -> ReadDocument:
        with self._summary.timed("structure"):
            parts = structure(document, self._chunking)
            texts = tuple(chunk_texts_of(parts, self._chunking))
        return ReadDocument(parts, file.key, texts, tuple(map(content_hash, texts)))


def chunk_texts_of(parts: Structure, chunking: Chunking) -> Iterator[str]:
    """The searched texts of a document that is not stored yet."""
    document = parts.document
    sections = {section.id: section.title for section in parts.sections}
    for chunk in parts.chunks:
        section = sections[":".join(chunk.id.split(":")[:3])]
        yield searched_text(document.title, section, document.text[chunk.start : chunk.end], with_title=chunking.title)
