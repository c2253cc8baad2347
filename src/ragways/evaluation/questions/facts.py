"""Facts that questions are made of: what infoboxes say, and what the relations of the graph say.

The graph reads sentences, tables and links, by rules or with a model; nothing is read out of prose here. A relation
counts as a fact where its predicate can be asked for and its sentence is about its subject.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from ragways.core import dates
from ragways.core.types import Piece
from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.corpus import CorpusTexts, Subject, Subjects
from ragways.evaluation.questions.wordings import HOLDERS, LOOSE, TABLE, Wording, date_of, of_field, of_predicate
from ragways.index.open import Index
from ragways.layers.graph.names import fold, split_title
from ragways.layers.protocols import Triplet

LONGEST = 60
"""Characters of an answer: what is longer is a description, not a value."""
TELLING = 0.9
"""Share of a relation's facts in the prose that must come with one of its cues, for their absence to mean something."""
SHORTEST_CUE = 3
_AT_ONCE = 1000
_CHUNKS = 3
"""Chunks in which the sentence of a relation is looked for."""
_LIST = re.compile(r"\n|;|•|<br|, (?=[^\W\d_])")
_WORD = re.compile(r"\w|-\w")
_MARKS = "\"“”'‘’` "
_MORE = {
    "person": re.compile(r"['’-]|,?\s*(?:and|&)\s+[^\W\d_a-z]|,\s*[^\W\d_a-z]"),
    "place": re.compile(r"['’]"),
    "date": re.compile(r"\s?[–—/-]\s?\d|s\b"),
}
"""What may not follow a value: the next of a list, the thing it only owns, the end of a period."""
_ADJECTIVE = re.compile(r"\S+(?:an|ish|ese|ch|i|ic) (?!(?:and|in|on|for|with|from|who|as|at|to|of|is|was)\b)[a-z]")
"""`by American rapper Big Boi`: where somebody is from, not who."""
_LIFE = re.compile(r"\s*\(\s*[\w ,]*\d\s*[–—-]\s*[\w ,]*\d\s*\)")
"""`(12 April 1801 – 14 November 1842)`"""
_JOINED = re.compile(r"(?:\(|\b(?:by|in|on|at|of|to|born|died|married)\W+(?:[\w'’-]+ ){0,4})\s*$")
"""Words before a value that may join it to what is said."""
_WORDS = 120
"""Characters between a subject and its value."""
_ON = re.compile(r"\s+(?:in|on)\s+")


@dataclass(frozen=True, slots=True)
class Fact:
    """What a field or a relation says of a subject.

    `quote` states it in chunk `chunk`; `date` is when it was so, where the sentence says it beside the value;
    `leads_to` is the document about its value, where there is one.
    """

    subject: Subject
    wording: Wording
    value: str
    quote: str
    chunk: str
    date: str = ""
    leads_to: str = ""

    @property
    def id(self) -> str:
        return f"{self.subject.id} {self.wording.name}: {self.value}"

    @property
    def document(self) -> str:
        """The document that states it, which may be another than the one about its subject."""
        return ":".join(self.chunk.split(":")[:2])

    @property
    def answers(self) -> tuple[str, ...]:
        """The value in every form that would be right; of a place, its own name alone will do."""
        first = self.value.split(",")[0]
        short = (first,) if self.wording.sort == "place" and first != self.value else ()
        return (*written_forms(self.value), *short)


def written_forms(value: str) -> tuple[str, ...]:
    """A value and the other ways to write it: a date with its day first or its month first."""
    date = date_of(value)
    return tuple(dict.fromkeys((value, *(date.forms if date is not None and date.day else ()))))


