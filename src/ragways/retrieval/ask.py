"""The one table of paradigms, and asking a question with one of them.

The command's list, the settings and the docs are made from the table. Other packages add to it by the entry-point
group `ragways.paradigms`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragways.core.errors import UsageError
from ragways.core.registry import Registry
from ragways.core.trace import Budget, Span, Usage, span, spending
from ragways.core.types import Answer, Query
from ragways.retrieval.agent import AGENT_GRAPH, AGENT_VECTOR
from ragways.retrieval.communities import COMMUNITY_GLOBAL, COMMUNITY_LOCAL
from ragways.retrieval.flat import HYBRID_WORDS, LLM_ONLY, NAIVE, WORDS
from ragways.retrieval.fused import FUSED
from ragways.retrieval.knowledge_graph import KG
from ragways.retrieval.light import LIGHT
from ragways.retrieval.pagerank import FAST_GRAPH, GRAPH_PPR, HYBRID
from ragways.retrieval.paradigm import Paradigm
from ragways.retrieval.resources import Resources
from ragways.retrieval.rounds import ITERATIVE, RECURSIVE
from ragways.retrieval.traversals import TRAVERSALS

PARADIGMS = Registry(
    "ragways.paradigms",
    "paradigm",
    Paradigm,
    (
        LLM_ONLY,
        NAIVE,
        WORDS,
        HYBRID_WORDS,
        RECURSIVE,
        KG,
        COMMUNITY_GLOBAL,
        COMMUNITY_LOCAL,
        GRAPH_PPR,
        HYBRID,
        ITERATIVE,
        LIGHT,
        FAST_GRAPH,
        *TRAVERSALS,
        AGENT_VECTOR,
        AGENT_GRAPH,
        FUSED,
    ),
)

LONGEST_QUESTION = 8000
"""Characters. What is longer is a document, not a question."""


@dataclass(frozen=True, slots=True)
class Result:
    """An answer, how it came about and what it cost."""

    question: str
    paradigm: str
    settings: Mapping[str, Any]
    answer: Answer
    trace: Span
    prompts: str = "shared"
    """The preset of prompts it was answered by."""

    @property
    def usage(self) -> Usage:
        return self.trace.total

    @property
    def seconds(self) -> float:
        return self.trace.seconds


def check_question(question: str) -> str:
    """The question without white space at its ends, or an error if it is none."""
    question = question.encode("utf-8", "replace").decode().strip()
    if not question:
        raise UsageError("the question is empty", 'ask something: ragways ask "Who built the lighthouse?"')
    if len(question) > LONGEST_QUESTION:
        raise UsageError(
            f"the question has {len(question):,} characters", f"ask in at most {LONGEST_QUESTION:,}, or index the text"
        )
    return question


async def ask(
    use: Resources,
    question: str,
    paradigm: str,
    settings: Mapping[str, Any] | None = None,
    *,
    budget: Budget | None = None,
) -> Result:
    """Answer one question in one way."""
    question = check_question(question)
    chosen = PARADIGMS.find(paradigm)
    own = chosen.check(settings or {})
    strategy = chosen.strategy(use, own)
    with spending(budget), span(paradigm) as trace:
        answer = await strategy(Query(question))
    return Result(question, paradigm, {**chosen.settings, **own}, answer, trace, use.prompts)
