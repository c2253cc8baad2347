"""One reasoning agent with tools: rounds of calls, and an answer with the articles it rests on.

The paradigms agent-vector and agent-graph.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from ragways.core.errors import BudgetExceeded, ModelError, ModelRefused, UnusableReply
from ragways.core.runtime import together
from ragways.core.step import Step
from ragways.core.trace import current_span, span
from ragways.core.types import ABSTENTION, Answer, Citation, Evidence, Found, Hit, Hits, Piece, Query, ranked
from ragways.layers.words import terms
from ragways.models.call import Call, Message, Reply, ToolCall
from ragways.models.client import ModelClient
from ragways.models.task import FENCE_RULE, Prompt, fence
from ragways.models.tokens import count_text
from ragways.retrieval.answer import answer, citation, is_retrieval_only, way_after, word_overlap
from ragways.retrieval.paradigm import Count, Paradigm, Strategy, Tokens
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import pack
from ragways.retrieval.tools.plan import graph_plan, vector_plan
from ragways.retrieval.tools.results import ToolOutcome
from ragways.retrieval.tools.toolbox import TOOLS, Toolbox, chosen_tools
from ragways.tasks.answers import AGENT_ANSWER, ANSWER_TOOL, AgentAnswer, AgentAnswerInput, AnswerWishes, answer_tool

_ADVICE = re.compile(r"^- .*\n(?:  .*\n)*", re.MULTILINE)
_QUOTED = re.compile(r"`(\w+)`")


AT_ONCE = 8
"""Calls in one round; those beyond it are refused, and the agent reads so."""
_SHOWN = 300


class Notes:
    """What an agent has seen so far: runs its calls, keeps their outcomes and the pieces of documents in them.

    The same call again is answered from here.
    """

    def __init__(self, use: Resources, tools: Toolbox) -> None:
        self._use = use
        self._tools = tools
        self._outcomes: dict[tuple[str, str], asyncio.Task[ToolOutcome]] = {}
        self._pieces: dict[str, tuple[Piece, str]] = {}
        self.calls: Counter[str] = Counter()
        self.repeated = 0
        self.tokens = 0

    async def run(self, calls: Sequence[ToolCall]) -> list[ToolOutcome]:
        """The calls of one round, side by side; outcomes in their order."""
        outcomes = await together(self._one(at, call) for at, call in enumerate(calls))
        for call, outcome in zip(calls, outcomes, strict=True):
            self.tokens += count_text(outcome.text)
            for piece in outcome.pieces:
                self._keep(piece, call.name)
        return outcomes

    async def _one(self, at: int, call: ToolCall) -> ToolOutcome:
        if at >= AT_ONCE:
            return ToolOutcome(
                f'{{"error": "at most {AT_ONCE} calls in one round; ask again in the next"}}', failed=True
            )
        key = (call.name, _canonical(call.arguments))
        name = call.name if call.name in self._tools.names else "unknown"
        with span(f"tool {name}", arguments=call.arguments[:_SHOWN]) as here:
            if key in self._outcomes:
                self.repeated += 1
                here.details["repeated"] = True
            else:
                self.calls[name] += 1
                self._outcomes[key] = asyncio.ensure_future(self._tools.run(call.name, call.arguments))
            outcome = await self._outcomes[key]
            here.details["quoted"] = len(outcome.pieces)
            if outcome.failed:
                here.details["error"] = outcome.text[:_SHOWN]
            return outcome

    def _keep(self, piece: Piece, by: str) -> None:
        """A paragraph seen in several parts is one piece that spans them."""
        known = self._pieces.get(piece.id)
        if known is None:
            self._pieces[piece.id] = piece, by
            return
        old, by = known
        start, end = min(old.start, piece.start), max(old.end, piece.end)
        if (start, end) != (old.start, old.end):
            text = self._use.index.text(old.document, start, end)
            self._pieces[piece.id] = replace(old, start=start, end=end, text=text, tokens=count_text(text)), by

    def found(self) -> str:
        """All outcomes, for the last step."""
        texts = [task.result().text for task in self._outcomes.values() if task.done() and not task.cancelled()]
        return "\n".join(texts) or "nothing"

    def hits(self, query: Query, references: Iterable[str] = ()) -> Hits:
        """The pieces: those of the articles that the answer names, then the others, each in the order it was seen."""
        named = set(references)
        order = sorted(self._pieces.values(), key=lambda pair: pair[0].document not in named)
        return ranked(
            query, (Hit(piece, 1 / n, (Found(by, n, 1 / n),)) for n, (piece, by) in enumerate(order, start=1))
        )


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def answer_of(use: Resources, evidence: Evidence, final: AgentAnswer, way: str) -> Answer:
    """The answer with the numbers of the evidence it names, and how it follows."""
    if not final.known:
        assumed = f"Assumed: {'; '.join(final.assumptions)}" if final.assumptions else ""
        reason = "\n\n".join(filter(None, (final.explanation.strip(), assumed)))
        return Answer(evidence, ABSTENTION, abstained=True, way=way, explanation=reason)
    wanted = set(terms(f"{' '.join(final.known)} {final.explanation}"))
    numbers: list[int] = []
    citations: list[Citation] = []
    for reference in final.articles:
        quoted = [
            (word_overlap(wanted, quote), -number, start, end, quote)
            for number, hit in enumerate(evidence.items, start=1)
            if hit.piece.document == reference
            for start, end, quote in _sentences(use, hit.piece)
        ]
        if quoted:
            _, number, start, end, quote = max(quoted)
            piece = evidence.items[-number - 1].piece
            numbers.append(-number)
            citations.append(citation(use, 0, piece, (start, end), quote))
    known = {hit.piece.document for hit in evidence.hits.items}
    current_span().details["references"] = [one for one in final.articles if one in known]
    current_span().details["references_not_seen"] = sum(one not in known for one in final.articles)
    text, marks = "; ".join(final.known), "".join(f"[{number}]" for number in numbers)
    between = "\n\n" if "\n" in text else " "  # behind a block of code a mark would be a part of it
    return Answer(
        evidence,
        f"{text}{between}{marks}" if marks else text,
        tuple(citations),
        way=way,
        explanation=final.explanation.strip(),
    )


def _sentences(use: Resources, piece: Piece) -> list[tuple[int, int, str]]:
    spans = use.index.sentences(piece) or [(piece.start, piece.end)]
    return [(start, end, use.index.text(piece.document, start, end)) for start, end in spans]


MAX_SEEN = 60_000
"""Tokens of results after which the agent must answer, so that no conversation outgrows a model."""
_REPLY = 2048
NO_TOOLS = "the model called no tool, so a fixed plan searched for it"
NOT_IN_FORM = "the model gave no answer in the agent's form; it answered from what was read"


class NoToolCalled(Exception):
    """The model wrote text, or its endpoint takes no tools."""


def agent(
    use: Resources, tools: Toolbox, plan: Step[Query, Hits], *, rounds: int = 10, tokens: int = 8000
) -> Step[Query, Answer]:
    """Rounds of calls until the agent answers, which the last round must. A budget ends it with the best there is.

    A model that calls no tool answers from what `plan` finds.
    """

    async def run(query: Query) -> Answer:
        work = _Work(use, tools, query, rounds)
        final, stopped = None, ""
        failed: ModelError | None = None
        try:
            final = await work.final()
        except NoToolCalled:
            current_span().details["stopped"] = "no tool was called"
            planned = await (plan >> pack(use, tokens) >> answer(use))(query)
            return replace(planned, note="; ".join(filter(None, (planned.note, NO_TOOLS))))
        except UnusableReply as error:
            if not work.notes.calls:
                raise
            failed = error
        except BudgetExceeded as error:
            stopped = f"budget: {error.message}"
        except ModelError as error:
            if not use.fallback:
                raise
            failed, stopped = error, f"model: {error.message}"
        here = current_span()
        here.way, here.prompt = work.way, work.prompt.hash
        here.details.update(work.facts(), stopped=stopped or work.stopped)
        evidence = await pack(use, tokens)(work.notes.hits(query, final.articles if final else ()))
        if isinstance(failed, UnusableReply) and not stopped:
            return replace(await answer(use)(evidence), note=NOT_IN_FORM)
        if is_retrieval_only():
            return await answer(use)(evidence)
        if final is not None:
            here.details.update(explanation=final.explanation, assumptions=list(final.assumptions))
            return answer_of(use, evidence, final, here.way)
        if failed is not None and not evidence.items:
            raise failed
        # Nothing is left to spend, or nobody to ask: what was read is answered from without the model, or not at all.
        best = await answer(replace(use, model=ModelClient(None)), stream=False)(evidence)
        if failed is not None:
            return replace(best, way=way_after(failed), error=str(failed))
        return replace(best, way=f"{best.way} ({stopped.partition(':')[0]} reached)")

    return Step("agent", run, rounds=rounds, tools=list(tools.names))


@dataclass
class _Work:
    """One question's conversation."""

    use: Resources
    tools: Toolbox
    query: Query
    rounds: int
    stopped: str = ""
    way: str = ""
    notes: Notes = field(init=False)
    prompt: Prompt = field(init=False)
    remarks: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    number: int = 0

    def __post_init__(self) -> None:
        self.notes = Notes(self.use, self.tools)
        self.prompt = Prompt.load("agent")
        system, user = self.prompt.fill({"question": self.query.text, "rounds": self.rounds})
        advised = for_tools(system.content, self.tools.names)
        self.messages = [replace(system, content=f"{advised}\n\n{FENCE_RULE}{self._wishes.text}"), user]

    @property
    def _wishes(self) -> AnswerWishes:
        """An agent's answer is brief by its form."""
        wishes = self.use.wishes
        return replace(wishes, style="") if wishes.style == "brief" else wishes

    def facts(self) -> dict[str, object]:
        calls = dict(sorted(self.notes.calls.items()))
        return {"calls": calls, "repeated": self.notes.repeated, "rounds": self.number}

    async def final(self) -> AgentAnswer:
        self.stopped = f"{self.rounds} rounds"
        offered = (*self.tools.tools(), answer_tool())
        while self.number < self.rounds - 1:
            self.number += 1
            with span("round", number=self.number):
                reply = await self._ask(Call(tuple(self.messages), tools=offered, max_output=_REPLY, temperature=0.0))
                self.way = self.use.model.way(reply)
                final = await self._turn(reply)
            if final is not None:
                self.stopped = "answered"
                return final
            if not self.notes.calls and not reply.tool_calls:
                raise NoToolCalled
            if not reply.tool_calls or self.notes.tokens > MAX_SEEN:
                self.stopped = "no tool was called" if not reply.tool_calls else "enough was read"
                break
        return await self._last()

    async def _ask(self, call: Call) -> Reply:
        try:
            return await self.use.model.complete(call)
        except ModelRefused:
            if self.number > 1:
                raise
            raise NoToolCalled from None  # one that refuses everything refuses the answer too, and says why

    async def _turn(self, reply: Reply) -> AgentAnswer | None:
        """Do what a reply asks for; its answer, if it gives one."""
        if not reply.tool_calls:
            self.remarks.append(reply.text)
            return _read(reply.text)
        ending = [call for call in reply.tool_calls if call.name == ANSWER_TOOL]
        for call in ending:
            final = _read(call.arguments)
            if final is not None:
                return final
        if reply.text.strip():
            self.remarks.append(reply.text)
        self.messages.append(Message("assistant", reply.text, tool_calls=reply.tool_calls))
        await self._call([call for call in reply.tool_calls if call.name != ANSWER_TOOL])
        self.messages += [
            Message("tool", "This is not an answer as the tool takes it; see its parameters.", tool_call_id=call.id)
            for call in ending
        ]
        return None

    async def _call(self, calls: list[ToolCall]) -> None:
        for call, outcome in zip(calls, await self.notes.run(calls), strict=True):
            self.messages.append(Message("tool", fence(outcome.text), tool_call_id=call.id))

    async def _last(self) -> AgentAnswer:
        """The last round, in which the model must answer: a task of its own, so that an unusable reply is repeated."""
        self.number += 1
        with span("round", number=self.number, last=True):
            given = AgentAnswerInput(self.query.text, self.notes.found(), "\n".join(self.remarks) or "nothing")
            outcome = await self.use.model.do(self._wishes.applied(AGENT_ANSWER), given)
            self.way = outcome.way
            return outcome.value