class FactIndex:
    """All facts: `every`, `by_id`, by subject (`about`), by chunk (`in_chunk`), by relation (`saying`).

    `known` are the subjects and relations of which something is said, `sure` the ids of facts with one value alone,
    whatever says so.
    """

    def __init__(self, index: Index, texts: CorpusTexts, subjects: Subjects) -> None:
        values: dict[tuple[str, str], dict[str, Fact]] = {}
        for fact in _all(index, texts, subjects):
            values.setdefault((fact.subject.id, fact.wording.name), {}).setdefault(fold(fact.value), fact)
        self.known = frozenset(values)
        best = [_best(list(facts.values())) for facts in values.values()]
        self.sure = frozenset(fact.id for fact, alone in best if alone)
        self.every = sorted((fact for fact, _ in best), key=lambda fact: fact.id)
        self.by_id = {fact.id: fact for fact in self.every}
        self.about: dict[str, list[Fact]] = {}
        self.in_chunk: dict[str, list[Fact]] = {}
        self.saying: dict[str, list[Fact]] = {}
        for fact in self.every:
            self.about.setdefault(fact.subject.id, []).append(fact)
            self.in_chunk.setdefault(fact.chunk, []).append(fact)
            self.saying.setdefault(fact.wording.name, []).append(fact)

    @cached_property
    def telling(self) -> frozenset[str]:
        """Relations that texts do not state without one of their cues, as far as this corpus shows.

        Of fields that are asked for by their own name: where documents write a value down, a cue stands in the same
        sentence. The cues of the table are complete, but for those that are `LOOSE`.
        """
        return frozenset(name for name, facts in self.saying.items() if _telling(facts))


def _telling(facts: list[Fact]) -> bool:
    wording = facts[0].wording
    if not wording.cues or any(len(cue) < SHORTEST_CUE for cue in wording.cues):
        return False
    if wording.sort == "date" or wording.name in TABLE:
        return wording.name not in LOOSE
    cues = tuple(f" {plain_words(cue)}" for cue in wording.cues)
    written = with_cue = 0
    for fact in facts:
        value = f" {plain_words(fact.value)} "
        whole = fact.subject.text.document.text
        sentences = (f" {plain_words(whole[start:end])} " for start, end in fact.subject.sentences)
        holding = [sentence for sentence in sentences if value in sentence]
        written += bool(holding)
        with_cue += any(cue in sentence for sentence in holding for cue in cues)
    number = facts[0].value[:1].isdigit()  # `42 m tall` says a height, `3,000 inhabitants` a population
    return with_cue >= TELLING * written and (with_cue > 0 or not number)


def _all(index: Index, texts: CorpusTexts, subjects: Subjects) -> Iterator[Fact]:
    for subject in subjects.all.values():
        yield from _box_facts(subject, texts, subjects)
    if "graph" in index.layers:
        yield from _GraphFacts(index, subjects)


def _best(facts: list[Fact]) -> tuple[Fact, bool]:
    """The fullest value, and whether the others agree with it: a year and a day in it, a town and its country."""
    best = max(facts, key=lambda fact: (len(fact.value), fact.id))
    return best, all(_agrees(fact, best) for fact in facts)


def _agrees(fact: Fact, best: Fact) -> bool:
    if fact.wording.sort == "date":
        date, fullest = date_of(fact.value), date_of(best.value)
        return date is not None and fullest is not None and fullest.within(date)
    return f" {fold(fact.value)} " in f" {fold(best.value)} "


def _leads_to(value: str, wording: Wording, subjects: Subjects, of: str) -> str:
    """The document about a value: never where a place could be one of many of its name."""
    if wording.sort == "date" or not wording.describe:
        return ""
    parts = value.split(",") if wording.sort == "place" else [value]
    names = (",".join(parts[:count]) for count in range(len(parts), 0, -1))
    led = next((subject for name in names if (subject := subjects.named(name)) is not None), None)
    if led is not None and wording.sort != "person" and split_title(led.text.title)[1]:
        return ""  # `kingdom: Animalia` does not mean `Animalia (book)`
    if led is None or (wording.sort == "person" and led.kind in ("place", "work", "event", "species")):
        return ""
    return "" if led.id == of or (wording.sort == "place" and led.kind not in ("place", "")) else led.id


