"""What the reader does for paradigms: how likely passages are evidence, and what it does beside a model.

Several passages are read together, each in the others' light: one that says nothing of the question by itself is
evidence where it goes on from another one that does. What the reader says of a passage is a logit
(`models/reader.py`), one thing among those by which `fused` orders.

Beside a model it puts passages in order (`answer.order`), spares a call that would find nothing (`answer.stop_below`)
and compares the answers (`answer.check`). None of these replaces what a model says. Where the reader's weights are
missing all three are off, with one warning; a question in a language that the reader does not know is left alone, and
the trace says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ragways.core.errors import MissingPart, StoreFailed
from ragways.core.language import NAMES, folded_words, language
from ragways.core.markdown import unmarked
from ragways.core.runtime import warn_once
from ragways.core.trace import current_span
from ragways.core.types import Answer, Found, Hits, Piece
from ragways.models.encoder import CURE
from ragways.models.reader import READER_LANGUAGE
from ragways.models.task import Task
from ragways.reading.windows import windows
from ragways.retrieval.resources import Resources
from ragways.tasks.answers import AnswerInput, AnswerReply, RuleReply

if TYPE_CHECKING:
    from ragways.models.reader import Reading
    from ragways.reading.answers import PassageReader


TOGETHER: Final = 6
"""Passages read in one pass."""
SIZE: Final = 260
"""Characters of each: six of them and a question fill what the reader takes in."""
FEW: Final = 3
PASS: Final = 100
"""CPU milliseconds that a pass of six takes; one of three takes half."""


def affordable(milliseconds: float) -> int:
    """How many passages can be read in so many CPU milliseconds."""
    if milliseconds < PASS:
        return FEW if milliseconds >= PASS / 2 else 0
    return TOGETHER * int(milliseconds // PASS)


async def evidence_logits(
    use: Resources, question: str, pieces: Sequence[Piece], *, enough: float = math.inf
) -> list[float] | None:
    """For each piece the logit of being evidence; None where there is no reader, or none for this language.

    Where the first three answer the question with a logit above `enough`, no others are read, and the list ends there.
    """
    if use.reader is None or language(question) not in ("", READER_LANGUAGE):
        return None
    try:
        if enough < math.inf and len(pieces) > FEW:
            first = await _read(use.reader, use, question, pieces[:FEW])
            if first.answers > enough:
                return [*first.evidence]
        groups = [pieces[begin : begin + TOGETHER] for begin in range(0, len(pieces), TOGETHER)]
        return [logit for group in groups for logit in (await _read(use.reader, use, question, group)).evidence]
    except (MissingPart, StoreFailed) as error:  # the answer tells it, too
        current_span().details["not read"] = str(error)
        return None


async def _read(reader: PassageReader, use: Resources, question: str, pieces: Sequence[Piece]) -> Reading:
    shown = windows(question, [(piece.title, _sentences(use, piece)) for piece in pieces], SIZE)
    return (await reader.read(question, [[window.shown for window in shown]]))[0]


def _sentences(use: Resources, piece: Piece) -> list[str]:
    spans = use.index.sentences(piece)
    return [piece.text[start - piece.start : end - piece.start] for start, end in spans] or [piece.text]


ORDERED_BY: Final = "reader"
"""The name under which the reader stands in `Hit.found`. It finds nothing that others did not."""
SURE: Final = 0.8
"""The least chance with which the reader contradicts a model."""
_ARTICLES: Final = frozenset({"the", "a", "an"})


def reader_for(use: Resources, question: str) -> tuple[PassageReader | None, str]:
    """The reader, or None and the reason."""
    if use.answer_by != "read" or use.reader is None:
        return None, ""
    code = language(question)
    if code not in ("", READER_LANGUAGE):
        return None, f"the reader knows English only, and the question is in {NAMES.get(code, code)}"
    return use.reader, ""


async def ordered(use: Resources, hits: Hits) -> Hits:
    """The best hits in the order in which the reader takes them for evidence, where a model is to be shown them.

    Only chunks change places, and only among the first six: reports, facts and the sentences of a walk have an order
    that says something. Scores stay with the ranks, as a list is best first.
    """
    if not use.order or not _works_beside(use):
        return hits
    places = [n for n, hit in enumerate(hits.items[:TOGETHER]) if hit.piece.kind == "chunk"]
    best = [hits.items[n] for n in places]
    reader, why_not = reader_for(use, hits.query.text)
    if reader is None:
        current_span().details["reader"] = why_not
    if reader is None or len(best) < 2:
        return hits
    logits = await evidence_logits(use, hits.query.text, [hit.piece for hit in best])
    if logits is None:
        warn_once(f"the reader cannot be opened, and passages keep their order; {CURE}")
        return hits
    items = list(hits.items)
    order = sorted(range(len(best)), key=lambda n: (-logits[n], n))
    for rank, (place, n) in enumerate(zip(places, order, strict=True), start=1):
        found = (*best[n].found, Found(ORDERED_BY, rank, logits[n]))
        items[place] = replace(best[n], score=hits.items[place].score, found=found)
    current_span().details["ordered"] = [n + 1 for n in order]
    return replace(hits, items=tuple(items))


async def read_first(use: Resources, task: Task[AnswerInput, AnswerReply], given: AnswerInput) -> RuleReply | None:
    """The reader's answer before a model is called, where a setting needs it; None where it does not read."""
    if not (use.check or use.stop_below) or not _works_beside(use) or given.extractor.reader is None:
        return None
    found = (await use.model.by_rule(task, given, "rule: before the model")).value
    return found if isinstance(found, RuleReply) and found.read else None


async def note_on_refusal(use: Resources, task: Task[AnswerInput, AnswerReply], given: AnswerInput) -> str:
    """What the reader finds where a model finds nothing: a weak model declines, too, where the evidence answers. Empty
    where the reader is not sure, or there is none.
    """
    if given.extractor.reader is None:
        return ""
    found = (await use.model.by_rule(task, given, "rule: after the model's refusal")).value
    if not isinstance(found, RuleReply) or not found.explanation or (found.chance or 0.0) < SURE:
        return ""
    return f"the model found no answer in the evidence, but the reader does: {found.sentences[0].marked}"


def _works_beside(use: Resources) -> bool:
    if use.model.model is None or use.answer_by != "read":
        return False
    if use.reader is None:
        warn_once("the reader's weights are not here: answer.order, answer.stop_below and answer.check do nothing")
    return use.reader is not None


def checked(answer: Answer, first: RuleReply | None) -> Answer:
    """A model's answer with the reader's chance where the two agree, and else, where the reader is sure, with what it
    found. Where that is not likely enough, or whole sentences, there is nothing to compare.
    """
    if first is None or not first.answered or not first.explanation:
        return answer
    found, chance = first.sentences[0], first.chance or 0.0
    if _agree(answer.text, found.text):
        return replace(answer, chance=chance)
    return replace(answer, note=f"the reader finds another answer: {found.marked}") if chance >= SURE else answer


def _agree(answer: str, found: str) -> bool:
    """Whether one answer contains the other: "in 1801", and "1801"."""
    one, other = _words(unmarked(answer)), _words(found)
    return _within(other, one) or _within(one, other)


def _words(text: str) -> list[str]:
    return [word for word in folded_words(text) if word not in _ARTICLES]


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    return bool(part) and f" {' '.join(part)} " in f" {' '.join(whole)} "
