"""What to search for next, or instead: sub-questions, verdicts, keywords."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from ragways.core.types import Answer, Hit
from ragways.index.words import terms
from ragways.modules.link import known_names
from ragways.modules.resources import Resources
from ragways.tasks.search import (
    JUDGE_ANSWER,
    KEYWORDS,
    SUBQUESTION_LIMIT,
    SUBQUESTIONS,
    AnswerVerdict,
    JudgeAnswerInput,
    Keywords,
    KeywordsInput,
    SubquestionsInput,
    refuses,
)


@lru_cache(maxsize=8192)
def _terms(text: str) -> list[str]:
    """Rounds look at the same sentences again and again."""
    return terms(text)


def plain(text: str) -> str:
    """A question as questions are compared: without case, punctuation and spacing."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


async def subquestions(use: Resources, question: str, hits: Sequence[Hit], asked: Collection[str]) -> list[str]:
    """What the hits do not say yet: three at most, none that was asked before."""
    given = SubquestionsInput(question, _texts(hits), tuple(asked), _terms)
    found = (await use.model.do(SUBQUESTIONS, given, rule_if_unusable=True)).value
    known = {plain(question), *map(plain, asked)}
    new = {plain(text): text.strip() for text in reversed(found.questions) if plain(text) not in known | {""}}
    return list(reversed(new.values()))[:SUBQUESTION_LIMIT]


async def judge(use: Resources, question: str, answer: Answer, asked: Collection[str]) -> AnswerVerdict:
    """Whether an answer suffices. One that refuses never does, whatever is said of it: then the question is open."""
    given = JudgeAnswerInput(question, answer.text, _texts(answer.evidence.items), tuple(asked), _terms)
    verdict = (await use.model.do(JUDGE_ANSWER, given, rule_if_unusable=True)).value
    if verdict.suffices and (answer.abstained or refuses(answer.text)):
        return AnswerVerdict(False, verdict.subquestion.strip() or question)
    return verdict


async def keywords(use: Resources, question: str) -> Keywords:
    """Low-level and high-level keywords; of a kind that has none, the question itself is the only one."""
    graph = use.index.graph
    given = KeywordsInput(question, names=lambda text: known_names(graph, text), terms=_terms)
    found = (await use.model.do(KEYWORDS, given, rule_if_unusable=True)).value
    low, high = (tuple(dict.fromkeys(w.strip() for w in some if w.strip())) for some in (found.low, found.high))
    return Keywords(low or (question,), high or (question,))


def _texts(hits: Sequence[Hit]) -> tuple[str, ...]:
    return tuple(f"{hit.piece.title}: {hit.piece.text}" for hit in hits)
