"""Retrieval in rounds, each of which asks for what the rounds before it left open: recursive and iterative."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Literal

from annotated_types import Ge, Le

from ragways.core.errors import ModelError
from ragways.core.step import Step, rank_fusion
from ragways.core.trace import current_span, span
from ragways.core.types import ABSTENTION, Answer, Evidence, Found, Hit, Hits, Query
from ragways.layers.words import terms
from ragways.models.client import RULE_AFTER_FAILURE, RULE_INSTEAD
from ragways.retrieval.answer import answer, answered, recall
from ragways.retrieval.pagerank import by_pagerank
from ragways.retrieval.paradigm import Count, Paradigm, Strategy, Tokens
from ragways.retrieval.reader import reader_for
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, pack
from ragways.tasks.refusal import refuses
from ragways.tasks.search import (
    JUDGE_ANSWER,
    SUBQUESTION_LIMIT,
    SUBQUESTIONS,
    AnswerVerdict,
    JudgeAnswerInput,
    SubquestionsInput,
)


@lru_cache(maxsize=8192)
def _terms(text: str) -> list[str]:
    """Rounds look at the same sentences again and again."""
    return terms(text)


def plain(text: str) -> str:
    """A question as questions are compared: without case, punctuation and spacing."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


async def subquestions(use: Resources, question: str, hits: Sequence[Hit], earlier: Collection[str]) -> list[str]:
    """Sub-questions that the hits leave open: three at most, none of them repeated."""
    given = SubquestionsInput(question, _texts(use, hits), tuple(earlier), _terms)
    found = (await use.model.do(SUBQUESTIONS, given, rule_if_unusable=True)).value
    known = {plain(question), *map(plain, earlier)}
    new = {plain(text): text.strip() for text in reversed(found.questions) if plain(text) not in known | {""}}
    return list(reversed(new.values()))[:SUBQUESTION_LIMIT]


async def judge(
    use: Resources, question: str, answer: Answer, earlier: Collection[str], enough: float = 0.5
) -> AnswerVerdict:
    """Whether an answer suffices. One that refuses never does, whatever the verdict.

    Without a model the chance of an answer by the reader decides, and rules give what to look up.
    """
    given = JudgeAnswerInput(question, answer.text, _texts(use, answer.evidence.items), tuple(earlier), _terms)
    verdict = (await use.model.do(JUDGE_ANSWER, given, rule_if_unusable=True)).value
    if use.model.model is None and answer.chance is not None:
        return AnswerVerdict(likely_enough(answer, enough), verdict.subquestion)
    if verdict.suffices and (answer.abstained or refuses(answer.text)):
        return AnswerVerdict(False, verdict.subquestion.strip() or question)
    return verdict


def reads_alone(use: Resources, question: str) -> bool:
    """Whether the reader answers this question: there is no model, and it knows the language."""
    return use.model.model is None and reader_for(use, question)[0] is not None


def likely_enough(answer: Answer, enough: float) -> bool:
    """Whether an answer that was read has at least this chance of being right."""
    return not answer.abstained and answer.chance is not None and answer.chance >= enough


