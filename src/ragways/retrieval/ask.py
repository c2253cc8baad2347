"""The one table of paradigms, and asking a question with one of them.

The command's list, the settings and the docs are made from the table. Other packages add to it by the entry-point
group `ragways.paradigms`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from ragways.core.errors import UsageError
from ragways.core.registry import Registry
from ragways.core.step import Step
from ragways.core.stream import OnText, current_stream, streaming
from ragways.core.text import counted, shortened
from ragways.core.trace import Budget, Span, Usage, span, spending
from ragways.core.types import ABSTENTION, Answer, Evidence, Hits, Origin, Query, answer_html
from ragways.retrieval.answer import retrieval_only, with_shown
from ragways.retrieval.paradigm import Paradigm
from ragways.retrieval.resources import Resources

if TYPE_CHECKING:
    from ragways.retrieval.routing.router import Decision

PARADIGMS: Registry[Paradigm] = Registry(
    "ragways.paradigms",
    "paradigm",
    Paradigm,
    later={
        name: f"ragways.retrieval.{place}"
        for name, place in (
            ("llm-only", "flat:LLM_ONLY"),
            ("naive", "flat:NAIVE"),
            ("words", "flat:WORDS"),
            ("hybrid-words", "flat:HYBRID_WORDS"),
            ("recursive", "rounds:RECURSIVE"),
            ("kg", "knowledge_graph:KG"),
            ("community-global", "communities:COMMUNITY_GLOBAL"),
            ("community-local", "communities:COMMUNITY_LOCAL"),
            ("graph-ppr", "pagerank:GRAPH_PPR"),
            ("hybrid", "pagerank:HYBRID"),
            ("iterative", "rounds:ITERATIVE"),
            ("light", "light:LIGHT"),
            ("fast-graph", "pagerank:FAST_GRAPH"),
            ("basic-retrieval", "traversals:BASIC_RETRIEVAL"),
            ("query-traversal", "traversals:QUERY_TRAVERSAL"),
            ("kg-traversal", "traversals:KG_TRAVERSAL"),
            ("triangulation-average", "traversals:TRIANGULATION_AVERAGE"),
            ("triangulation-3d", "traversals:TRIANGULATION_3D"),
            ("triangulation-full", "traversals:TRIANGULATION_FULL"),
            ("llm-guided", "traversals:LLM_GUIDED"),
            ("agent-vector", "agent:AGENT_VECTOR"),
            ("agent-graph", "agent:AGENT_GRAPH"),
            ("fused", "fused:FUSED"),
            ("auto", "ask:AUTO"),
        )
    },
)
"""Each is imported when it is first looked up."""


def __getattr__(name: str) -> Paradigm:
    """`AUTO`, made when it is looked up, as it chooses among the others."""
    if name != "AUTO":
        raise AttributeError(name)
    from ragways.retrieval.routing.auto import auto_paradigm

    return auto_paradigm(PARADIGMS.find)


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
    where: str = ""
    """The filter of documents it was answered under."""

    @property
    def usage(self) -> Usage:
        return self.trace.total

    @property
    def seconds(self) -> float:
        return self.trace.seconds

    @property
    def route(self) -> Decision | None:
        """Which way the router took and why; None where the question was asked in one way from the start."""
        if not (attached := [found for step in self.trace.walk() for found in step.attachments]):
            return None
        from ragways.retrieval.routing.router import Decision

        return next((found for found in attached if isinstance(found, Decision)), None)

    def __repr__(self) -> str:
        usage = self.usage
        price = "price unknown" if usage.cost is None else f"${usage.cost:.4f}"
        cost = f"{counted(usage.calls, 'call')}, {counted(usage.tokens, 'token')}, {price}, {self.seconds:.2f} s"
        return f"<Result of {self.paradigm} on {shortened(self.question)!r}: {cost}\n  {self.answer!r}>"

    def _repr_html_(self) -> str:
        way = f"{self.paradigm}, {self.usage.tokens:,} tokens of a model, {self.seconds:.2f} s"
        return f"{answer_html(self.answer)}<p><small>{escape(way)}</small></p>"


def check_question(question: str) -> str:
    """The question without white space at its ends, or an error if it is none."""
    question = question.encode("utf-8", "replace").decode().strip()
    if not question:
        raise UsageError("the question is empty", 'ask something, such as "Who built the lighthouse?"')
    if len(question) > LONGEST_QUESTION:
        raise UsageError(
            f"the question has {len(question):,} characters", f"ask in at most {LONGEST_QUESTION:,}, or index the text"
        )
    return question


async def ask(
    use: Resources,
    question: str,
    paradigm: str | Paradigm | Step[Query, Answer],
    settings: Mapping[str, Any] | None = None,
    *,
    budget: Budget | None = None,
    on_text: OnText | None = None,
    where: str | None = None,
) -> Result:
    """Answer one question in one way: by a paradigm of the table, by one's own, or by steps that end in an answer.

    `settings` are the paradigm's; steps have theirs already. `on_text` gets the answer while it is written. What it got
    since the last restart is in the end the answer's full text, for every paradigm: one that cannot stream gives it at
    once. Any number of questions may be asked at once on the same resources. `where` is a filter (docs/filters.md): no
    document that does not match it has a part in the answer. Where none matches, the answer is that there is none.
    """
    question = check_question(question)
    use = _filtered(use, paradigm, where)
    name, chosen, step = _chosen(use, paradigm, settings or {})
    with ExitStack() as inside:
        if on_text is not None:
            inside.enter_context(streaming(on_text))
        inside.enter_context(spending(budget))
        trace = inside.enter_context(span(name, **({"where": use.index.where} if use.index.where else {})))
        answer = _no_match(use, question) if use.index.matches_nothing else await step(Query(question))
        if not isinstance(answer, Answer):
            kind = type(answer).__name__
            raise UsageError(f"{name} gives {kind}, not an Answer", "end it with answer(use), or use retrieve")
        _check_documents(use, name, answer.evidence.hits)
        if not answer.evidence.shown:
            answer = replace(answer, evidence=with_shown(use, answer.evidence))
        if use.support and answer.citations:
            from ragways.retrieval.support import with_support

            answer = await with_support(use.reader, answer)
        if (stream := current_stream()) is not None:
            stream.end(answer.full_text, answer.shown_evidence)
    return Result(question, name, chosen, answer, trace, use.prompts, use.index.where)


async def retrieve(
    use: Resources,
    question: str,
    paradigm: str | Paradigm | Step[Query, Hits] | Step[Query, Evidence] | Step[Query, Answer],
    settings: Mapping[str, Any] | None = None,
    *,
    budget: Budget | None = None,
    where: str | None = None,
) -> Hits:
    """What a paradigm, or one's own steps, find for a question, and where it is from; the answer itself is left out.

    `where` is a filter, as in `ask`.
    """
    question = check_question(question)
    use = _filtered(use, paradigm, where)
    name, _, step = _chosen(use, paradigm, settings or {})
    if use.index.matches_nothing:
        return Hits(Query(question))
    with retrieval_only(), spending(budget), span(name):
        found = await step(Query(question))
    sources: tuple[Origin, ...] = ()
    if isinstance(found, Answer):
        found = found.evidence
    if isinstance(found, Evidence):
        found, sources = found.hits, found.sources
    if not isinstance(found, Hits):
        raise UsageError(f"{name} gives {type(found).__name__}, not Hits", "end it with a step that gives Hits")
    _check_documents(use, name, found)
    # Evidence is the first of its hits.
    rest = [(hit.piece.document, hit.piece.start, hit.piece.end) for hit in found.items[len(sources) :]]
    return replace(found, sources=(*sources, *use.index.origins(rest)))


def _filtered(use: Resources, paradigm: object, where: str | None) -> Resources:
    if where is not None and isinstance(paradigm, Step):
        raise UsageError("steps read what they were made with", "make them with: corpus.snapshot(where=…)")
    return use.only(where)


def _no_match(use: Resources, question: str) -> Answer:
    evidence = Evidence(Hits(Query(question)), (), 0)
    why = f"No document matches the filter {use.index.where}"
    return Answer(evidence, ABSTENTION, abstained=True, way="no evidence", explanation=why)


def _check_documents(use: Resources, name: str, hits: Hits) -> None:
    """What a filter keeps out must not come in by a paradigm that reads the index in a way of its own."""
    documents = {hit.piece.document for hit in hits.items if hit.piece.document.startswith("article:")}
    if use.index.where and len(use.index.keys(documents)) < len(documents):
        raise UsageError(
            f"{name} found what the filter keeps out: it reads past the index",
            "ask without a filter, or have its author read through `use.index`",
        )


def _chosen(
    use: Resources, paradigm: str | Paradigm | Step[Query, Any], settings: Mapping[str, Any]
) -> tuple[str, Mapping[str, Any], Step[Query, Any]]:
    """The name, all settings and the steps of a way to answer."""
    if isinstance(paradigm, Step):
        if settings:
            raise UsageError(f"{paradigm} has its settings already", "give them to the functions that make its steps")
        return paradigm.name, {}, paradigm
    chosen = PARADIGMS.find(paradigm) if isinstance(paradigm, str) else paradigm
    own = chosen.check(settings)
    return chosen.name, {**chosen.settings, **own}, chosen.strategy(use, own)
