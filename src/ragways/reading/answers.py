"""Question and passages → the answer that the reader finds in them: a span, where it stands, and how sure that is.

The best passages are read in groups, so that each is weighed against its neighbours and against there being no
answer; then those in which most was found are read once more together, with more of their text. A span's weight is the
reader's probability of it within its group; what is found several times adds up.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, Literal, Protocol

from ragways.core.dates import find as find_dates
from ragways.core.text import lazy_regex
from ragways.models.reader import AnswerSpan, Passage, Reading
from ragways.reading.phrase import (
    clean_span,
    enumeration,
    is_answer,
    leads_to_page,
    repeats,
    says_something,
)
from ragways.reading.windows import Window, content_stems, stems, windows

TitledSentences = tuple[str, Sequence[str]]
"""A passage: its title and its sentences."""


class PassageReader(Protocol):
    """What reads a question with groups of passages: `models.reader.Reader`, or a stand-in for it."""

    async def read(self, question: str, groups: Sequence[Sequence[Passage]], *, most: int = 8) -> list[Reading]: ...


@dataclass(frozen=True, slots=True)
class Reach:
    """How much is read. The first `passages` are read `together` at a time, `size` characters of each at most; then the
    `again` best ones of them together, `again_size` of each, which counts `again_weight` times. `seen` is how many
    characters of a passage are looked at to choose what is read.
    """

    passages: int = 6
    together: int = 3
    size: int = 200
    again: int = 2
    again_size: int = 320
    again_weight: float = 1.5
    seen: int = 20_000


USUAL: Final = Reach()
IN_ORDER: Final = Reach(passages=3, size=260, again=0)
"""For passages that the reader has put in order: the first three hold the answer and what leads to it."""


@dataclass(frozen=True, slots=True)
class SentencePlace:
    """A sentence of the evidence: the number of its passage and its own in it, both from 0."""

    passage: int
    sentence: int


@dataclass(frozen=True, slots=True)
class SpanAnswer:
    """An answer word for word as it stands in the sentence at `place`. `score` is its best logit against none, `fit`
    whether it is what one would expect, `weight` the reader's probability of it, summed over all that was read, less
    where it does not fit; `answers` and `evidence` are the logits of the group and the passage in which it scored best.
    """

    text: str
    place: SentencePlace
    weight: float
    score: float
    fit: bool
    answers: float
    evidence: float


@dataclass(frozen=True, slots=True)
class ReadEvidence:
    """What the reader found: answers, the likeliest first, each text once; sentences on which the first of them rests
    besides its own; and how much weight each sentence has as the place of an answer.
    """

    answers: tuple[SpanAnswer, ...]
    further: tuple[SentencePlace, ...]
    weights: dict[SentencePlace, float]
    logits: tuple[float, float]
    """The best logits of "these passages answer" and of a passage being evidence."""

    @property
    def margin(self) -> float:
        """How much more weight the first answer has than the second, as a share of both."""
        if not self.answers:
            return 0.0
        first, second = self.answers[0].weight, self.answers[1].weight if len(self.answers) > 1 else 0.0
        return (first - second) / (first + second)


@dataclass(frozen=True, slots=True)
class Pass:
    """One group of windows, the reader's output for it, and its weight."""

    group: tuple[Window, ...]
    reading: Reading
    weight: float

    def probabilities(self) -> list[float]:
        """Of each span being the answer, against the others and against there being none."""
        scores = [span.score for span in self.reading.spans]
        top = max([0.0, *scores])
        total = math.exp(-top) + sum(math.exp(score - top) for score in scores)
        return [math.exp(score - top) / total for score in scores]


async def read_evidence(
    question: str, passages: Sequence[TitledSentences], reader: PassageReader, form: str = "span", reach: Reach = USUAL
) -> ReadEvidence:
    """What the reader finds for a question in passages, best first. `form` is the question's (`questions.Form`)."""
    looked = [(title, _bounded(sentences, reach.seen)) for title, sentences in passages[: reach.passages]]
    shown = windows(question, looked, reach.size)
    groups = [tuple(shown[begin : begin + reach.together]) for begin in range(0, len(shown), reach.together)]
    if not groups:
        return ReadEvidence((), (), {}, (0.0, 0.0))
    passes = await _read(question, groups, reader, 1.0)
    best = _best_passages(passes)[: reach.again]
    if len(best) > 1:
        larger = windows(question, [looked[number] for number in best], reach.again_size)
        group = tuple(replace(window, passage=best[window.passage]) for window in larger)
        passes += await _read(question, [group], reader, reach.again_weight)
    answers, weights = _answers(question, passes, form)
    logits = (max(one.reading.answers for one in passes), max(max(one.reading.evidence, default=0.0) for one in passes))
    further = _further(question, answers[0], looked, passes) if answers else ()
    return ReadEvidence(answers, further, weights, logits)


