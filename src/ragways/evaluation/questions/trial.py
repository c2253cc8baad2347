"""Verify, then filter, by a model: it answers with the support, with parts of it, and with the book closed."""

from __future__ import annotations

from collections.abc import Sequence

from ragways.core.errors import UnusableReply
from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.asked import passages
from ragways.evaluation.questions.draft import (
    ANSWERABLE,
    BY_HEART,
    LEAK,
    NOT_GROUNDED,
    SHORTCUT,
    UNREADABLE,
    Draft,
    Support,
)
from ragways.evaluation.questions.material import Material
from ragways.evaluation.questions.verify import leaks
from ragways.tasks.questions import (
    QUESTION_CLOSED,
    QUESTION_GROUNDED,
    QUESTION_SAME,
    ClosedInput,
    GroundedInput,
    SameInput,
)
from ragways.tasks.search import refuses

FOUND = 8
"""Chunks, besides its own, from which a question that should have no answer is tried."""


async def fault(draft: Draft, material: Material) -> str:
    """The reason to leave a draft out, or nothing: first what a rule can tell, then the calls that fail most often."""
    try:
        if draft.unanswerable:
            return await _null(draft, material)
        if not draft.choice and leaks(draft):
            return LEAK
        return await _answered(draft, material)
    except UnusableReply:
        return UNREADABLE


async def _answered(draft: Draft, material: Material) -> str:
    if not await _gives(draft, material, draft.support):
        return NOT_GROUNDED
    if draft.multi_hop:
        for one in draft.support:
            if await _gives(draft, material, (one,)):
                return SHORTCUT
    by_heart = (await material.use.model.do(QUESTION_CLOSED, ClosedInput(draft.text))).value
    return BY_HEART if await _same(draft, material, by_heart) else ""


async def _null(draft: Draft, material: Material) -> str:
    """It must stay unanswered even with what a search for it finds."""
    support = {one.chunk: one for one in (*draft.support, *await _search(draft.text, material))}
    given = GroundedInput(draft.text, passages(tuple(support.values())))
    said = (await material.use.model.do(QUESTION_GROUNDED, given)).value
    return "" if refuses(said) else ANSWERABLE


async def _gives(draft: Draft, material: Material, support: Sequence[Support]) -> bool:
    """Whether these passages alone lead to the answer."""
    said = (await material.use.model.do(QUESTION_GROUNDED, GroundedInput(draft.text, passages(support)))).value
    return await _same(draft, material, said)


async def _same(draft: Draft, material: Material, said: str) -> bool:
    if refuses(said):
        return False
    if any(plain_words(said) == plain_words(answer) for answer in draft.answers):
        return True
    given = SameInput(draft.text, expected=draft.answers[0], given=said)
    return (await material.use.model.do(QUESTION_SAME, given)).value.same


async def _search(question: str, material: Material) -> list[Support]:
    """What is nearest to a question by meaning and by words, half of each."""
    index, found = material.index, dict[str, None]()
    if "vectors" in index.layers:
        vector = await material.use.embed_question(question)
        found.update(dict.fromkeys(id for id, _ in index.vectors.search(vector, FOUND // 2)))
    if "words" in index.layers:
        found.update(dict.fromkeys(id for id, _ in index.words.search(question, FOUND // 2)))
    return [material.support(piece) for piece in index.pieces(found).values()]
