"""Answering without a model: what the reader finds in the evidence, said as an answer.

A question for a thing, a name, a date or a number is answered by a span, and the sentence it stands in explains it. One
that asks how or why is answered by whole sentences: those in which the reader sees an answer and that fit the question
best, scored as in `extract.py`. One that compares is decided by rules over what is read (`reading/compare.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragways.reading.answers import PassageReader, ReadEvidence, SentencePlace, read_evidence
from ragways.reading.phrase import (
    clean_sentence,
    excerpt,
    headed,
    leads_in,
    leans_on,
    names_code,
    needs_heading,
    resolved,
    says_something,
)
from ragways.reading.questions import asked
from ragways.reading.sufficiency import Features, chance, coverage
from ragways.reading.windows import content_stems, stems
from ragways.tasks.extract import AnswerPassage, Candidate, Embed, Terms, score_sentences

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
NEXT: Final = 0.6
ALIKE: Final = 0.6
"""A further sentence of an answer has at least this share of the first one's score, and shares at most so many words
with those said before.
"""
LED_IN: Final = 300
"""Characters that may follow a sentence that ends in a colon."""
NOWHERE: Final = -8.0
"""The logit of a span where the reader finds none."""

_EXPLAIN = re.compile(
    r"\s*(?:what(?:['’]s| is| are) (?:the )?(?:difference|purpose|meaning|point|idea|role|effect|advantage|"
    r"reason|best)\b|"
    r"what happens\b|what does \S+(?: \S+){0,3} (?:do|mean)\b|"
    r"what (?:is|are) (?:an? |the )?[\w.()-]+(?: [\w.()-]+)?\s*\??$|"
    r"(?:what|when) (?:should|must|can|do) (?:i|you|we|one|an?)\b|tell me\b|in what way)",
    re.IGNORECASE,
)
_BY_SENTENCES = frozenset({"prose", "yes-no", "same", "both"})


@dataclass(frozen=True, slots=True)
class CitedText:
    """A sentence, or a few words, and the sentences of the evidence it rests on."""

    text: str
    places: tuple[SentencePlace, ...]


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What is said, how it follows, the chance of being right, and what that was made from. Nothing is said where no
    sentence of the evidence says anything.
    """

    said: tuple[CitedText, ...]
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
) -> ReadAnswer:
    """The answer that the reader finds in passages. `embed` and `terms` are as in `extract`; `maximum` is how many
    sentences are said at most where sentences answer.
    """
    form = "prose" if _EXPLAIN.match(question) else asked(question).form
    titled = [(passage.heading, passage.sentences) for passage in passages[:LOOKED_AT]]
    read = await read_evidence(question, titled, reader, form)
    features = _features(question, passages, read, form)
    best = read.answers[0] if read.answers else None
    if best and form not in _BY_SENTENCES and not needs_heading(best.text):
        places = tuple(dict.fromkeys((best.place, *read.further)))
        said: tuple[CitedText, ...] = (CitedText(best.text, places),)
        explanation = tuple(CitedText(_explaining(question, passages, place, best.text), (place,)) for place in places)
    else:
        said, explanation = await _sentences(question, passages, read, embed, terms, maximum), ()
    return ReadAnswer(said, explanation, chance(features) if said else 0.0, features)


def _features(question: str, passages: Sequence[AnswerPassage], read: ReadEvidence, form: str) -> Features:
    looked = passages[:LOOKED_AT]
    names, words = coverage(question, [f"{p.heading} {p.date} {p.text[:20_000]}" for p in looked])
    best = read.answers[0] if read.answers else None
    there = passages[best.place.passage] if best else passages[0]
    return Features(
        span=best.score if best else NOWHERE,
        margin=read.margin,
        answers=best.answers if best else read.logits[0],
        evidence=best.evidence if best else read.logits[1],
        names=names,
        words=words,
        nearness=there.nearness,
        agreement=there.retrievers,
        form=form,
    )


def _explaining(question: str, passages: Sequence[AnswerPassage], place: SentencePlace, answer: str = "") -> str:
    """The sentence at a place as it is shown: clean, with its pronoun resolved, and under its heading where that says
    what the sentence, or what the question, speaks of.
    """
    passage = passages[place.passage]
    sentence = excerpt(clean_sentence(passage.sentences[place.sentence]), answer)
    said = resolved(sentence, passage.title, passage.sentences[: place.sentence])
    if said == sentence and passage.section:
        missing = content_stems(question) - stems(sentence)
        if missing & stems(passage.section) or needs_heading(sentence):
            return headed(sentence, passage.section)
    return said


async def _sentences(
    question: str,
    passages: Sequence[AnswerPassage],
    read: ReadEvidence,
    embed: Embed | None,
    terms: Terms,
    maximum: int,
) -> tuple[CitedText, ...]:
    """The best sentence, what belongs to it, and the next best ones that say more."""

    def bonus(candidate: Candidate) -> float | None:
        sentence = passages[candidate.passage].sentences[candidate.sentence]
        weight = read.weights.get(SentencePlace(candidate.passage, candidate.sentence), 0.0)
        if not says_something(sentence):
            return None
        named = TELLING if names_code(sentence) and not leads_in(sentence) else 0.0
        return READ * min(weight, 1.0) + named - (SEVERAL_LINES if "\n" in sentence.strip() else 0.0)

    scored = await score_sentences(question, passages, embed=embed, terms=terms, compared=COMPARED, bonus=bonus)
    if scored is None:
        return ()
    said: list[CitedText] = []
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
        if said and (score < NEXT * best or len(known) + len(places) > maximum or again):
            continue
        if not places or (said and leads_in(sentences[places[-1].sentence])):
            continue
        known.update(places)
        words.append(chosen.terms)
        first, *rest = places
        text = [_explaining(question, passages, first)]
        text += [excerpt(clean_sentence(sentences[place.sentence]), "") for place in rest]
        said.append(CitedText(" ".join(text), tuple(places)))
    return tuple(said)


def _stretch(sentences: Sequence[str], chosen: Candidate) -> list[SentencePlace]:
    """A sentence with the one before it where it leans on that, and what it leads to where it ends in a colon."""
    first = last = chosen.sentence
    if leans_on(clean_sentence(sentences[first])) and first and says_something(sentences[first - 1]):
        first -= 1
    room = LED_IN
    while leads_in(sentences[last]) and last + 1 < len(sentences) and len(sentences[last + 1]) <= room:
        last += 1
        room -= len(sentences[last])
    return [SentencePlace(chosen.passage, number) for number in range(first, last + 1)]