def _box_facts(subject: Subject, texts: CorpusTexts, subjects: Subjects) -> Iterator[Fact]:
    """A fact a field, quoted as the text writes it: `designer: Ada Holm`."""
    text = subject.text
    for box in text.document.infoboxes:
        for key, written in box.fields:
            value, line = written.strip(), f"{key}: {written}"
            led = subjects.named(value)
            wording = of_field(key, value, led.kind if led is not None else "")
            start = text.document.text.find(line, box.start, box.end)
            if wording is None or start < 0 or fold(value) == fold(subject.bare):
                continue
            if wording.name in HOLDERS and subject.kind not in ("place", "organization"):
                continue  # the country of a prize or a film is not where it is
            if "(" in value or (_LIST.search(value) and wording.sort != "place"):
                continue
            if wording.name == "location" and subject.kind == "event":
                wording = TABLE["event place"]
            value = value.strip(" ,.")
            piece = texts.piece(text, start, start + len(line))
            if value and len(value) <= LONGEST and piece is not None and value in piece.text:
                leads = _leads_to(value, wording, subjects, subject.id)
                yield Fact(subject, wording, value, " ".join(line.split()), piece.id, "", leads)


class _GraphFacts:
    """Facts of relations whose subject has a document, each with the first sentence or row that states it."""

    def __init__(self, index: Index, subjects: Subjects) -> None:
        self._index = index
        self._subjects = subjects

    def __iter__(self) -> Iterator[Fact]:
        graph = self._index.graph
        count = graph.counts()["relations"]
        for at in range(0, count, _AT_ONCE):
            triplets = graph.relations_at(range(at, min(at + _AT_ONCE, count))).values()
            readers = [(triplet, reader) for triplet in triplets if (reader := self._reader(triplet)) is not None]
            chunks = graph.relation_chunks([triplet.id for triplet, _ in readers])
            for triplet, reader in readers:
                pieces = self._index.pieces(chunks.get(triplet.id, [])[:_CHUNKS]).values()
                fact = next((fact for piece in pieces if (fact := reader(triplet, piece)) is not None), None)
                if fact is not None and len(fact.value) <= LONGEST and fold(fact.value) != fold(fact.subject.bare):
                    leads = _leads_to(fact.value, fact.wording, self._subjects, fact.subject.id)
                    yield replace(fact, leads_to=leads)

    def _reader(self, triplet: Triplet) -> Callable[[Triplet, Piece], Fact | None] | None:
        """How a relation becomes a fact: by its row, its sentence or its predicate; None where it says nothing."""
        ways = triplet.way.split("+")
        if any(way.endswith(":table") for way in ways):
            return self._of_row
        if any(not way.startswith("rules") for way in ways):
            return self._of_predicate if of_predicate(triplet.predicate, _dated(triplet)) is not None else None
        if any(way.endswith((":sentence", ":title")) for way in ways):
            place = _place_of(triplet.description, triplet.object_name, 0)
            return self._of_sentence if place and _JOINED.search(triplet.description[: place[0]]) else None
        return None

    def _of_row(self, triplet: Triplet, piece: Piece) -> Fact | None:
        """A cell of a table. Only people and dates say something without the table around them: a remark does not."""
        subject, value = self._subjects.named(triplet.subject_name), split_title(triplet.object_name)[0]
        wording = of_field(triplet.predicate, value)
        if subject is None or wording is None or wording.sort not in ("person", "date"):
            return None
        rows = (" ".join(row.split()) for row in piece.text.split("\n") if " | " in row)
        row = next((row for row in rows if value in row and subject.bare in row), "")
        return Fact(subject, wording, value, row, piece.id) if row else None

    def _of_predicate(self, triplet: Triplet, piece: Piece) -> Fact | None:
        """What a model or an import stated: its predicate counts, and a sentence of the chunk that holds its value."""
        asked = of_predicate(triplet.predicate, _dated(triplet))
        if asked is None:
            return None
        wording, inverse = asked
        about, other = (triplet.subject_name, triplet.object_name)[:: -1 if inverse else 1]
        subject = self._subjects.named(about)
        if subject is None or subject.bare not in f"{piece.title} {piece.text}":
            return None
        for sentence in self._sentences(piece):
            if (place := _place_of(sentence, other, 0)) is not None:
                return Fact(subject, wording, sentence[slice(*place)], sentence, piece.id)
        return None

    def _of_sentence(self, triplet: Triplet, piece: Piece) -> Fact | None:
        """What rules found: a sentence that begins with its subject, and the words from there to the value."""
        subject = self._subjects.named(triplet.subject_name)
        if subject is None:
            return None
        for sentence in self._sentences(piece):
            begin = _opening(sentence, subject)
            place = _place_of(sentence, triplet.object_name, begin) if begin >= 0 else None
            if place is None:
                continue
            value, between = sentence[slice(*place)], sentence[begin : place[0]]
            if subject.kind == "person" and between.strip() == "(" and _LIFE.match(sentence, begin):
                return Fact(subject, TABLE["birth date"], value, sentence, piece.id)
            wording = _between(between, subject.kind, _dated(triplet))
            if wording is not None and wording.sort == "person" and _ADJECTIVE.match(sentence, place[0]):
                continue
            if wording is not None and not ((more := _MORE.get(wording.sort)) and more.match(sentence, place[1])):
                date = _date_after(sentence, place[1]) if wording.sort == "person" else ""
                return Fact(subject, wording, value, sentence, piece.id, date)
        return None

    def _sentences(self, piece: Piece) -> Iterator[str]:
        spans = self._index.sentences(piece)
        return (" ".join(self._index.text(piece.document, *span).split()) for span in spans)


