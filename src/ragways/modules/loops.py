"""Retrieval in rounds: each asks for what the rounds before it left open."""

from __future__ import annotations

from dataclasses import replace

from ragways.core.brief import traced
from ragways.core.step import Step, rank_fusion
from ragways.core.trace import current_span, span
from ragways.core.types import Answer, Found, Hit, Hits, Query
from ragways.modules.generate import answer, recall
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.retrieve import dense
from ragways.modules.rewrite import judge, plain, subquestions

SHOWN = 8000
"""Tokens of what was gathered that are shown when asking for sub-questions. No setting, so that the answer's budget
does not change what is searched for.
"""


def gather_in_rounds(use: Resources, *, rounds: int = 5, k: int = 7) -> Step[Query, Hits]:
    """Search, ask what is missing, append that to the query, search again.

    Ends after so many rounds, when one finds nothing new, or when no sub-question comes. The rounds' lists are joined
    by rank, as their scores belong to different queries.
    """

    @traced
    async def run(query: Query) -> Hits:
        asked: list[str] = []
        lists: list[Hits] = []
        seen: dict[str, Hit] = {}
        stopped = f"{rounds} rounds"
        for number in range(1, rounds + 1):
            with span("round", number=number) as here:
                found = await dense(use, k=k)(Query(" ".join([query.text, *asked])))
                new = {hit.piece.id: hit for hit in found.items if hit.piece.id not in seen}
                here.details["new"] = len(new)
                if not new:
                    stopped = "nothing new"
                    break
                lists.append(_noted(replace(found, query=query), f"round {number}"))
                seen |= new
                if number == rounds:
                    break
                shown = (await pack(SHOWN)(Hits(query, tuple(seen.values())))).items
                more = await subquestions(use, query.text, shown, asked)
                here.details["asked"] = more
                if not more:
                    stopped = "no sub-question"
                    break
                asked += more
        current_span().details.update(rounds=number, stopped=stopped, found=len(seen))
        searched = replace(query, searches=tuple(asked))
        return replace(rank_fusion(lists), query=searched) if lists else Hits(searched)

    return Step("gather in rounds", run, rounds=rounds, k=k)


def answer_in_rounds(
    use: Resources, base: Step[Query, Hits], *, rounds: int = 3, k: int = 10, tokens: int = 8000
) -> Step[Query, Answer]:
    """Answer, judge, look up what is missing, answer again.

    Ends when the answer suffices, after so many rounds, when no sub-question comes or one that was asked before. Each
    round adds its k best behind those of the rounds before it: so a larger budget never loses what a smaller one had,
    and k is small enough that the first round leaves room for the others.
    """

    @traced
    async def run(query: Query) -> Answer:
        asked: dict[str, str] = {}
        gathered: list[Hit] = []
        with span("round", number=0):
            said = await recall(use)(query)
        stopped = f"{rounds} rounds"
        for number in range(1, rounds + 1):
            verdict = await judge(use, query.text, said, asked.values())
            wanted = verdict.subquestion.strip()
            if verdict.suffices or not plain(wanted) or plain(wanted) in asked:
                stopped = _end(verdict.suffices, plain(wanted))
                break
            asked[plain(wanted)] = wanted
            with span("round", number=number, subquestion=wanted) as here:
                found = _noted(await base(Query(wanted)), f"round {number}: {wanted}")
                known = {hit.piece.id for hit in gathered}
                new = [hit for hit in found.items[:k] if hit.piece.id not in known]
                here.details["new"] = len(new)
                gathered += [replace(hit, score=1 / (len(gathered) + n)) for n, hit in enumerate(new, start=1)]
                if new:  # else there is nothing to answer from that the last answer did not have
                    searched = replace(query, searches=tuple(asked.values()))
                    said = await (pack(tokens) >> answer(use, "rounds"))(Hits(searched, tuple(gathered)))
        current_span().details.update(rounds=len(asked), stopped=stopped, asked=list(asked.values()))
        return said

    return Step("answer in rounds", run, rounds=rounds, k=k)


def _end(suffices: bool, wanted: str) -> str:
    if suffices:
        return "the answer suffices"
    return "the sub-question was asked before" if wanted else "no sub-question"


def _noted(hits: Hits, note: str) -> Hits:
    """The same hits, each saying in which round it was found."""

    def noted(found: Found) -> Found:
        return replace(found, note=f"{note}; {found.note}" if found.note else note)

    return replace(hits, items=tuple(replace(hit, found=tuple(map(noted, hit.found))) for hit in hits.items))
