"""Evidence → Answer: the one shared way to answer, with citations down to the sentence, and to abstain."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final

from ragways.core.errors import BudgetExceeded, ModelError, UnusableReply
from ragways.core.markdown import Claim, claims
from ragways.core.step import Step
from ragways.core.stream import current_stream
from ragways.core.types import ABSTENTION, Answer, Citation, Evidence, Hit, Hits, Origin, Piece, Query
from ragways.layers.words import terms
from ragways.models.client import RULE_AFTER_FAILURE, RULE_INSTEAD, RULE_OVER_BUDGET
from ragways.models.embed import reads
from ragways.models.task import Outcome, Task
from ragways.reading.answers import USUAL, Reach
from ragways.retrieval.paradigm import Strategy, Tokens
from ragways.retrieval.reader import ORDERED_BY, checked, note_on_refusal, read_first, reader_for
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import pack
from ragways.tasks.answers import (
    ANSWER,
    NATIVE,
    RECALL,
    SHORT_ANSWER,
    SHORT_RECALL,
    AnswerInput,
    AnswerReply,
    Extractor,
    Native,
    RecallInput,
    RuleReply,
    answer_so_far,
    marked_text,
)
from ragways.tasks.extract import AnswerPassage

_VERBATIM = ("chunk", "sentence", "paragraph", "section", "article")
"""Kinds of pieces whose text stands in a document word for word."""
READ_WAY: Final = "rule: read"
"""The way of an answer that the reader found."""
NOT_ASKED: Final = "rule: the model was not asked"
"""The way of an abstention where the reader takes it for unlikely that the evidence answers."""


_RETRIEVAL_ONLY: ContextVar[bool] = ContextVar("ragways_retrieval_only", default=False)


@contextmanager
def retrieval_only() -> Iterator[None]:
    """Inside, nothing is answered: the step `answer` passes its evidence on and abstains."""
    token = _RETRIEVAL_ONLY.set(True)
    try:
        yield
    finally:
        _RETRIEVAL_ONLY.reset(token)


def is_retrieval_only() -> bool:
    """Whether answering is left out here, to measure or to use retrieval alone."""
    return _RETRIEVAL_ONLY.get()


def answer(
    use: Resources, prompt: Native | None = None, *, stream: bool = True, reach: Reach = USUAL
) -> Step[Evidence, Answer]:
    """Answer from the evidence, or abstain where it has no answer.

    `prompt` is the paradigm's own prompt, used where the settings choose native prompts. With short prompts, the words
    of an abstention in a reply are an abstention.
    `stream`: whether the text may be passed on while it is written (see `core/stream.py`). `reach`: how much is read
    where the reader answers.
    """
    native, short = prompt if use.prompts == "native" else None, use.prompts == "short"

    async def run(evidence: Evidence) -> Answer:
        if is_retrieval_only():
            return _abstain(evidence, "retrieval only")
        if not evidence.items:
            return _abstain(evidence, "no evidence")
        wishes = replace(use.wishes, style="") if short else use.wishes
        evidence = with_shown(use, evidence)
        task = wishes.applied(SHORT_ANSWER if short else NATIVE[native] if native else ANSWER)
        places = [use.index.sentences(hit.piece) for hit in evidence.items]
        passages = tuple(
            _passage(hit, spans, origin, shown)
            for (hit, origin, _), spans, shown in zip(evidence.described(), places, evidence.shown, strict=True)
        )
        query = evidence.hits.query
        given = AnswerInput(query.text, passages, _extractor(use, query.text, reach), query.searches)
        first = await read_first(use, task, given)
        if first is not None and (first.chance or 0.0) < use.stop_below:
            return replace(_abstain(evidence, NOT_ASKED), chance=first.chance)
        listening = current_stream() if stream else None
        on_text = listening.reply(answer_so_far, evidence) if listening else None
        error = ""
        try:
            outcome = await use.model.do(task, given, on_text=on_text)
        except (ModelError, BudgetExceeded) as failed:
            if not use.fallback:
                raise
            outcome, error = await use.model.by_rule(task, given, way_after(failed)), str(failed)
        reply, how = outcome.value, _how_made(outcome.value, outcome.way)
        against = first if use.check and not outcome.by_rule else None
        if not reply.answered:
            if not outcome.by_rule and against is None:
                how["note"] = await note_on_refusal(use, task, given)
            return checked(replace(_abstain(evidence, outcome.way), error=error, **how), against)
        if isinstance(reply, RuleReply):
            cited = _cited(use, reply, evidence.items, places)
            for count in range(1, len(reply.sentences) + 1):
                if listening is not None:
                    listening.update(marked_text(reply.sentences[:count]))
        else:
            cited = [
                one
                for number, claim in enumerate(claims(reply.text, len(evidence.items)))
                for one in _citations(use, number, claim, evidence.items, places)
            ]
        given_answer = Answer(evidence, reply.text, tuple(cited), way=outcome.way, note=_note(outcome, task))
        return checked(replace(given_answer, error=error, **how), against)

    return Step("answer", run, prompts=f"native {native}" if native else "short" if short else "shared")


def answered(
    step: Callable[..., Step[Query, Hits]], prompt: Native | None = None, *, tokens: int = 8000
) -> Callable[..., Strategy]:
    """The builder of a paradigm that is one step: its hits, as many as fit `tokens`, and an answer from them. Its
    settings are those of the step, and `tokens`.
    """

    def build(use: Resources, *, tokens: int = tokens, **settings: object) -> Strategy:
        return step(use, **settings) >> pack(use, tokens) >> answer(use, prompt)

    signature = inspect.signature(step, eval_str=True)
    budget = inspect.Parameter("tokens", inspect.Parameter.KEYWORD_ONLY, default=tokens, annotation=Tokens)
    build.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), budget], return_annotation=Strategy
    )
    return build


def _extractor(use: Resources, question: str, reach: Reach) -> Extractor:
    """What answers this question without a model: the reader, unless it is not wanted or does not know the language."""
    embed = use.embed if reads(use.embedder, question) else None
    reader, note = reader_for(use, question)
    return Extractor(embed, terms, use.threshold, use.sentences, reader, note, reach, use.doubt)


def _how_made(reply: AnswerReply, way: str) -> dict[str, Any]:
    """Fields of an answer that only one made without a model has."""
    if not isinstance(reply, RuleReply):
        return {}
    made: dict[str, Any] = {"chance": reply.chance, "note": reply.note, "explanation": marked_text(reply.explanation)}
    return {**made, "way": READ_WAY} if reply.read and way == "rule" else made


def way_after(failed: ModelError | BudgetExceeded) -> str:
    """The way of an answer by the rule after a model was asked in vain, or could not be asked."""
    if isinstance(failed, BudgetExceeded):
        return RULE_OVER_BUDGET
    return RULE_INSTEAD if isinstance(failed, UnusableReply) else RULE_AFTER_FAILURE


def recall(use: Resources) -> Step[Query, Answer]:
    """Answer from what the model knows; without a model that is nothing."""

    async def run(query: Query) -> Answer:
        evidence = Evidence(Hits(query), (), 0)
        listening = current_stream()
        on_text = listening.reply(answer_so_far, None) if listening else None
        short = use.prompts == "short"
        wishes = replace(use.wishes, style="") if short else use.wishes
        task = wishes.applied(SHORT_RECALL if short else RECALL)
        outcome = await use.model.do(task, RecallInput(query.text), on_text=on_text)
        if not outcome.value.answered:
            return _abstain(evidence, outcome.way)
        return Answer(evidence, outcome.value.text, way=outcome.way, note=_note(outcome, task), from_memory=True)

    return Step("recall", run)


def _note(outcome: Outcome[AnswerReply], task: Task[Any, AnswerReply]) -> str:
    """What is to be known of an answer that did not end as its model meant it to."""
    if outcome.repeats:
        return "the model began to repeat itself and was stopped"
    return f"it was cut off at {task.max_output:,} tokens; set answer.tokens higher" if outcome.cut else ""


def _abstain(evidence: Evidence, way: str) -> Answer:
    return Answer(evidence, ABSTENTION, abstained=True, way=way)


def with_shown(use: Resources, evidence: Evidence) -> Evidence:
    """Return evidence with its passages as Markdown."""
    return replace(evidence, shown=tuple(use.index.shown(hit.piece) for hit in evidence.items))


def _passage(hit: Hit, spans: Sequence[tuple[int, int]], origin: Origin, shown: str) -> AnswerPassage:
    piece = hit.piece
    if piece.kind not in _VERBATIM:
        # A report's lines are its summary and its findings.
        sentences = tuple(filter(None, piece.text.splitlines()))
    else:
        sentences = tuple(piece.text[start - piece.start : end - piece.start] for start, end in spans) or (piece.text,)
    near = [found.score for found in hit.found if found.by == "dense" and -1 <= found.score <= 1]
    return AnswerPassage(
        piece.title,
        piece.date,
        piece.text,
        sentences,
        piece.kind,
        hit.score,
        section=origin.section[-1] if origin.section else "",
        retrievers=len({found.by for found in hit.found} - {ORDERED_BY}),
        nearness=max(near, default=None),
        path=origin.heading(piece.title),
        shown=shown,
    )


def _cited(
    use: Resources, reply: RuleReply, hits: Sequence[Hit], places: Sequence[Sequence[tuple[int, int]]]
) -> list[Citation]:
    """What an answer by rule rests on: the sentences that the reader named, else those most like its own."""
    named = reply.places or [()] * len(reply.sentences)
    cited: list[Citation] = []
    for number, (sentence, exact) in enumerate(zip(reply.sentences, named, strict=True)):
        verbatim = [p for p in exact if hits[p.passage].piece.kind in _VERBATIM and p.sentence < len(places[p.passage])]
        for place in verbatim:
            piece, span = hits[place.passage].piece, places[place.passage][place.sentence]
            cited.append(citation(use, number, piece, span, use.index.text(piece.document, *span)))
        known = {place.passage + 1 for place in verbatim}
        others = tuple(passage for passage in sentence.passages if passage not in known)
        cited += _citations(use, number, Claim(sentence.text, others), hits, places)
    return cited


def _citations(
    use: Resources, number: int, claim: Claim, hits: Sequence[Hit], places: Sequence[Sequence[tuple[int, int]]]
) -> list[Citation]:
    """For each passage that a claim cites, the one to three sentences of it that hold most of what the claim says."""
    cited = []
    for passage in dict.fromkeys(claim.numbers):
        piece = hits[passage - 1].piece
        # A triplet or a report is our own wording: what it rests on are the sentences most like it.
        wanted = frozenset(terms(claim.text if piece.kind in _VERBATIM else piece.text))
        spans = places[passage - 1]
        code = [(one.start, one.end) for one in use.index.markup(piece) if one.kind == "code"]
        start, end = quoted_span(wanted, [(span, use.index.text(piece.document, *span)) for span in spans], code) or (
            piece.start,
            piece.end,
        )
        quote = use.index.text(piece.document, start, end) if spans else piece.text
        cited.append(citation(use, number, piece, (start, end), quote))
    return cited


QUOTED: Final = 3
"""Sentences of a quote, at most."""
SHORTEST: Final = 25
"""Characters of a sentence below which it is quoted only beside another: a label, the head of a list."""
_FURTHER: Final = 1.5
"""What each further sentence of a quote must bring, as words are weighed: a number, or two words that are rare here."""
_LONG: Final = 400
"""Characters of a quote that weigh as much as a word."""
_OF_NUMBERS: Final = 3.0


def quoted_span(
    wanted: frozenset[str], sentences: Sequence[tuple[tuple[int, int], str]], code: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    """Return where the adjacent sentences stand that hold most of the wanted words; numbers weigh more, and so do words
    that few of the sentences hold. Lines of code and labels are quoted only where nothing else has any of them.
    """
    words = [frozenset(terms(text)) & wanted for _, text in sentences]
    counts = Counter(word for found in words for word in found)
    weights = {
        word: math.log1p(len(words) / count) * (_OF_NUMBERS if any(map(str.isdigit, word)) else 1.0)
        for word, count in counts.items()
    }

    def worth(stretch: tuple[int, int]) -> float:
        first, last = stretch
        held = frozenset[str]().union(*words[first : last + 1])
        size = sentences[last][0][1] - sentences[first][0][0]
        return sum(weights[word] for word in held) - _FURTHER * (last - first) - size / _LONG

    everything = frozenset(range(len(sentences)))
    prose = frozenset(
        n
        for n, ((start, _), text) in enumerate(sentences)
        if len(text) >= SHORTEST and not any(first <= start < last for first, last in code)
    )
    found = None
    for ends in filter(None, (prose, everything)):
        stretches = [(n, m) for n in sorted(ends) for m in range(n, n + QUOTED) if m in ends]
        first, last = max(stretches, key=lambda each: (worth(each), -each[0]))
        holds = any(words[first : last + 1])
        if holds or found is None:
            found = sentences[first][0][0], sentences[last][0][1]
        if holds:
            break
    return found


def citation(use: Resources, sentence: int, piece: Piece, span: tuple[int, int], quote: str) -> Citation:
    """The citation of a stretch of the piece's document, with where it is from."""
    return Citation(sentence, piece.id, piece.document, *span, quote, use.index.origins([(piece.document, *span)])[0])


def word_overlap(wanted: set[str], sentence: str) -> float:
    """How many of the wanted words a sentence has, divided by its length."""
    held = set(terms(sentence))
    return len(wanted & held) / (len(held) + 5)