def _texts(use: Resources, hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return passages as a model is shown them, headings and the text as it was written; for rules, the plain text."""
    pieces = [hit.piece for hit in hits]
    if use.model.model is None:
        return tuple(f"{piece.title}: {piece.text}" for piece in pieces)
    origins = use.index.origins([(piece.document, piece.start, piece.end) for piece in pieces])
    shown = [use.index.shown(piece) for piece in pieces]
    return tuple(
        f"{origin.heading(piece.title)}\n{text}" for piece, origin, text in zip(pieces, origins, shown, strict=True)
    )


Chance = Annotated[float, Ge(0), Le(1)]
"""Without a model: the chance of being right from which on what was found is enough."""
LAST_ANSWER = "the model failed in a later round; this is the answer before it"
SHOWN = 8000
"""Tokens of what was gathered that are shown when asking for sub-questions, or read to see whether they suffice. No
setting, so that the answer's budget does not change what is searched for.
"""


def gather_in_rounds(use: Resources, *, rounds: Count = 5, k: Count = 7, enough: Chance = 0.5) -> Step[Query, Hits]:
    """Search, ask what is missing, append that to the query, search again.

    Ends after so many rounds, when one finds nothing new, when no sub-question comes, or, without a model, when the
    reader finds an answer whose chance is `enough`. The rounds' lists are joined by rank, as their scores belong to
    different queries.
    """

    async def run(query: Query) -> Hits:
        earlier: list[str] = []
        lists: list[Hits] = []
        seen: dict[str, Hit] = {}
        stopped = f"{rounds} rounds"
        for number in range(1, rounds + 1):
            with span("round", number=number) as here:
                found = await dense(use, k=k)(Query(" ".join([query.text, *earlier])))
                new = {hit.piece.id: hit for hit in found.items if hit.piece.id not in seen}
                here.details["new"] = len(new)
                if not new:
                    stopped = "nothing new"
                    break
                lists.append(_noted(replace(found, query=query), f"round {number}"))
                seen |= new
                if number == rounds:
                    break
                shown = (await pack(use, SHOWN)(Hits(query, tuple(seen.values())))).items
                more = await subquestions(use, query.text, shown, earlier)
                here.details["sub-questions"] = more
                if not more:
                    stopped = "no sub-question"
                    break
                if reads_alone(use, query.text):
                    joined = replace(rank_fusion(lists), query=query)
                    reply = await (pack(use, SHOWN) >> answer(use, stream=False))(joined)
                    here.details["chance"] = reply.chance
                    if likely_enough(reply, enough):
                        stopped = _likely(reply)
                        break
                earlier += more
        current_span().details.update(rounds=number, stopped=stopped, found=len(seen))
        searched = replace(query, searches=tuple(earlier))
        return replace(rank_fusion(lists), query=searched) if lists else Hits(searched)

    return Step("gather in rounds", run, rounds=rounds, k=k)


def answer_in_rounds(
    use: Resources,
    base: Step[Query, Hits],
    *,
    rounds: int = 3,
    k: int = 10,
    memory: bool = False,
    enough: float = 0.5,
    tokens: int = 8000,
) -> Step[Query, Answer]:
    """Search, answer, judge, look up what is missing, answer again.

    The first search is for the question itself. With `memory` the model answers from memory before, and where that does
    not suffice, the first search is for what it lacks. It ends when the answer suffices, after so many rounds, and when
    no sub-question comes, or an earlier one. The k best of all rounds are joined by rank, so that what a later round
    found first is among the first that are shown. Without a model, rounds do not depend on the budget.
    """

    async def run(query: Query) -> Answer:
        searched: dict[str, str] = {}
        lists: list[Hits] = []
        hits, reply = Hits(query), Answer(Evidence(Hits(query), (), 0), ABSTENTION, abstained=True)
        alone, reads = use.model.model is None, reads_alone(use, query.text)
        if memory:
            with span("round", number=0) as here:
                try:
                    reply = await recall(use)(query)
                except ModelError as error:
                    if not use.fallback:
                        raise
                    here.details["failed"] = error.message
        stopped = f"{rounds} rounds"
        for number in range(1, rounds + 1):
            first = AnswerVerdict(False, query.text)
            verdict = await judge(use, query.text, reply, searched.values(), enough) if memory or lists else first
            wanted = verdict.subquestion.strip()
            if number == 1 and not plain(wanted):
                wanted = query.text
            before = searched.keys() | ({plain(query.text)} if number > 1 else set())
            if verdict.suffices or not plain(wanted) or plain(wanted) in before:
                likely = reads and verdict.suffices and reply.chance is not None
                stopped = _likely(reply) if likely else _end(verdict.suffices, plain(wanted))
                break
            searched[plain(wanted)] = wanted
            with span("round", number=number, subquestion=wanted) as here:
                found = _noted(await base(Query(wanted)), f"round {number}: {wanted}")
                known = {hit.piece.id for hit in hits.items}
                best = replace(found, items=found.items[:k])
                new = [hit for hit in best.items if hit.piece.id not in known]
                here.details["new"] = len(new)
                if new:  # else there is nothing to answer from that the last answer did not have
                    lists.append(best)
                    joined = rank_fusion(lists).items
                    hits = Hits(replace(query, searches=tuple(searched.values())), joined)
                    reply = await _next(reply, (pack(use, SHOWN if alone else tokens) >> answer(use, "rounds"))(hits))
                    here.details |= {"chance": reply.chance} if reads else {}
        if alone and hits.items and tokens != SHOWN:
            reply = await (pack(use, tokens) >> answer(use, "rounds"))(hits)
        current_span().details.update(rounds=len(searched), stopped=stopped, questions=list(searched.values()))
        return reply

    return Step("answer in rounds", run, rounds=rounds, k=k, memory=memory)


async def _next(last: Answer, coming: Awaitable[Answer]) -> Answer:
    """The answer of a round; where the model fails in it, the last one that it gave."""
    try:
        answer = await coming
    except ModelError:
        if last.abstained:
            raise
        return replace(last, note=LAST_ANSWER)
    failed = answer.way in (RULE_INSTEAD, RULE_AFTER_FAILURE)
    return replace(last, note=LAST_ANSWER) if failed and not last.abstained and not last.by_rule else answer


def _likely(reply: Answer) -> str:
    return f"the answer is likely enough (chance {reply.chance or 0.0:.2f})"


def _end(suffices: bool, wanted: str) -> str:
    if suffices:
        return "the answer suffices"
    return "the sub-question came before" if wanted else "no sub-question"


def _noted(hits: Hits, note: str) -> Hits:
    """The same hits, each with the round that found it."""

    def noted(found: Found) -> Found:
        return replace(found, note=f"{note}; {found.note}" if found.note else note)

    return replace(hits, items=tuple(replace(hit, found=tuple(map(noted, hit.found))) for hit in hits.items))


RECURSIVE = Paradigm(
    name="recursive",
    summary="Search in rounds; each appends to the query what the passages found so far leave open.",
    source="T",
    needs=frozenset({"vectors"}),
    build=answered(gather_in_rounds, "rounds"),
)


def build_iterative(
    use: Resources,
    *,
    base: Literal["naive", "graph-ppr"] = "graph-ppr",
    rounds: Count = 3,
    k: Count = 10,
    minimum: float = 0.4,
    weighted: bool = True,
    memory: bool = False,
    enough: Chance = 0.5,
    tokens: Tokens = 8000,
) -> Strategy:
    """`memory`: the model answers from memory first, and is judged, as in R."""
    if base == "naive":
        retriever = dense(use, k=k, minimum=minimum)
    else:
        retriever = by_pagerank(use, minimum=minimum, weighted=weighted)
    return answer_in_rounds(use, retriever, rounds=rounds, k=k, memory=memory, enough=enough, tokens=tokens)


ITERATIVE = Paradigm(
    name="iterative",
    summary="Search, answer, judge the answer, look up what it lacks, and answer again.",
    source="R",
    needs=frozenset({"vectors", "graph"}),
    build=build_iterative,
    unused=lambda settings: frozenset({"graph"}) if settings.get("base") == "naive" else frozenset(),
)
