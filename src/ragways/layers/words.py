"""The lexical layer: BM25 (k1 = 1.2, b = 0.75) over chunks with their titles, by tantivy.

Texts are cut into words here, and tantivy has them joined by blanks. A document that is removed counts in its
statistics until the words are made anew, which they are as soon as a hundredth of all chunks is removed.
"""

from __future__ import annotations

import copy
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tantivy
from numpy.typing import NDArray

from ragways.core.errors import StoreDamaged, StoreError
from ragways.core.language import language, unspaced_words
from ragways.core.text import is_utf8
from ragways.layers.files import load_json, save_json
from ragways.layers.layer import CheckContext, Finding, Layer, Scored, Use, findings
from ragways.store.database import REBUILD, os_meaning, raise_exhausted
from ragways.store.store import Change, Store, chunk_id, path_of, place_of

_LONGEST_QUESTION = 256  # distinct words; a longer question is cut here, so that no question can stall the search


# Words of a text

_STEMMED = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""Languages besides English that tantivy has a stemmer for, by the names it has for them."""
_WITHOUT_STOP_WORDS = frozenset({"arabic", "greek", "romanian", "tamil", "turkish"})


@cache
def _analyzer(*filters: str, tokenizer: str = "simple") -> Any:  # noqa: ANN401 - tantivy ships no types for it
    """What cuts a text into words and changes them by these filters, in order."""
    cut = getattr(tantivy.Tokenizer, tokenizer)()
    chain = tantivy.TextAnalyzerBuilder(cut).filter(tantivy.Filter.remove_long(64))
    for kind, _, name in (each.partition(" ") for each in ("lowercase", *filters)):
        chain = chain.filter(getattr(tantivy.Filter, kind)(*filter(None, [name])))
    return chain.build()


_ENGLISH = ("ascii_fold", "stopword english", "stemmer english")


def all_terms(text: str) -> list[str]:
    """The words of a text as the index has them and as a question looks for them: folded, stemmed, without stop words.

    All are stemmed as English. Those of a text in another language are stemmed by its own rules too, where that gives
    another stem: so a question whose language is not recognized still meets them. What is written without spaces gives
    the pairs of its characters (`core/language.py`).
    """
    rest, more = unspaced_words(text)
    name = _STEMMED.get(language(text))
    if name is None:
        return [*_analyzer(*_ENGLISH).analyze(rest), *more]
    stop = () if name in _WITHOUT_STOP_WORDS else (f"stopword {name}",)
    english = _analyzer(*stop, *_ENGLISH).analyze(rest)
    known = set(english)
    own = _analyzer(*stop, f"stemmer {name}", "ascii_fold").analyze(rest)
    if name == "tamil":  # whose words are among the others
        known |= set(more)
        own = _analyzer("stemmer tamil", tokenizer="whitespace").analyze(" ".join(more))
    return [*english, *(word for word in own if word not in known), *more]


def terms(text: str) -> list[str]:
    """The words of a text as the index knows them; each once, in order."""
    return list(dict.fromkeys(all_terms(text)))


def sure_terms(text: str) -> tuple[str, ...]:
    """Those of its words that any longer text has too, of whatever language that is; each once, in order. No language
    leaves them out as stop words.
    """
    rest, more = unspaced_words(text)
    stop = (f"stopword {name}" for name in _STEMMED.values() if name not in _WITHOUT_STOP_WORDS)
    return tuple(dict.fromkeys([*_analyzer(*stop, *_ENGLISH).analyze(rest), *more]))


# Reading

_STATE = "words.json"
_SAME = 1e-6
"""Scores that lie so near, as a share of them, are equal: single precision adds up in no fixed order."""
_MORE = 16
"""Hits beside those that are wanted: equal scores at the border are ordered here."""
_MANY = 1000
"""Hits to look through for those of a filter. Where more are needed, tantivy filters, which takes longer for each."""


class StoredWords:
    """BM25 over everything that was indexed; equal scores are ordered by document and place."""

    def __init__(self, view: Path) -> None:
        self._path = view
        self._searcher, self._schema = _opened(view)
        self._documents: NDArray[np.int64] | None = None
        self._filter: Any = None

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def only(self, documents: Collection[int]) -> StoredWords:
        """The same among the chunks of these documents alone. How rare a word is stays that of all."""
        part = copy.copy(self)
        part._documents = np.array(sorted(documents), dtype=np.int64)
        part._filter = _of_documents(self._schema, part._documents.tolist())
        return part

    def frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """How many chunks hold each word, as `terms` gives it; those of removed documents count until the words are
        made anew.
        """
        with _damage(self._path):
            return {word: self._searcher.doc_freq("text", word) for word in words}

    def holding(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The documents in whose chunks all of these words stand, as `terms` gives them; in order."""
        found: NDArray[np.int64] | None = None
        counts = self.frequencies(dict.fromkeys(words))
        for word in sorted(counts, key=lambda word: (counts[word], word)):
            query = self._term(word)
            among = self._filter if found is None else _of_documents(self._schema, found.tolist())
            if among is not None:
                query = _all([query, among])
            found = np.unique(self._hits(query, max(1, counts[word])).documents)
            if not len(found):
                break
        return np.zeros(0, np.int64) if found is None else found

    def search(self, question: str, k: int) -> Scored:
        """The k best chunks that hold any word of the question."""
        words = terms(question)[:_LONGEST_QUESTION]
        if not words or k <= 0 or (self._documents is not None and not len(self._documents)):
            return []
        query = _any([self._term(word) for word in words])
        limit, narrower = k + _MORE, self._filter
        while True:
            hits = self._hits(query, limit)
            wanted = hits if self._documents is None else hits.only(self._documents)
            if len(hits.scores) < limit or (
                len(wanted.scores) >= k and hits.scores[-1] < wanted.scores[k - 1] * (1 - _SAME)
            ):
                return wanted.best(k)
            share = max(1, len(wanted.scores)) / limit
            limit = max(4 * limit, round(1.5 * (k + _MORE) / share))
            if narrower is not None and limit > max(_MANY, 4 * k):
                query, limit, narrower = _all([query, narrower]), k + _MORE, None

    def _term(self, word: str) -> Any:  # noqa: ANN401
        return tantivy.Query.term_query(self._schema, "text", word, index_option="freq")

    def _hits(self, query: Any, limit: int) -> _Hits:  # noqa: ANN401
        """The best chunks of a query, without an order among equal ones."""
        with _damage(self._path):
            hits = self._searcher.search(query, limit, count=False).hits
            addresses = [address for _, address in hits]
            return _Hits(
                np.array([score for score, _ in hits], np.float64),
                np.array(self._searcher.fast_field_values("document", addresses), np.int64),
                np.array(self._searcher.fast_field_values("place", addresses), np.int64),
            )

    def chunks(self) -> Iterator[str]:
        """Ids of all chunks, in no order."""
        hits = self._hits(tantivy.Query.all_query(), max(1, len(self)))
        return map(chunk_id, hits.documents.tolist(), hits.places.tolist())