def _dated(triplet: Triplet) -> bool:
    return date_of(triplet.object_name) is not None


def _between(text: str, kind: str, value_is_date: bool) -> Wording | None:
    """The relation that the words between a subject and a value state: `is a 1954 drama film directed by`."""
    text = re.sub(r"\s*\([^()]*\)", "", text).lstrip(" (")
    for low, high, _ in reversed(list(dates.find(text))):
        text = text[:low] + text[high:]
    if len(text) > _WORDS or re.search(r"[^\w\s'’-]", text):
        return None
    by = re.fullmatch(r"(.*\bby)((?: [\w'’-]+){1,4})", text.rstrip())
    if by is not None and not re.search(r"\band\b|[’']s\b", by[2]):
        text = by[1]  # `by the English rock band`: what stands before the name itself
    words = [word for word in text.casefold().split() if word not in ("a", "an", "the")]
    asked = of_predicate(" ".join(words), value_is_date)
    if asked is not None:
        return asked[0] if not asked[1] or asked[0].name == "spouse" else None
    placed = (
        kind == "place" and not value_is_date and len(words) > 2 and words[0] in ("is", "was") and words[-1] == "in"
    )
    return TABLE["location"] if placed and not {"in", "of", "on", "by"} & set(words[:-1]) else None


def _opening(sentence: str, subject: Subject) -> int:
    """Where the subject's name ends at the beginning of a sentence, or -1 where the sentence begins otherwise."""
    start = len(sentence) - len(sentence.lstrip(_MARKS))
    start += 4 if sentence.startswith(("The ", "the "), start) and not subject.bare.startswith("The ") else 0
    end = start + len(subject.bare)
    if not sentence.startswith(subject.bare, start) or _WORD.match(sentence, end):
        return -1
    return len(sentence) - len(sentence[end:].lstrip(_MARKS))


def _place_of(sentence: str, name: str, begin: int) -> tuple[int, int] | None:
    """Where a name, in whole words, or a date stands in a sentence, from a place on."""
    date = dates.parse(name) if name[:1].isdigit() else None
    if date is not None:
        return next(((low, high) for low, high, other in dates.find(sentence, begin) if other == date), None)
    name = split_title(name)[0]
    at = sentence.find(name, begin)
    while at >= 0:
        end = at + len(name)
        if not _WORD.match(sentence, end) and not (at and sentence[at - 1].isalnum()):
            return at, end
        at = sentence.find(name, at + 1)
    return None


def _date_after(sentence: str, at: int) -> str:
    """`designed by Ada Holm in 1801`: the date that follows a value."""
    joined = _ON.match(sentence, at)
    if joined is None:
        return ""
    return next((sentence[low:high] for low, high, _ in dates.find(sentence, at) if low == joined.end()), "")