def _bounded(sentences: Sequence[str], seen: int) -> list[str]:
    """The sentences of a passage up to so many characters; the last may be cut."""
    bounded: list[str] = []
    for sentence in sentences:
        if seen <= 0:
            break
        bounded.append(sentence[:seen])
        seen -= len(sentence)
    return bounded


async def _read(
    question: str, groups: Sequence[tuple[Window, ...]], reader: PassageReader, weight: float
) -> list[Pass]:
    readings = await reader.read(question, [[window.shown for window in group] for group in groups])
    return [Pass(group, reading, weight) for group, reading in zip(groups, readings, strict=True)]


def _best_passages(passes: Iterable[Pass]) -> list[int]:
    """Numbers of passages, first those in which the likeliest spans and the plainest evidence are."""
    found: dict[int, float] = {}
    for one in passes:
        for window, evidence in zip(one.group, one.reading.evidence, strict=True):
            found[window.passage] = 1 / (1 + math.exp(-max(-30.0, min(30.0, evidence))))
        for span, probability in zip(one.reading.spans, one.probabilities(), strict=True):
            found[one.group[span.passage].passage] += probability
    return sorted(found, key=lambda number: (-found[number], number))


_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_COUNT = lazy_regex(
    r"\bhow (?:many|much|long|tall|far|old|deep|high|large|big|heavy|fast)\b|\bwhat age\b", re.IGNORECASE
)
_TIME = lazy_regex(
    r"^\W*(?:since |until |by )?when\b|\bwhen\W*$|\b(?:what|which) (?:year|date|day|month|decade|century)\b",
    re.IGNORECASE,
)
_YEARS = lazy_regex(r"\b(?:what|which) year\b", re.IGNORECASE)
_WHO = lazy_regex(
    r"(?:who|whom|whose|(?:(?:in|on|at|by|for|of|to|from) )?which (?!(?:[\w-]+ ){0,2}\w*(?:number|version|port|code|"
    r"figure|size|age|value|amount|percentage|share|toll|ratio|score|rank|level|line|page|room|floor|time|period|season|"
    r"edition|issue)))\b",
    re.IGNORECASE,
)
"""Questions that no number answers."""
_NUMBER = lazy_regex(
    r"\d|\b(?:no|none|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|fifty|hundred|thousand|"
    r"million|billion|half|dozen|once|twice)\b",
    re.IGNORECASE,
)
_DATED = lazy_regex(
    rf"\d|\b(?:{_MONTH}|monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|autumn|winter|century|never|"
    r"after|before)\b",
    re.IGNORECASE,
)
_TIMES = lazy_regex(r"^\W*how often\b|\bnumber of\b", re.IGNORECASE)
_AMOUNT = lazy_regex(
    r"(?<![\w.,-])(?:\d[\d.,]*\d|\d)(?:[ -](?:million|billion|thousand|hundred|times?|%|percent))*(?!\w)|"
    r"\b(?:(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|fifty|hundred|thousand|million|"
    r"billion|half|dozen)\b ?)+(?:times)?|\b(?:once|twice)\b",
    re.IGNORECASE,
)
_BARE = lazy_regex(rf"(?:{_NUMBER.pattern}|[\s.,])+", re.IGNORECASE)
"""A number by itself, which is no list."""
_LETTER = lazy_regex(r"[^\W\d_]")
_CODE = lazy_regex(r"\b\w+_\w+\b|\b[a-z]{2,}[A-Z]\w*")
"""Identifiers of code. `TechCrunch` and `McCarthy` are written like some of them, and are names."""
UNFIT: Final = 0.2
"""What is left of the weight of a span that is not of the kind that the question wants (a date, a number, a name), that
mostly repeats the question, or stands in a heading or in a list of terms.
"""
MOSTLY: Final = 0.6
TITLED: Final = 0.7
"""What is left of the weight of a span that stands in a title: text says more of what it names."""


Wanted = Literal["", "date", "year", "number"]
"""A kind of value that a question asks for, empty where it asks for something else."""


def wanted_value(question: str) -> Wanted:
    """The kind of value that a question asks for by its words."""
    if _TIME.search(question):
        return "year" if _YEARS.search(question) else "date"
    return "number" if _COUNT.search(question) or _TIMES.search(question) else ""


def value_of(text: str, wanted: Wanted) -> str:
    """The first value of this kind in a text, as it is written; empty where there is none."""
    dates = list(find_dates(text)) if wanted else []
    if wanted != "number":
        return "" if not dates else f"{dates[0][2].year}" if wanted == "year" else text[dates[0][0] : dates[0][1]]
    for number in _AMOUNT.finditer(text):
        if not any(start < number.end() and number.start() < end for start, end, _ in dates):
            return number.group().strip()
    return ""


def _fits(question: str, text: str) -> bool:
    words = content_stems(text)
    if len(words) > 1 and len(words & stems(question)) > MOSTLY * len(words):
        return False
    if _TIME.search(question):
        return bool(_DATED.search(text))
    if _COUNT.search(question):
        dates = [text[start:end] for start, end, _ in find_dates(text)]
        return bool(_NUMBER.search(reduce(lambda rest, date: rest.replace(date, ""), dates, text)))
    return bool(_LETTER.search(text)) if _WHO.match(question) else True