class _Hits(NamedTuple):
    """Chunks by document and place, best first."""

    scores: NDArray[np.float64]
    documents: NDArray[np.int64]
    places: NDArray[np.int64]

    def only(self, documents: NDArray[np.int64]) -> _Hits:
        """Those of these documents, which are in order."""
        there = documents.take(documents.searchsorted(self.documents), mode="clip") == self.documents
        return _Hits(self.scores[there], self.documents[there], self.places[there])

    def best(self, k: int) -> Scored:
        """The k best, those with equal scores by document and place."""
        begins = np.append(True, self.scores[1:] < self.scores[:-1] * (1 - _SAME))[: len(self.scores)]
        group = np.cumsum(begins) - 1
        order = np.lexsort((self.places, self.documents, group))[:k]
        scores = self.scores[begins][group[order]]
        found = zip(self.documents[order].tolist(), self.places[order].tolist(), scores.tolist(), strict=True)
        return [(chunk_id(document, place), score) for document, place, score in found]


def _any(queries: Sequence[Any]) -> Any:  # noqa: ANN401
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def _all(queries: Sequence[Any]) -> Any:  # noqa: ANN401
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])


def _of_documents(schema: Any, documents: Sequence[int]) -> Any:  # noqa: ANN401
    """The query for all chunks of these documents, which adds nothing to their scores."""
    return tantivy.Query.const_score_query(tantivy.Query.term_set_query(schema, "document", documents), 0.0)