def for_tools(prompt: str, names: Collection[str]) -> str:
    """A prompt without the advice, an item of its list, that speaks of a tool the agent does not have."""

    def available(item: re.Match[str]) -> str:
        return item[0] if {name for name in _QUOTED.findall(item[0]) if name in TOOLS} <= set(names) else ""

    return _ADVICE.sub(available, prompt)


def _read(text: str) -> AgentAnswer | None:
    """An answer, if the text is one."""
    from ragways.models.reply import fits, read_json

    try:
        return fits(AgentAnswer, read_json(text)[0])
    except ValueError:
        return None


def _build(
    use: Resources, plan: Callable[[Toolbox], Step[Query, Hits]], toolbox: Toolbox, rounds: int, tokens: int
) -> Strategy:
    """The agent, or where there is no model a plan over the same tools."""
    if use.model.model is None:
        return plan(toolbox) >> pack(use, tokens) >> answer(use)
    return agent(use, toolbox, plan(toolbox), rounds=rounds, tokens=tokens)


def build_agent_vector(use: Resources, *, rounds: Count = 10, tools: str = "all", tokens: Tokens = 8000) -> Strategy:
    """`tools`: `all`, names joined by commas, or `-name` for all but that one."""
    toolbox = Toolbox(use, chosen_tools(tools, ("chunk_search", "calculator")))
    return _build(use, vector_plan, toolbox, rounds, tokens)


AGENT_VECTOR = Paradigm(
    name="agent-vector",
    summary="An agent that searches by meaning, as often as it needs, and calculates.",
    source="A",
    needs=frozenset({"vectors"}),
    build=build_agent_vector,
)


def build_agent_graph(use: Resources, *, rounds: Count = 10, tools: str = "all", tokens: Tokens = 8000) -> Strategy:
    """`tools`: `all`, names joined by commas, or `-name` for all but that one."""
    return _build(use, graph_plan, Toolbox(use, chosen_tools(tools, tuple(TOOLS))), rounds, tokens)


AGENT_GRAPH = Paradigm(
    name="agent-graph",
    summary="An agent with hand-written tools: it searches, reads, follows links and calculates.",
    source="A",
    needs=frozenset({"vectors"}),
    build=build_agent_graph,
)
