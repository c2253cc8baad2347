"""What the corpus states of its subjects, as far as rules can be sure of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragways.evaluation.questions.fact import LONGEST, Fact, leads_to
from ragways.evaluation.questions.lives import Said
from ragways.evaluation.questions.names import DATE, moment
from ragways.evaluation.questions.patterns import said_of
from ragways.evaluation.questions.relations import TABLE
from ragways.evaluation.questions.subjects import Subject, Subjects
from ragways.evaluation.questions.texts import Text, Texts
from ragways.evaluation.questions.triples import graph_facts
from ragways.evaluation.questions.wordings import field
from ragways.index.graph.names import fold, split_title
from ragways.index.reader import Index

MOST_CHARACTERS = 1000
"""Of a sentence that are read: what is longer is no sentence."""
_LIST = re.compile(r"\n|;|•|<br|, (?=[^\W\d_])")
_PRONOUN = re.compile(r"(?:He|She)\b")
_IT = re.compile(r"It\b")
_MARKS = "\"“”'‘’` "


class Facts:
    """Facts by subject, by chunk and by id; `sure` are the ids of those with one value alone, whatever says so."""

    def __init__(self, index: Index, texts: Texts, subjects: Subjects) -> None:
        found: dict[tuple[str, str], dict[str, Fact]] = {}
        for fact in _all(index, texts, subjects):
            found.setdefault((fact.subject.id, fact.wording.name), {}).setdefault(fold(fact.value), fact)
        self.known = frozenset(found)
        """Subjects and relations of which something is said."""
        best = [_best(list(values.values())) for values in found.values()]
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


def _all(index: Index, texts: Texts, subjects: Subjects) -> Iterator[Fact]:
    for text in texts.all:
        subject = subjects.all.get(text.id)
        if subject is not None:
            yield from _facts(subject, text, texts, subjects)
    if "graph" in index.layers:
        yield from graph_facts(index, subjects)


def _best(facts: list[Fact]) -> tuple[Fact, bool]:
    """The fullest value, and whether the others agree with it: a year and a day in it, a town and its country."""
    best = max(facts, key=lambda fact: (len(fact.value), fact.id))
    return best, all(_agrees(fact, best) for fact in facts)


def _agrees(one: Fact, other: Fact) -> bool:
    if one.wording.sort == "date":
        first, second = moment(one.value), moment(other.value)
        return (
            first is not None
            and second is not None
            and all(a == b or not a for a, b in zip(first, second, strict=True))
        )
    return f" {fold(one.value)} " in f" {fold(other.value)} "


def _facts(subject: Subject, text: Text, texts: Texts, subjects: Subjects) -> Iterator[Fact]:
    whole = text.document.text
    for box in text.document.infoboxes:
        for key, value in box.fields:
            wording = field(key, value.strip(), bool(DATE.fullmatch(value.strip())))
            line = whole.find(f"{key}: {value}", box.start, box.end)
            if wording is None or line < 0 or fold(value) == fold(subject.bare):
                continue
            if "(" in value or (_LIST.search(value) and wording.sort != "place"):
                continue
            if wording.name == "location" and subject.kind == "event":
                wording = TABLE["event place"]
            said = Said(wording, value.strip())
            yield from _placed(subject, said, (line, line + len(f"{key}: {value}")), text, texts, subjects, "infobox")
    itself = False
    for number, (start, end) in enumerate(subject.sentences):
        sentence = whole[start : min(end, start + MOST_CHARACTERS)]
        after = after_subject(sentence, subject, number == 0, itself)
        itself = after >= 0
        if after >= 0:
            for said in said_of(sentence[after:].replace("\n", " "), subject.kind, number == 0):
                yield from _placed(subject, said, (start, end), text, texts, subjects, "sentence")


def after_subject(sentence: str, subject: Subject, lead: bool, itself: bool) -> int:
    """Where the subject's name ends at the beginning of a sentence, or -1 where the sentence begins otherwise."""
    if subject.kind == "person" and (he := _PRONOUN.match(sentence)) is not None:
        return he.end()
    if subject.kind != "person" and itself and (it := _IT.match(sentence)) is not None:
        return it.end()
    name = re.compile(rf"[{_MARKS}]*(?:The\s+|the\s+)?{re.escape(subject.bare)}[{_MARKS}]*(?![\w-])").match(sentence)
    if name is not None:
        return name.end()
    if not lead:
        return -1
    # The lead may call it otherwise: `William Saluga (born ...) is` for Bill Saluga, `Hill is` for Hill, New Hampshire.
    words = re.compile(r"[^().,;]{1,80}?(?=\s*\(|\s+(?:is|was|are|were)\b)").match(sentence)
    shared = (
        set(fold(words.group()).split()) & set(fold(split_title(subject.text.title)[0]).split()) if words else set()
    )
    return words.end() if words and shared and len(words.group().split()) <= 7 else -1


def _placed(
    subject: Subject, said: Said, span: tuple[int, int], text: Text, texts: Texts, subjects: Subjects, by: str
) -> Iterator[Fact]:
    """A fact with the chunk that states it, unless its value is no value or is cut by a border of chunks."""
    value = said.value.strip(" ,.")
    if not value or len(value) > LONGEST or fold(value) == fold(subject.bare):
        return
    piece = texts.piece(text, *span)
    if piece is None or value not in piece.text:
        return
    quote = " ".join(text.document.text[slice(*span)].split())
    yield Fact(
        subject,
        said.wording,
        value,
        quote,
        piece.id,
        said.date,
        leads_to(value, said.wording, subjects, subject.id),
        by,
    )
