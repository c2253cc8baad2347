"""The lexical layer: BM25 over chunks with their titles, by tantivy. Derived from the store, so it can be rebuilt."""

from __future__ import annotations

import copy
import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ragways.core.errors import StoreError, StoreFailed
from ragways.core.language import language, unspaced_words
from ragways.index.layer import BuildContext, CheckContext, Finding, Layer, LayerEstimate, PlanContext, findings
from ragways.index.store import chunk_texts
from ragways.index.vectors import Scored

_HEAP = 64_000_000
_LEAST_ROOM = 65536  # bytes: a disk with less is full
_LOOKED_UP = 1000  # chunks that a check looks up one by one; of more, as many at even distances
_LONGEST_QUESTION = 256  # distinct words; a longer question is cut here, so that no question can stall the search


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
    import tantivy

    cut = getattr(tantivy.Tokenizer, tokenizer)()
    chain = tantivy.TextAnalyzerBuilder(cut).filter(tantivy.Filter.remove_long(64))
    for kind, _, name in (each.partition(" ") for each in ("lowercase", *filters)):
        chain = chain.filter(getattr(tantivy.Filter, kind)(*filter(None, [name])))
    return chain.build()


_ENGLISH = ("ascii_fold", "stopword english", "stemmer english")


@cache
def _schema() -> Any:  # noqa: ANN401
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("text", tokenizer_name="words", index_option="freq")
    return builder.build()


def all_terms(text: str) -> list[str]:
    """The words of a text as the index has them and as a question looks for them: folded, stemmed, without stop words.

    All are stemmed as English. Those of a text in another language are stemmed by its own rules too, where that gives
    another stem: so a question whose language cannot be told still meets them. What is written without spaces gives
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


class Words:
    """BM25 (k1 = 1.2, b = 0.75) over everything that was indexed."""

    def __init__(self, folder: Path) -> None:
        self._index = self._open(folder)
        import tantivy

        # The words are found here (`all_terms`), and stand between spaces when tantivy gets them.
        words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer("words", words)
        self._searcher: Any = None
        self._chunks: frozenset[str] | None = None

    def _open(self, folder: Path) -> Any:  # noqa: ANN401
        import tantivy

        try:
            return tantivy.Index(_schema(), path=str(folder))
        except ValueError:
            if os.access(folder, os.W_OK):
                raise
            # tantivy wants to lock what it opens, even for reading: where it may not write, it reads a copy.
            self._copy = TemporaryDirectory(prefix="ragways-")
            place = Path(self._copy.name) / "words"
            shutil.copytree(folder, place, copy_function=shutil.copyfile)
            place.chmod(0o700)
            return tantivy.Index(_schema(), path=str(place))

    @classmethod
    def build(cls, folder: Path, texts: Iterable[tuple[str, str]], *, onto: Path | None = None) -> None:
        """Write an index of (id, text) into an empty folder, on top of what `onto` holds already."""
        folder.mkdir(parents=True)
        if onto is not None:
            _link(onto, folder)
        import tantivy

        with _write_errors(folder):
            words = cls(folder)
            # One thread and one segment: the same texts give the same files.
            writer = words._index.writer(_HEAP, num_threads=1)
        for id, text in texts:
            with _write_errors(folder):
                writer.add_document(tantivy.Document(id=id, text=" ".join(all_terms(text))))
        with _write_errors(folder):
            writer.commit()
            writer.wait_merging_threads()

    def only(self, chunks: frozenset[str]) -> Words:
        """The same among these chunks alone. How rare a word is stays that of all."""
        part = copy.copy(self)
        part._chunks = chunks
        return part

    def search(self, question: str, k: int) -> Scored:
        """The k best chunks that hold any word of the question."""
        query = self._query(question)
        if query is None or k <= 0:
            return []
        if self._searcher is None:
            self._searcher = self._index.searcher()
        size, chunks = k + 8, self._chunks
        if chunks is not None:
            if not chunks:
                return []
            # To name the chunks costs as much as they are, to pass over others as much as those are.
            if len(chunks) ** 2 <= size * self._searcher.num_docs:
                query = _among(query, chunks)
            else:
                size = size * self._searcher.num_docs // len(chunks)
        while True:
            # Equal scores at the border are settled by id, so look on until the border is passed.
            hits = self._searcher.search(query, size, count=False).hits
            found = [(self._searcher.doc(address)["id"][0], float(score)) for score, address in hits]
            kept = found if chunks is None else [hit for hit in found if hit[0] in chunks]
            if len(hits) < size or (len(kept) >= k and found[-1][1] < kept[k - 1][1]):
                return sorted(kept, key=lambda pair: (-pair[1], pair[0]))[:k]
            size *= 4

    def _query(self, question: str) -> Any:  # noqa: ANN401
        import tantivy

        words = terms(question)[:_LONGEST_QUESTION]
        if not words:
            return None
        should = [
            (tantivy.Occur.Should, tantivy.Query.term_query(_schema(), "text", word, index_option="freq"))
            for word in words
        ]
        return tantivy.Query.boolean_query(should)


def _among(query: Any, chunks: Iterable[str]) -> Any:  # noqa: ANN401
    """The same query, with the same scores, of these chunks alone."""
    import tantivy

    named = tantivy.Query.term_set_query(_schema(), "id", sorted(chunks))
    only = tantivy.Query.const_score_query(named, 0.0)
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, only)])


@contextmanager
def _write_errors(folder: Path) -> Iterator[None]:
    """tantivy says what a disk did to it in a ValueError, or panics, which is no Exception."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:
        if isinstance(error, OSError | StoreError):
            raise
        said = " ".join(str(error).split())
        if any(sign in said for sign in ("StorageFull", "No space left", "os error 28")) or _is_full(folder):
            raise OSError(errno.ENOSPC, "No space left on device", str(folder)) from error
        raise StoreFailed(f"{folder} could not be written ({said[:200]})", "check the disk, then run again") from error