def _answers(
    question: str, passes: Sequence[Pass], form: str
) -> tuple[tuple[SpanAnswer, ...], dict[SentencePlace, float]]:
    found: dict[str, SpanAnswer] = {}
    weights: dict[SentencePlace, float] = defaultdict(float)
    identifiers = [found.casefold() for found in _CODE.findall(question)]
    for one in passes:
        for span, probability in zip(one.reading.spans, one.probabilities(), strict=True):
            window = one.group[span.passage]
            text, place = _text_of_span(question, window, span, form)
            weight = one.weight * probability
            weights[place] += weight
            sentence = _sentence(window, place)
            if not is_answer(text) or (form != "choice" and repeats(question, text)) or leads_to_page(sentence):
                continue
            here = f"{window.title} {' '.join(window.sentences)}".casefold()
            known_here = all(identifier in here for identifier in identifiers)
            in_heading = span.start < window.shown.begin and ":" in window.title[: span.start]
            if not known_here:
                continue
            fit = not in_heading and _fits(question, text) and not (form == "list" and _BARE.fullmatch(text))
            plain = form == "list" or says_something(sentence)
            weight *= 1.0 if fit and plain else UNFIT
            weight *= TITLED if span.start < window.shown.begin else 1.0
            evidence = one.reading.evidence[span.passage] if one.reading.evidence else 0.0
            new = SpanAnswer(text, place, weight, span.score, fit, one.reading.answers, evidence)
            known = found.get(key := _normal(text))
            if known is not None:
                new = replace(new if new.score > known.score else known, weight=known.weight + weight)
            found[key] = new
    return tuple(sorted(found.values(), key=lambda each: (-each.weight, each.text))), dict(weights)


def _text_of_span(question: str, window: Window, span: AnswerSpan, form: str) -> tuple[str, SentencePlace]:
    """The answer that a span is, and the sentence it stands in. One that stands in the title rests on the sentence that
    shares most with the question; one that runs over the end of a sentence is cut there.
    """
    shown = window.shown
    number = window.sentence_at(span.start)
    if number is None:
        text, start, end = shown.title, span.start, min(span.end, len(shown.title))
        shared = [len(stems(sentence) & content_stems(question)) for sentence in window.sentences]
        number = window.first + max(range(len(shared)), key=lambda at: (shared[at], -at))
    else:
        text = window.sentences[number - window.first]
        if _INITIAL.search(text):  # no end of a sentence: "G. Stanley Hall" was taken for two
            text = " ".join(window.sentences[number - window.first :])
        begin = shown.begin + sum(len(sentence) + 1 for sentence in window.sentences[: number - window.first])
        start, end = span.start - begin, min(span.end - begin, len(text))
    start, end = clean_span(text, start, max(end, start))
    if form == "list" and end > start:
        start, end = clean_span(text, *enumeration(text, start, end))
    return " ".join(text[start:end].split()), SentencePlace(window.passage, number)


def _sentence(window: Window, place: SentencePlace) -> str:
    return window.sentences[place.sentence - window.first]


_INITIAL = lazy_regex(r"(?:^|\s)[A-Z]\.$")


def _normal(text: str) -> str:
    return " ".join(word for word in re.findall(r"\w+", text.casefold()) if word not in ("the", "a", "an"))


_NAMED = lazy_regex(r"(?<!^)\b[A-Z][\w'’-]+")


def _further(
    question: str, best: SpanAnswer, passages: Sequence[TitledSentences], passes: Sequence[Pass]
) -> tuple[SentencePlace, ...]:
    """The sentence by which a name of the question leads to the answer's passage: it stands in another passage that the
    reader takes for evidence, has a name of the question that the answer's sentence does not, and names the title of
    the answer's passage, or its own is named by the answer's sentence.
    """
    names = frozenset[str]().union(*map(stems, _NAMED.findall(question)))
    title, sentences = passages[best.place.passage]
    cited = sentences[best.place.sentence].casefold() if best.place.sentence < len(sentences) else ""
    names -= stems(f"{title} {cited}")
    found: list[tuple[float, SentencePlace]] = []
    for one in passes:
        for window, evidence in zip(one.group, one.reading.evidence, strict=True):
            if window.passage == best.place.passage or evidence <= 0 or window.title == title:
                continue
            leads = bool(window.title) and window.title.casefold() in cited
            for number, sentence in enumerate(window.sentences, start=window.first):
                named = len(names & stems(f"{window.title} {sentence}"))
                linked = leads or (bool(title) and title.casefold() in sentence.casefold())
                if named and linked and says_something(sentence):
                    found.append((evidence + named, SentencePlace(window.passage, number)))
    return (max(found, key=lambda each: (each[0], -each[1].passage, -each[1].sentence))[1],) if found else ()
