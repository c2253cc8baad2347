"""The lexical layer: BM25 over chunks with their titles, in segments. Derived from the store, so it can be rebuilt."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import StoreDamaged
from ragways.core.language import language, unspaced_words
from ragways.index.bm25 import Places, Ranking, weight_of
from ragways.index.documents import chunk_texts
from ragways.index.layer import BuildContext, CheckContext, Finding, Layer, LayerEstimate, PlanContext, findings
from ragways.index.postings import Postings, hash_of, take_postings, write_postings
from ragways.index.segments import Rows, SegmentDocuments, renew, segments
from ragways.index.store import number_of, path_of
from ragways.index.vectors import Scored

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


def english_terms(text: str) -> tuple[str, ...]:
    """Its words as texts in English have them."""
    rest, more = unspaced_words(text)
    return tuple(dict.fromkeys([*_analyzer(*_ENGLISH).analyze(rest), *more]))


def sure_terms(text: str) -> tuple[str, ...]:
    """Those of its words that any longer text has too, of whatever language that is; each once, in order. No language
    leaves them out as stop words.
    """
    rest, more = unspaced_words(text)
    stop = (f"stopword {name}" for name in _STEMMED.values() if name not in _WITHOUT_STOP_WORDS)
    return tuple(dict.fromkeys([*_analyzer(*stop, *_ENGLISH).analyze(rest), *more]))


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """What the score of a chunk needs of all others: how many they are, how many words they have, and how many of them
    hold a word. Those of parts of a corpus add up to those of the corpus.
    """

    chunks: int
    length: int
    frequencies: Mapping[str, int]

    def __add__(self, other: WordStatistics) -> WordStatistics:
        both = Counter(self.frequencies)
        both.update(other.frequencies)
        return WordStatistics(self.chunks + other.chunks, self.length + other.length, dict(both))


class Words:
    """BM25 (k1 = 1.2, b = 0.75) over everything that was indexed."""

    def __init__(self, folder: Path) -> None:
        self._paths = segments(folder)
        self._segments = [Postings(path) for path in self._paths]
        self._kept: list[NDArray[np.bool_]] | None = None

    @classmethod
    def build(cls, folder: Path, texts: Iterable[tuple[str, str]]) -> None:
        """Write an index of (id, text) of chunks into a new folder, as one segment."""
        segment = folder / "1"
        segment.mkdir(parents=True)
        known = sorted(texts, key=lambda pair: number_of(pair[0]))
        by_number = groupby(number_of(id) for id, _ in known)
        SegmentDocuments.of((number, len(list(group))) for number, group in by_number).save(segment)
        write_postings(segment, ((path_of(id), all_terms(text)) for id, text in known))

    def __len__(self) -> int:
        return sum(map(len, self._segments))

    def only(self, documents: frozenset[int]) -> Words:
        """The same among the chunks of these documents alone. How rare a word is stays that of all."""
        wanted = np.sort(np.fromiter(documents, np.int64, len(documents)))
        there = [segment.ids.documents for segment in self._segments]
        part = copy.copy(self)
        part._kept = [each.rows(each.holds(wanted)) for each in there]
        return part

    def statistics(self, words: Sequence[str]) -> WordStatistics:
        """What scores by these words need of all chunks."""
        return self._statistics(words, self._places(words))

    def _places(self, words: Sequence[str]) -> list[Places]:
        hashes = np.array([hash_of(word) for word in words], np.uint64)
        return [segment.find(hashes) for segment in self._segments]

    def _statistics(self, words: Sequence[str], places: Iterable[Places]) -> WordStatistics:
        counts = np.zeros(len(words), np.int64)
        for starts, ends in places:
            counts += np.subtract(ends, starts)
        frequencies = dict(zip(words, counts.tolist(), strict=True))
        return WordStatistics(len(self), sum(segment.length for segment in self._segments), frequencies)

    def holding(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The documents in whose chunks all of these words stand, as `terms` gives them; in order."""
        found = [np.zeros(0, np.int64)]
        kept = repeat(None) if self._kept is None else self._kept
        for segment, places, some in zip(self._segments, self._places(words), kept, strict=False):
            held: NDArray[np.int64] | None = None
            for start, end in sorted(zip(*places, strict=True), key=lambda place: place[1] - place[0]):
                rows = segment.rows[start:end]
                owners = segment.ids.documents.owners(rows if some is None else rows[some[rows]])
                held = owners if held is None else held[np.isin(held, owners)]
            found += [] if held is None else [held]
        told: NDArray[np.int64] = np.sort(np.concatenate(found))
        distinct: NDArray[np.int64] = told[np.diff(told, prepend=-1) != 0]
        return distinct

    def search(self, question: str, k: int, statistics: WordStatistics | None = None) -> Scored:
        """The k best chunks that hold any word of the question; of equal ones the first by id. Where this is a part of
        a corpus, the `statistics` of the whole make the scores those of the whole.
        """
        words = terms(question)[:_LONGEST_QUESTION]
        if not words or k <= 0:
            return []
        places = self._places(words)
        known = self._statistics(words, places) if statistics is None else statistics
        weights = [weight_of(known.frequencies.get(word, 0), known.chunks) for word in words]
        ranking = Ranking(weights, known.length / max(1, known.chunks), k)
        kept = repeat(None) if self._kept is None else self._kept
        for path, segment, where, some in zip(self._paths, self._segments, places, kept, strict=False):
            try:
                ranking.add(segment, where, some)
            except (IndexError, ValueError) as error:  # of a large index, not every byte is compared when it is opened
                raise StoreDamaged(
                    f"a file in {path} is damaged ({error})", "tell where with: ragways check"
                ) from error
        return ranking.best


# The layer


class _WordSegments:
    """What the layer keeps of chunks (`SegmentKind`)."""

    def make(self, target: Path, context: BuildContext, documents: Sequence[int]) -> None:
        texts = chunk_texts(context.store, documents)
        write_postings(target, ((path_of(id), all_terms(text)) for id, text in texts))

    def take(self, target: Path, sources: Sequence[Path], rows: Rows) -> None:
        take_postings(target, sources, rows)


def _plan_words(planning: PlanContext) -> LayerEstimate:
    """Thousands of chunks a second: too little to measure."""
    return LayerEstimate(planning.context.store.count("chunks"))


def _derive_words(context: BuildContext, folder: Path) -> None:
    before = context.before / "words" if context.before is not None else None
    renew(folder / "words", before, context, _WordSegments())


def check_entries(context: CheckContext) -> Iterator[Finding]:
    """Words of chunks."""
    if not context.derived.is_dir():
        return
    folder = context.derived / "words"
    if not folder.is_dir() or (context.chunks and not segments(folder)):
        yield Finding("no index of words", "error", 1, str(folder), context.cure_of_derived)
        return
    words = Words(folder)
    if len(words) != len(context.chunks):
        example = f"{len(words):,} entries, {len(context.chunks):,} chunks"
        count = abs(len(words) - len(context.chunks))
        yield Finding("words and chunks differ in number", "error", count, example, context.cure_of_derived)
    missing = set(context.chunks)
    for segment in words._segments:
        missing.difference_update(segment.ids)
    yield from findings("chunks not found by their words", "error", sorted(missing), context.cure_of_derived)


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
