"""Verify, then filter: why a draft must not be kept, by rules, and by a model that answers it with and without help."""

from __future__ import annotations

from collections.abc import Sequence

from ragways.core.errors import UnusableReply
from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.draft import (
    AMBIGUOUS,
    ANSWERABLE,
    BY_HEART,
    LEAK,
    NOT_GROUNDED,
    SHORTCUT,
    UNREADABLE,
    QuestionDraft,
    SupportingChunk,
)
from ragways.evaluation.questions.model_written import passages
from ragways.evaluation.questions.source import QuestionSource
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
    if any(id not in source.facts.sure for id in draft.checked):
        return AMBIGUOUS
    if draft.multi_hop and shortcut(draft, source):
        return SHORTCUT
    return ""


def leaks(draft: QuestionDraft) -> bool:
    """Whether an accepted answer, or the name that it begins with, stands in the question."""
    question = _padded(draft.text)
    heads = () if draft.parts else (answer.split(",")[0] for answer in draft.answers)
    return any(_padded(said) in question for said in (*draft.answers, *heads) if plain_words(said))


def grounded(draft: QuestionDraft) -> bool:
    """Every quote stands in its chunk, and an accepted answer in one of them (or all of it is quotes)."""
    if not draft.support or any(_padded(one.quote) not in _padded(one.text) for one in draft.support if one.quote):
        return False
    if draft.choice or draft.parts:
        return bool(draft.answers)
    texts = [_padded(f"{one.title} {one.text}") for one in draft.support]
    return any(_padded(answer) in text for answer in draft.answers for text in texts)


def shortcut(draft: QuestionDraft, source: QuestionSource) -> bool:
    """Whether one document holds both what the question names and the answer."""
    return any(source.texts.holding(*draft.names, answer) for answer in draft.answers)


def answerable(draft: QuestionDraft, source: QuestionSource) -> bool:
    """Whether any document could answer what must have no answer."""
    return not draft.absent or any(source.texts.speaking(name, cues) for name, cues in draft.absent)


def _padded(text: str) -> str:
    return f" {plain_words(text)} "


# By a model: it answers with the support, with parts of it, and with the book closed

FOUND = 8
"""Chunks, besides its own, from which a question that should have no answer is tried."""


async def model_fault(draft: QuestionDraft, source: QuestionSource) -> str:
    """The reason to leave a draft out, or nothing: first what a rule can tell, then the calls that fail most often."""
    try:
        if draft.unanswerable:
            return await _null(draft, source)
        if not draft.choice and leaks(draft):
            return LEAK
        return await _answered(draft, source)
    except UnusableReply:
        return UNREADABLE


async def _answered(draft: QuestionDraft, source: QuestionSource) -> str:
    if not await _gives(draft, source, draft.support):
        return NOT_GROUNDED
    if draft.multi_hop:
        for one in draft.support:
            if await _gives(draft, source, (one,)):
                return SHORTCUT
    by_heart = (await source.use.model.do(QUESTION_CLOSED, ClosedInput(draft.text))).value
    return BY_HEART if await _same(draft, source, by_heart) else ""


async def _null(draft: QuestionDraft, source: QuestionSource) -> str:
    """It must stay unanswered even with what a search for it finds."""
    support = {one.chunk: one for one in (*draft.support, *await _search(draft.text, source))}
    given = GroundedInput(draft.text, passages(tuple(support.values())))
    said = (await source.use.model.do(QUESTION_GROUNDED, given)).value
    return "" if refuses(said) else ANSWERABLE


async def _gives(draft: QuestionDraft, source: QuestionSource, support: Sequence[SupportingChunk]) -> bool:
    """Whether these passages alone lead to the answer."""
    said = (await source.use.model.do(QUESTION_GROUNDED, GroundedInput(draft.text, passages(support)))).value
    return await _same(draft, source, said)


async def _same(draft: QuestionDraft, source: QuestionSource, said: str) -> bool:
    if refuses(said):
        return False
    if any(plain_words(said) == plain_words(answer) for answer in draft.answers):
        return True
    given = SameInput(draft.text, expected=draft.answers[0], given=said)
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