def _is_full(folder: Path) -> bool:
    """A worker of tantivy that met a full disk only says that it was killed."""
    free = os.statvfs(folder)
    return free.f_bavail * free.f_frsize < _LEAST_ROOM


def _link(source: Path, target: Path) -> None:
    """Take over an index without copying: its segment files never change, and the rest is replaced, not written to."""
    for file in sorted(source.iterdir()):
        if not file.name.endswith(".lock"):
            try:
                (target / file.name).hardlink_to(file)
            except OSError:
                shutil.copyfile(file, target / file.name)


# The layer


def _plan_words(planning: PlanContext) -> LayerEstimate:
    """Thousands of chunks a second: too little to measure."""
    return LayerEstimate(planning.context.store.count("chunks"))


def _derive_words(context: BuildContext, folder: Path) -> None:
    changes, before = context.changes, context.before
    if changes is not None and not changes.gone and before is not None and (before / "words").is_dir():
        Words.build(folder / "words", chunk_texts(context.store, sorted(changes.added)), onto=before / "words")
    else:
        Words.build(folder / "words", chunk_texts(context.store))


def check_entries(context: CheckContext) -> Iterator[Finding]:
    """Words of chunks."""
    if not context.derived.is_dir():
        return
    folder = context.derived / "words"
    # Opening a folder without an index would make one.
    if not (folder / "meta.json").is_file():
        yield Finding("no index of words", "error", 1, str(folder), context.cure_of_derived)
        return
    import tantivy

    index = Words(folder)._index
    searcher = index.searcher()
    if searcher.num_docs != len(context.chunks):
        example = f"{searcher.num_docs:,} entries, {len(context.chunks):,} chunks"
        count = abs(searcher.num_docs - len(context.chunks))
        yield Finding("words and chunks differ in number", "error", count, example, context.cure_of_derived)

    def known(id: str) -> bool:
        return bool(searcher.search(tantivy.Query.term_query(index.schema, "id", id), 1, count=False).hits)

    some = context.chunks[:: max(1, len(context.chunks) // _LOOKED_UP)]
    yield from findings(
        "chunks not found by their words", "error", (id for id in some if not known(id)), context.cure_of_derived
    )


WORDS = Layer(
    name="words",
    summary="a lexical index (BM25) over chunks and titles",
    needs=frozenset(),
    derive=_derive_words,
    plan=_plan_words,
    checks=(check_entries,),
    open=lambda derived: Words(derived / "words"),
    files=("words",),
    rows=lambda store, _: store.count("chunks"),
)
