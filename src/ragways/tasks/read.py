"""Answering without a model: the answer from what the reader finds in the evidence.

A question for a thing, a name, a date or a number is answered by a span, and the sentence it stands in explains it. One
that asks how or why is answered by whole sentences: those in which the reader sees an answer and that fit the question
best, scored as in `extract.py`. One that compares is decided by rules over what is read (`reading/compare.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragways.reading.answers import (
    USUAL,
    PassageReader,
    Reach,
    ReadEvidence,
    SentencePlace,
    Wanted,
    read_evidence,
    value_of,
    wanted_value,
)
from ragways.reading.phrase import (
    announces,
    clean_sentence,
    excerpt,
    headed,
    is_label,
    leads_in,
    leans_on,
    names_code,
    needs_heading,
    resolved,
    says_something,
    titled_row,
)
from ragways.reading.questions import parse_question
from ragways.reading.sufficiency import BY_SENTENCES, Features, chance, coverage, structure
from ragways.reading.windows import content_stems, stems
from ragways.tasks.extract import SEARCHED, AnswerPassage, Candidate, Embed, Terms, score_sentences

LOOKED_AT: Final = 6
"""Passages that are read."""
COMPARED: Final = 6
"""Sentences that are compared with the question by meaning: what the reader leaves of the time there is."""
READ: Final = 0.3
"""What the reader's weight of a sentence adds to its score, at most."""
TELLING: Final = 0.1
"""What a sentence gains that names something to type: a function, a command, a setting."""
SEVERAL_LINES: Final = 0.2
"""What a sentence loses that is made of several lines, as in a list of changes."""
DEFINING: Final = 0.3
"""What a sentence gains that says what the thing is that the question asks for."""
ASIDE: Final = 0.1
"""What a sentence loses that leans on another one or stands in brackets."""
MOST_ITEMS: Final = 20
NEXT: Final = 0.65
ALIKE: Final = 0.6
"""A further sentence of an answer has at least this share of the first one's score, and shares at most so many words
with those before it.
"""
LEANT_ON: Final = 2
"""Sentences before one that it may lean on, one on the other."""
LED_IN: Final = 300
"""Characters that may follow a sentence that ends in a colon."""
NOWHERE: Final = -8.0
"""The logit of a span where the reader finds none."""

