"""What to search for next, or instead: sub-questions, verdicts, keywords."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from ragways.core.types import Answer, Hit
from ragways.index.words import terms
from ragways.modules.doing import do_or_rule
from ragways.modules.link import known_names
from ragways.modules.resources import Resources
from ragways.tasks.judge_answer import JUDGE_ANSWER, Verdict, refuses
from ragways.tasks.keywords import KEYWORDS, Keywords
from ragways.tasks.subquestions import MOST, SUBQUESTIONS


@lru_cache(maxsize=8192)
def _terms(text: str) -> list[str]:
    """Rounds look at the same sentences again and again."""
    return terms(text)


def plain(text: str) -> str:
    """A question as questions are compared: without case, punctuation and spacing."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


async def subquestions(use: Resources, question: str, hits: Sequence[Hit], asked: Collection[str]) -> list[str]:
    """What the hits do not say yet: three at most, none that was asked before."""
    found = await do_or_rule(
        use.model, SUBQUESTIONS, question=question, passages=_texts(hits), asked=tuple(asked), terms=_terms
    )
    known = {plain(question), *map(plain, asked)}
    new = {plain(text): text.strip() for text in reversed(found.questions) if plain(text) not in known | {""}}
    return list(reversed(new.values()))[:MOST]


async def judge(use: Resources, question: str, answer: Answer, asked: Collection[str]) -> Verdict:
    """Whether an answer suffices. One that refuses never does, whatever is said of it: then the question is open."""
    verdict = await do_or_rule(
        use.model,
        JUDGE_ANSWER,
        question=question,
        answer=answer.text,
        passages=_texts(answer.evidence.items),
        asked=tuple(asked),
        terms=_terms,
    )
    if verdict.suffices and (answer.abstained or refuses(answer.text)):
        return Verdict(False, verdict.subquestion.strip() or question)
    return verdict


async def keywords(use: Resources, question: str) -> Keywords:
    """Low-level and high-level keywords; of a kind that has none, the question itself is the only one."""
    graph = use.index.graph
    found = await do_or_rule(
        use.model, KEYWORDS, question=question, names=lambda text: known_names(graph, text), terms=_terms
    )
    low, high = (tuple(dict.fromkeys(w.strip() for w in some if w.strip())) for some in (found.low, found.high))
    return Keywords(low or (question,), high or (question,))


def _texts(hits: Sequence[Hit]) -> tuple[str, ...]:
    return tuple(f"{hit.piece.title}: {hit.piece.text}" for hit in hits)
