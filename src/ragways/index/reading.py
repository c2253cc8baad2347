"""What of the files of a run is new, changed, unchanged or gone.

`ragways index` and `ragways index --plan` both read files here, so a plan counts what a run will do.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from ragways.core.errors import LoadError, NoText, UsageError
from ragways.core.runtime import Progress, ProgressCallback
from ragways.core.types import Document, Structure
from ragways.corpus.isolated import IsolatedReader
from ragways.corpus.source import NO_TEXT, KnownRecords, LoadOptions, Skipped, SourceFile
from ragways.corpus.structure import structure
from ragways.index.recipe import FoundFiles, Recipe, Summary
from ragways.models.tokens import count_each
from ragways.store.files import UNREAD, file_hash
from ragways.store.source import Source
from ragways.store.store import Batch, Store, document_hash, number_of

_LOG = logging.getLogger("ragways.index")
_OFTEN = 1000
"""Documents of a file after which progress is reported again."""


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document that is new or has changed, with its parts."""

    structure: Structure
    file: str
    source: Source

    @property
    def number(self) -> int:
        return self.source.number

    def put(self, batch: Batch) -> bool:
        """Store it; whether an earlier version was there."""
        tokens = count_each([passage.text for passage in self.source.passages])
        return batch.put(self.structure, self.file, tokens, [passage.hash for passage in self.source.passages])


@dataclass(frozen=True, slots=True)
class BegunFile:
    """A new file, before its first document: whether or not it is read to its end, what is stored of it goes when the
    file does.
    """

    key: str
    root: str


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file, after its last document. `gone` are documents that it no longer has; `size` is `UNREAD` of one that is to
    be read again. `records` are its records with the numbers of their documents.
    """

    key: str
    root: str
    size: int
    modified: int
    gone: frozenset[int]
    hash: bytes
    records: Mapping[bytes, int]


@dataclass(frozen=True, slots=True)
class EmptyFile:
    """A file without text. Nothing went wrong: it has no document, and no longer the one it may have had."""

    key: str


FileChange = ReadDocument | BegunFile | ReadFile | EmptyFile


class FileReader:
    """Compares the files of a run with the rows of a store, and changes neither. `compare_contents`: their bytes, where
    size and time are equal.
    """

    def __init__(
        self,
        store: Store,
        recipe: Recipe,
        found: FoundFiles,
        summary: Summary,
        progress: ProgressCallback,
        *,
        compare_contents: bool = False,
    ) -> None:
        self._store = store
        self._chunking = recipe.chunking
        self._options = replace(recipe.options, notice=summary.leave_out)
        self._roots = found.roots
        self._summary = summary
        self._compare = compare_contents
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

    def changes(self) -> Iterator[FileChange]:
        """Every document that is new or changed, and after the documents of a file, the file; before the first of a new
        file, that it is begun. What is unchanged is counted in the summary, and what cannot be read is noted there.
        """
        with closing(self._reader):
            for done, (root, file) in enumerate(self._files):
                self._report(done, file.key)
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
        state = root, stat.st_size, stat.st_mtime_ns
        if known is not None and known[:3] == state and not (self._compare and known[3] != _hash(file.path)):
            self._summary.unchanged += self._store.files.documents(file.key)
            return
        hash = _hash(file.path)
        before = {} if known is None else self._store.hashes_of_source(file.key)
        records = KnownRecords(self._store.files.records(file.key, before.keys()) if before else {})
        numbers, failed = set[int](), len(self._summary.failed)
        for document in self._documents(file, replace(self._options, records=records)):
            number = number_of(document.id)
            if known is None and not numbers:
                yield BegunFile(file.key, root)
            numbers.add(number)
            if len(numbers) % _OFTEN == 0:
                self._report(done, f"{file.key}: {len(numbers):,} documents")
            if before.get(number) == document_hash(document):
                self._summary.unchanged += 1
            else:
                yield self._structured(document, file)
        self._summary.unchanged += len(records.unchanged)
        # One with records that cannot be read is read again, and named, in every run, as one that cannot be read is.
        size = stat.st_size if len(self._summary.failed) == failed else UNREAD
        gone = before.keys() - numbers - set(records.unchanged.values())
        yield ReadFile(file.key, root, size, stat.st_mtime_ns, frozenset(gone), hash, records.unchanged | records.new)

    def _report(self, done: int, note: str) -> None:
        self._progress(Progress("reading", done, len(self._files), note))

    def _documents(self, file: SourceFile, options: LoadOptions) -> Iterator[Document]:
        documents = self._reader.load(file, options)
        while True:
            with self._summary.timed("reading"):
                document = next(documents, None)
            if document is None:
                return
            yield document

    def _structured(self, document: Document, file: SourceFile) -> ReadDocument:
        with self._summary.timed("structure"):
            parts = structure(document, self._chunking)
            return ReadDocument(parts, file.key, Source.of(parts, with_title=self._chunking.title))


def _hash(path: Path) -> bytes:
    try:
        return file_hash(path)
    except OSError as error:
        raise LoadError(f"cannot be read: {error.strerror}") from error