_EXPLAIN = re.compile(
    r"\s*(?:what(?:['’]s| is| are) (?:the )?(?:difference|purpose|meaning|point|idea|role|effect|advantage|"
    r"reason|best)\b|"
    r"what happens\b|what does \S+(?: \S+){0,3} (?:do|mean)\b|"
    r"what (?:is|are) (?:an? |the )?[\w.()-]+(?: [\w.()-]+)?\s*\??$|"
    r"(?:give|outline|summari[sz]e|what (?:caused|led to)|what .+, and (?:how|why|what))\b|"
    r"(?:what|when) (?:should|must|can|do) (?:i|you|we|one|an?)\b|tell me\b|in what way)",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    r"\s*(?:what (?:is|are) (?:the (?:purpose|meaning|role|point|idea) of )?(?:an? |the )?([\w.()-]+(?: [\w.()-]+)?)|"
    r"what does (\S+) (?:do|mean))\s*\??$",
    re.IGNORECASE,
)
_BECAUSE = re.compile(
    r"\b(?:because|since|so that|as it|due to|reason|otherwise|in order to|to avoid|therefore)\b", re.I
)
_SEVERAL = re.compile(
    r"\s*(?:which|what) (?:[\w-]+ ){0,3}[\w-]*[^\Wsui]s (?:are|do|does|can|may|must|have)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class CitedText:
    """A sentence, or a few words, and the sentences of the evidence it rests on."""

    text: str
    places: tuple[SentencePlace, ...]


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The sentences of an answer, how it follows, the chance of being right, and what that was made from. There are no
    sentences where the evidence has none that says anything.
    """

    sentences: tuple[CitedText, ...]
    explanation: tuple[CitedText, ...]
    chance: float
    features: Features


async def read_answer(
    question: str,
    passages: Sequence[AnswerPassage],
    reader: PassageReader,
    *,
    embed: Embed | None,
    terms: Terms,
    maximum: int,
    reach: Reach = USUAL,
) -> ReadAnswer:
    """The answer that the reader finds in passages. `embed` and `terms` are as in `extract`; `maximum` is the most
    sentences of an answer that consists of sentences; `reach` is how much is read.
    """
    form = _form(question)
    titled = [(passage.heading, passage.sentences) for passage in passages[:LOOKED_AT]]
    wants = wanted_value(question)
    read = await read_evidence(question, titled, reader, form, reach)
    best = read.answers[0] if read.answers else None
    if best and best.fit and form not in BY_SENTENCES and not needs_heading(best.text):
        shown = (best.place, *read.further)
        items = _listed(passages[best.place.passage].sentences, best.place) if form == "list" else []
        texts = [clean_sentence(passages[place.passage].sentences[place.sentence]).rstrip(",;.") for place in items]
        if items:
            lead = SentencePlace(items[0].passage, max(items[0].sentence - 1, 0))
            shown = (lead,) if leads_in(passages[lead.passage].sentences[lead.sentence]) else ()
        places = tuple(dict.fromkeys((*shown, *items)))
        texts_cited: tuple[CitedText, ...] = (
            CitedText(_joined(texts) if items else _trimmed(best.text, wants), places),
        )
        explanation = tuple(CitedText(_explaining(question, passages, place, best.text), (place,)) for place in shown)
    else:
        texts_cited, explanation = await _sentences(question, passages, read, embed, terms, maximum), ()
        if form not in BY_SENTENCES and (value := _value_in(texts_cited, wants)):
            texts_cited, explanation = (value,), texts_cited
    places = tuple(place for cited in texts_cited for place in cited.places)
    by_reader = (best.score, read.margin, best.evidence) if best else (NOWHERE, 0.0, read.logits[1])
    features = _features(question, passages, form, places, by_reader)
    return ReadAnswer(texts_cited, explanation, chance(features) if texts_cited else 0.0, features)


def _form(question: str) -> str:
    """The form of a question, with forms of documentation besides: differences, purposes, kinds."""
    if _EXPLAIN.match(question):
        return "prose"
    form = parse_question(question).form
    return "list" if form == "span" and _SEVERAL.match(question) else form


def _value_in(sentences: Sequence[CitedText], wants: Wanted) -> CitedText | None:
    """The first date or number in these sentences, where the question asks for one."""
    for sentence in sentences:
        if value := value_of(sentence.text, wants):
            return CitedText(value, sentence.places)
    return None


def _trimmed(answer: str, wants: Wanted) -> str:
    """An answer without what stands around the date that the question asks for."""
    return (value_of(answer, wants) or answer) if wants in ("date", "year") else answer


_ITEM_WORDS: Final = 6


def _listed(sentences: Sequence[str], place: SentencePlace) -> list[SentencePlace]:
    """The items of a list with a line each, one of which the sentence at a place is; nothing where it is none."""

    def is_item(number: int) -> bool:
        flat = clean_sentence(sentences[number])
        return 0 < len(flat.split()) <= _ITEM_WORDS and not re.search(r"[.:!?]$", flat)

    first = last = place.sentence
    if not is_item(first):
        return []
    while first and is_item(first - 1):
        first -= 1
    while last + 1 < len(sentences) and is_item(last + 1):
        last += 1
    items = [SentencePlace(place.passage, number) for number in range(first, last + 1)]
    return items if 1 < len(items) <= MOST_ITEMS else []


def _joined(items: Sequence[str]) -> str:
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else items[0]


def _features(
    question: str,
    passages: Sequence[AnswerPassage],
    form: str,
    places: Sequence[SentencePlace],
    read: tuple[float, float, float],
) -> Features:
    """The features of an answer that cites these places; `read` are its span, margin and evidence."""
    span, margin, evidence = read
    there = passages[places[0].passage if places else 0]
    length, nested = structure(question)
    return Features(
        span=span,
        margin=margin,
        evidence=evidence,
        names=coverage(question, [each.searched for each in passages[:LOOKED_AT]]).names,
        words=_stated(question, passages, places),
        nearness=there.nearness,
        agreement=there.retrievers,
        length=length,
        nested=nested,
        form=form,
    )


def _stated(question: str, passages: Sequence[AnswerPassage], places: Sequence[SentencePlace]) -> float:
    """The share of the question's words that the sentences at some places and their headings hold."""
    texts = [f"{passages[p.passage].heading} {passages[p.passage].sentences[p.sentence][:SEARCHED]}" for p in places]
    return coverage(question, texts).words


def _explaining(question: str, passages: Sequence[AnswerPassage], place: SentencePlace, answer: str = "") -> str:
    """The sentence at a place as it is shown: clean, with its pronoun resolved, and under its heading where that says
    what the sentence, or what the question, speaks of.
    """
    passage = passages[place.passage]
    sentence = excerpt(clean_sentence(passage.sentences[place.sentence]), answer)
    shown = resolved(titled_row(sentence, passage.title), passage.title, passage.sentences[: place.sentence])
    if shown == sentence and passage.section:
        missing = content_stems(question) - stems(sentence)
        if missing & stems(passage.section) or needs_heading(sentence):
            return headed(sentence, passage.section)
    return shown


async def _sentences(
    question: str,
    passages: Sequence[AnswerPassage],
    read: ReadEvidence,
    embed: Embed | None,
    terms: Terms,
    maximum: int,
) -> tuple[CitedText, ...]:
    """The best sentence, what belongs to it, and the next best ones that say more."""

    defined = _definition(question)
    why = question.lstrip().casefold().startswith("why")

    def bonus(candidate: Candidate) -> float | None:
        sentences = passages[candidate.passage].sentences
        sentence = sentences[candidate.sentence]
        if not says_something(sentence) or sentence.rstrip().endswith("?"):
            return None
        flat = clean_sentence(sentence[:1000])
        weight = read.weights.get(SentencePlace(candidate.passage, candidate.sentence), 0.0)
        return (
            READ * min(weight, 1.0)
            + TELLING * (names_code(flat) and not leads_in(flat))
            + TELLING * (why and _BECAUSE.search(flat) is not None)
            + DEFINING * (defined is not None and defined.match(flat) is not None)
            - ASIDE * (flat.startswith("(") or (leans_on(flat) and len(_stretch(sentences, candidate)) == 1))
            - SEVERAL_LINES * ("\n" in sentence.strip())
        )

    scored = await score_sentences(question, passages, embed=embed, terms=terms, compared=COMPARED, bonus=bonus)
    if scored is None:
        return ()
    chosen_texts: list[CitedText] = []
    known: set[SentencePlace] = set()
    words: list[frozenset[str]] = []
    best = max(scored.scores)
    for score, chosen in sorted(
        zip(scored.scores, scored.candidates, strict=True),
        key=lambda each: (-each[0], each[1].passage, each[1].sentence),
    ):
        sentences = passages[chosen.passage].sentences
        places = [place for place in _stretch(sentences, chosen) if place not in known]
        again = any(len(chosen.terms & other) > ALIKE * len(chosen.terms | other) for other in words)
        alone = chosen_texts and leans_on(sentences[chosen.sentence]) and places == [_place(chosen)]
        if chosen_texts and (score < NEXT * best or len(known) + len(places) > maximum or again or alone):
            continue
        if not places or (chosen_texts and leads_in(sentences[places[-1].sentence])):
            continue
        known.update(places)
        words.append(chosen.terms)
        first, *rest = places
        text = [_explaining(question, passages, first)]
        text += [excerpt(clean_sentence(sentences[place.sentence]), "") for place in rest]
        chosen_texts.append(CitedText(re.sub(r":$", ".", " ".join(text)), tuple(places)))
    return tuple(chosen_texts)


def _definition(question: str) -> re.Pattern[str] | None:
    """What a sentence looks like that says what the thing is that a question asks for; None where it asks otherwise."""
    if (what := _WHAT_IS.match(question)) is None:
        return None
    name = re.escape(what[1] or what[2])
    return re.compile(
        rf"(?:(?:you can )?think of\s+)?(?:(?:an?|the)\s+)?{name}s?\b[^.]{{0,40}}?"
        r"(?:\b(?:is|are|means|stands|refers|provides|lets|allows|as)\b|—)",
        re.IGNORECASE,
    )


def _place(chosen: Candidate) -> SentencePlace:
    return SentencePlace(chosen.passage, chosen.sentence)


def _stretch(sentences: Sequence[str], chosen: Candidate) -> list[SentencePlace]:
    """A sentence with those before it that it leans on, and what it leads to where it ends in a colon or announces."""
    first = last = chosen.sentence
    lowest = max(first - LEANT_ON, 0)
    while first > lowest and leans_on(clean_sentence(sentences[first])) and says_something(sentences[first - 1]):
        first -= 1
    room = LED_IN
    if announces(clean_sentence(sentences[last])) and last + 1 < len(sentences) and says_something(sentences[last + 1]):
        last += 1
    while leads_in(sentences[last]) and last + 1 < len(sentences) and len(sentences[last + 1]) <= room:
        if is_label(sentences[last + 1]):
            break
        last += 1
        room -= len(sentences[last])
    return [SentencePlace(chosen.passage, number) for number in range(first, last + 1)]
