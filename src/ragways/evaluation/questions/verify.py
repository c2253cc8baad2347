"""Verify, then filter: why a draft is left out, by rules, and by a model that answers it with and without the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement

from ragways.core.errors import UnusableReply
from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.facts import Fact, facts_of
from ragways.evaluation.questions.model_written import passages
from ragways.evaluation.questions.source import (
    AMBIGUOUS,
    ANSWERABLE,
    BY_HEART,
    LEAK,
    NOT_GROUNDED,
    SHORTCUT,
    UNREADABLE,
    QuestionDraft,
    QuestionSource,
    SupportingChunk,
)
from ragways.layers.graph.names import STOP
from ragways.tasks.questions import (
    QUESTION_CLOSED,
    QUESTION_GROUNDED,
    QUESTION_SAME,
    ClosedInput,
    GroundedInput,
    SameInput,
)
from ragways.tasks.refusal import refuses


def rule_fault(draft: QuestionDraft, source: QuestionSource) -> str:
    """The reason to leave a draft out, or nothing. What costs least is looked at first."""
    if draft.unanswerable:
        return ANSWERABLE if answerable(draft, source) else ""
    if not draft.choice and leaks(draft):
        return LEAK
    if not grounded(draft):
        return NOT_GROUNDED
    if any(id not in facts_of(source).sure for id in draft.checked):
        return AMBIGUOUS
    if draft.multi_hop and shortcut(draft, source):
        return SHORTCUT
    return ""


def leaks(draft: QuestionDraft) -> bool:
    """Whether the question holds all words of an accepted answer, or of the name that it begins with."""
    question = set(plain_words(draft.text).split())
    heads = () if draft.parts else (answer.split(",")[0] for answer in draft.answers)
    return any(words <= question for answer in (*draft.answers, *heads) if (words := set(_content(answer))))


def grounded(draft: QuestionDraft) -> bool:
    """Every quote stands in its chunk, and an accepted answer in one of them (or all of it is quotes)."""
    if not draft.support or any(_padded(one.quote) not in _padded(one.text) for one in draft.support if one.quote):
        return False
    if draft.choice or draft.parts:
        return bool(draft.answers)
    texts = [_padded(f"{one.title} {one.text}") for one in draft.support]
    return any(_padded(answer) in text for answer in draft.answers for text in texts)


def stands(draft: QuestionDraft) -> bool:
    """Whether what a model gave as the answer is in the text it rests on, whatever the model says of it.

    A short answer has to stand there with all its words, where the question does not list it. Of a longer one, every
    name and number has to, and most of the other words.
    """
    stated = _stems(" ".join(f"{one.title} {one.text}" for one in draft.support))
    named = _stems(draft.text)
    for answer in draft.answers:
        words = _content(answer)
        short = len(words) <= _SHORT
        known = stated | named if draft.choice or not short else stated
        sure = words if short else plain_words(" ".join(_SURE.findall(answer))).split()
        if all(_stem(word) in known for word in sure) and (
            sum(_stem(word) in known for word in words) >= _MOST_WORDS * len(words)
        ):
            return bool(words) or draft.choice
    return False


_SHORT = 6
"""Words, besides those of grammar, of an answer that is given word for word."""
_MOST_WORDS = 0.6
_SURE = re.compile(r"(?<!^)(?<![.!?] )\b(?:[^\W\d_a-z]\w*|\w*\d\w*)|^\d\w*")
"""Names and numbers in an answer; the first word of a sentence has a capital whatever it is."""


def _content(text: str) -> list[str]:
    """The words of an answer that say something; all of them where none does, as in `yes` and `The Who`."""
    words = plain_words(text).split()
    return [word for word in words if word not in STOP] or words


def _stem(word: str) -> str:
    """A beginning that forms of a word share; numbers are whole."""
    return word if len(word) < 6 or not word.isalpha() else word[: max(5, len(word) - 3)]


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in plain_words(text).split()}


def shortcut(draft: QuestionDraft, source: QuestionSource) -> bool:
    """Whether a part of the support suffices: a document holds what the question names and the answer, or a supporting
    chunk states what another one is there for, or joins what only several facts in a row should.
    """
    if not draft.choice and any(source.having(*draft.names, answer) for answer in draft.answers):
        return True
    facts = [facts_of(source).by_id[id] for id in draft.checked]
    for one in draft.support:
        text = _padded(f"{one.title} {one.text}")
        begun = [_padded(fact.subject.bare) in text for fact in facts]
        ended = [any(_padded(form) in text for form in _forms(fact, source)) for fact in facts]
        own = [number for number, other in enumerate(draft.support) if other.chunk == one.chunk]
        for first, last in combinations_with_replacement(range(len(facts)), 2):
            chained = first == last or not draft.choice
            if chained and begun[first] and ended[last] and not (first == last and last in own):
                return True
    return False


def _forms(fact: Fact, source: QuestionSource) -> tuple[str, ...]:
    """What texts may call the value of a fact: as it is written, or by the name of the document about it."""
    led = facts_of(source).subjects.all.get(fact.leads_to)
    return (*fact.answers, *([led.bare] if led is not None else []))


def answerable(draft: QuestionDraft, source: QuestionSource) -> bool:
    """Whether any document could answer what must have no answer."""
    return not draft.absent or any(source.having(name, beginning=cues) for name, cues in draft.absent)


def _padded(text: str) -> str:
    return f" {plain_words(text)} "


# By a model: it answers with the support, with parts of it, and with the book closed

MOST_ASKED = 3
"""Supporting chunks up to which every part is tried alone."""
FOUND = 8
"""Chunks, besides its own, from which a question that should have no answer is tried."""


async def model_fault(draft: QuestionDraft, source: QuestionSource) -> str:
    """The reason to leave a draft out, or nothing: first what a rule can check, then the calls that fail most often."""
    try:
        if draft.unanswerable:
            return await _null(draft, source)
        if not draft.choice and leaks(draft):
            return LEAK
        return await _answered(draft, source) if stands(draft) else NOT_GROUNDED
    except UnusableReply:
        return UNREADABLE


async def _answered(draft: QuestionDraft, source: QuestionSource) -> str:
    if not await _gives(draft, source, draft.support):
        return NOT_GROUNDED
    if draft.multi_hop:
        for part in _parts(draft.support):
            if await _gives(draft, source, part):
                return SHORTCUT
    by_heart = (await source.use.model.do(QUESTION_CLOSED, ClosedInput(draft.text))).value
    return BY_HEART if await _same(draft, source, by_heart) else ""


def _parts(support: Sequence[SupportingChunk]) -> list[tuple[SupportingChunk, ...]]:
    """Every proper part of the support, larger ones first; of more than three, those that leave out one, which hold
    what any smaller part holds.
    """
    count = len(support)
    smallest = 1 if count <= MOST_ASKED else count - 1
    return [part for size in range(count - 1, smallest - 1, -1) for part in combinations(support, size)]


async def _null(draft: QuestionDraft, source: QuestionSource) -> str:
    """It must stay unanswered even with what a search for it finds."""
    support = {one.chunk: one for one in (*draft.support, *await _search(draft.text, source))}
    given = GroundedInput(draft.text, passages(tuple(support.values())))
    reply = (await source.use.model.do(QUESTION_GROUNDED, given)).value
    return "" if refuses(reply) else ANSWERABLE


async def _gives(draft: QuestionDraft, source: QuestionSource, support: Sequence[SupportingChunk]) -> bool:
    """Whether these passages alone lead to the answer."""
    reply = (await source.use.model.do(QUESTION_GROUNDED, GroundedInput(draft.text, passages(support)))).value
    return await _same(draft, source, reply)


async def _same(draft: QuestionDraft, source: QuestionSource, reply: str) -> bool:
    if refuses(reply):
        return False
    if any(plain_words(reply) == plain_words(answer) for answer in draft.answers):
        return True
    given = SameInput(draft.text, expected=draft.answers[0], given=reply)
    return (await source.use.model.do(QUESTION_SAME, given)).value.same


async def _search(question: str, source: QuestionSource) -> list[SupportingChunk]:
    """What is nearest to a question by meaning and by words, half of each."""
    index, found = source.index, dict[str, None]()
    if "vectors" in index.layers:
        vector = await source.use.embed_question(question)
        found.update(dict.fromkeys(id for id, _ in index.vectors.search(vector, FOUND // 2)))
    if "words" in index.layers:
        found.update(dict.fromkeys(id for id, _ in index.words.search(question, FOUND // 2)))
    return [source.support(piece) for piece in index.pieces(found).values()]