@contextmanager
def _damage(view: Path) -> Iterator[None]:
    """What tantivy cannot read is damaged, unless the system refuses: a full disk, too few handles."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise _meaning(view, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # which tantivy's bindings raise beside `Exception`
            raise
        raise _meaning(view, error) from error


def _meaning(view: Path, error: BaseException) -> StoreError:
    match = _SYSTEM_ERROR.search(str(error))  # tantivy's errors are texts
    number = int(match[1]) if match is not None else error.errno if isinstance(error, OSError) else None
    if number is not None and number not in (errno.ENOENT, errno.EINVAL):
        return os_meaning(view, OSError(number, os.strerror(number), str(view)))
    return StoreDamaged(f"a file in {view} is damaged ({error})", REBUILD)


def _opened(view: Path) -> tuple[Any, Any]:
    """A searcher and its schema. To open an index tantivy writes a lock into its folder, which may be read-only and is
    published as it is: so it opens links to the files, which it maps.
    """
    links = Path(tempfile.mkdtemp(prefix="ragways-words-"))
    try:
        with _damage(view):
            for path in view.absolute().iterdir():
                if path.suffix != ".lock":
                    (links / path.name).symlink_to(path)
            index = tantivy.Index.open(str(links))
            index.config_reader("manual")
            return index.searcher(), index.schema
    finally:
        for _ in range(10):  # tantivy looks once more in another thread, and locks
            shutil.rmtree(links, ignore_errors=True)
            if not links.exists():
                break


@contextmanager
def _in_utf8(view: Path) -> Iterator[str]:
    """The path of a folder as tantivy takes it: one that is not UTF-8 by way of a link, which it resolves at once."""
    if is_utf8(str(view)):
        yield str(view)
        return
    with tempfile.TemporaryDirectory(prefix="ragways-words-") as folder:
        link = Path(folder) / "view"
        link.symlink_to(view.absolute())
        yield str(link)


# The layer

_REMOVED = 100
"""One chunk of so many removed, and the words are made anew."""
_SYSTEM_ERROR = re.compile(r"(?:\(os error |\bOs \{ code: )(\d+)")
_MEMORY = 50_000_000  # bytes that tantivy may use to write


class WordLayer(Layer):
    """The words of each chunk's searched text."""

    name = "words"
    summary = "a lexical index (BM25) over chunks and titles"

    async def fold(self, view: Path, store: Store, change: Change | None, use: Use) -> None:
        if change is None or not _folded(view, store, change):
            _make(view, store)

    def open(self, view: Path, store: Store) -> StoredWords:
        return StoredWords(view)

    def count(self, view: Path, store: Store) -> int:
        return len(StoredWords(view))

    def check(self, context: CheckContext) -> Iterator[Finding]:
        there, chunks = [*StoredWords(context.views / self.name).chunks()], context.chunks
        cure = context.cure_of_view
        missing, extra = sorted(set(chunks).difference(there)), sorted(set(there).difference(chunks))
        yield from findings("chunks not found by their words", "error", missing, cure)
        yield from findings("words of chunks that are not there", "error", extra, cure)
        if len(there) != len(set(there)):
            yield Finding("chunks with their words twice", "error", len(there) - len(set(there)), there[0], cure)


WORDS = WordLayer()


def _make(view: Path, store: Store) -> None:
    """Make the words anew."""
    for path in view.iterdir():
        path.unlink()
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("document", indexed=True, fast=True)
    builder.add_integer_field("place", fast=True)
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    with _damage(view):
        with _in_utf8(view) as place:
            index = tantivy.Index(builder.build(), place)
        index.config_reader("manual")
        _write(view, index, store, store.numbers())
    save_json(view / _STATE, {"removed": 0})


def _folded(view: Path, store: Store, change: Change) -> bool:
    """Bring the words up to date; False where they are to be made anew."""
    try:
        removed = int(load_json(view / _STATE)["removed"])
    except (OSError, ValueError, KeyError) as error:
        raise_exhausted(view / _STATE, error)
        raise StoreDamaged(f"{view / _STATE} is missing or damaged", REBUILD) from error
    with _damage(view):
        with _in_utf8(view) as path:
            index = tantivy.Index.open(path)
        index.config_reader("manual")  # it would look for commits
        searcher = index.searcher()
        # `delete_documents_by_term` of a number removes nothing, without a word; a query does.
        leaving = _of_documents(index.schema, sorted({*change.removed, *change.added}))
        count = searcher.search(leaving, 1, count=True).count
        if count and (removed + count) * _REMOVED >= searcher.num_docs + removed:
            return False
        _write(view, index, store, change.added, leaving if count else None)
        index.reload()
        save_json(view / _STATE, {"removed": removed + count})
        return bool(index.searcher().num_docs == store.count("chunks"))


def _write(view: Path, index: Any, store: Store, added: Sequence[int], leaving: Any = None) -> None:  # noqa: ANN401
    """Remove what a query finds and add documents, in one commit. Files that are there are left as they are."""
    writer = index.writer(_MEMORY, num_threads=1)
    if leaving is not None:
        writer.delete_documents_by_query(leaving)
    for source in store.sources(added):
        for passage in source.passages:
            text = " ".join(all_terms(passage.searched))
            place = place_of(path_of(passage.id))
            writer.add_document(tantivy.Document(document=source.number, place=place, text=text))
    writer.commit()
    writer.wait_merging_threads()
    for path in view.glob(".*.lock"):
        path.unlink()
