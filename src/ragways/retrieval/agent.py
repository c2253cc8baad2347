"""One reasoning agent with tools: rounds of calls, and an answer with the articles it rests on.

The paradigms agent-vector and agent-graph.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from ragways.core.errors import BudgetExceeded, ModelError, ModelRefused, RagwaysError, UnusableReply
from ragways.core.runtime import together
from ragways.core.step import Step
from ragways.core.trace import current_span, span
from ragways.core.types import (
    ABSTENTION,
    Answer,
    Citation,
    Evidence,
    Found,
    Hit,
    Hits,
    Piece,
    Query,
    content_hash,
    ranked,
)
from ragways.layers.words import terms
from ragways.models.call import Call, Message, Reply, ToolCall
from ragways.models.client import ModelClient
from ragways.models.task import FENCE_RULE, Prompt, fence
from ragways.models.tokens import count_text
from ragways.retrieval.answer import answer, citation, is_retrieval_only, quoted_span, way_after, word_overlap
from ragways.retrieval.paradigm import Count, Paradigm, Strategy, Tokens
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import pack
from ragways.retrieval.tools.numbered import NumberedTools
from ragways.retrieval.tools.plan import graph_plan, vector_plan
from ragways.retrieval.tools.results import ToolResult, quotes
from ragways.retrieval.tools.toolbox import TOOLS, Toolbox, chosen_tools
from ragways.tasks.answers import AGENT_ANSWER, ANSWER_TOOL, AgentAnswer, AgentAnswerInput, AnswerWishes, answer_tool

_ADVICE = re.compile(r"^- .*\n(?:  .*\n)*", re.MULTILINE)
_QUOTED = re.compile(r"`(\w+)`")


AT_ONCE = 8
"""Calls in one round; those beyond it are refused, and the agent reads so."""
_SHOWN = 300


class Notes:
    """What an agent has seen so far: runs its calls, keeps their outcomes and the pieces of documents in them. The same
    call again is not run again.
    """

    def __init__(self, use: Resources, tools: Toolbox) -> None:
        self._use = use
        self._names = tools.names
        self.numbered = NumberedTools(tools)
        self._results: dict[tuple[str, str], asyncio.Task[ToolResult | RagwaysError]] = {}
        self._pieces: dict[str, tuple[Piece, str]] = {}
        self._texts: list[str] = []
        self.calls: Counter[str] = Counter()
        self.repeated = 0
        self.tokens = 0

    async def run(self, calls: Sequence[ToolCall]) -> list[str]:
        """Run the calls of one round side by side; return the texts of their results, in their order."""
        texts = await together(self._one(at, call) for at, call in enumerate(calls))
        return [
            text if isinstance(text, str) else self._told(call, text) for call, text in zip(calls, texts, strict=True)
        ]

    async def _one(self, at: int, call: ToolCall) -> str | ToolResult | RagwaysError:
        if at >= AT_ONCE:
            return f"error: at most {AT_ONCE} calls in one round; ask again in the next"
        key = (call.name, _canonical(call.arguments))
        name = call.name if call.name in self._names else "unknown"
        with span(f"tool {name}", arguments=call.arguments[:_SHOWN]) as here:
            if key in self._results:
                self.repeated += 1
                here.details["repeated"] = True
                return "this was asked before: see its result"
            self.calls[name] += 1
            self._results[key] = asyncio.ensure_future(self.numbered.run(call.name, call.arguments))
            result = await self._results[key]
            if isinstance(result, RagwaysError):
                here.details["error"] = result.message[:_SHOWN]
            else:
                here.details["quoted"] = len(quotes(result))
            return result

    def _told(self, call: ToolCall, result: ToolResult | RagwaysError) -> str:
        """The text of a result, which is kept with what it quotes."""
        outcome = self.numbered.outcome(result)
        self.tokens += count_text(outcome.text)
        self._texts.append(outcome.text)
        for piece in outcome.pieces:
            self._keep(piece, call.name)
        return outcome.text

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
        """All results, for the last step."""
        return "\n\n".join(self._texts) or "nothing"

    def hits(self, query: Query, final: AgentAnswer | None) -> Hits:
        """The pieces: those that the answer names, then others of the articles it names, then the rest, each in the
        order it was seen.
        """
        named = set(final.references) if final else set()
        articles = set(final.articles) if final else set()
        order = sorted(
            self._pieces.values(), key=lambda pair: (pair[0].id not in named, pair[0].document not in articles)
        )
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
    named = {hit.piece.id for hit in evidence.items} & set(final.references)
    articles = {hit.piece.document for hit in evidence.items if hit.piece.id in named}
    for reference in (*dict.fromkeys(r for r in final.references if r in named), *final.articles):
        if reference in articles:  # a piece of it is cited
            continue
        quoted = [
            (word_overlap(wanted, quote), -number, span, quote)
            for number, hit in enumerate(evidence.items, start=1)
            if reference in (hit.piece.id, hit.piece.document)
            for span, quote in _sentences(use, hit.piece)
        ]
        if quoted:
            _, number, span, _ = max(quoted)
            piece = evidence.items[-number - 1].piece
            code = [(one.start, one.end) for one in use.index.markup(piece) if one.kind == "code"]
            span = quoted_span(frozenset(wanted), _sentences(use, piece), code) or span
            numbers.append(-number)
            citations.append(citation(use, 0, piece, span, use.index.text(piece.document, *span)))
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


def _sentences(use: Resources, piece: Piece) -> list[tuple[tuple[int, int], str]]:
    spans = use.index.sentences(piece) or [(piece.start, piece.end)]
    return [(span, use.index.text(piece.document, *span)) for span in spans]


MAX_SEEN = 60_000
"""Tokens of results after which the agent must answer, so that no conversation outgrows a model."""
_REPLY = 2048
LOOK_FIRST = "Nothing was read before this answer. Look up what it rests on, then call `final_answer`."
GO_ON = "Go on with a call of a tool, or call `final_answer`."
NOT_AN_ANSWER = "This is not an answer as the tool takes it; see its parameters."
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
        evidence = await pack(use, tokens)(work.notes.hits(query, final))
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
    in_prose: int = 0
    sent_back: bool = False
    messages: list[Message] = field(default_factory=list)
    number: int = 0

    def __post_init__(self) -> None:
        self.notes = Notes(self.use, self.tools)
        self.prompt = Prompt.load("agent")
        system, user = self.prompt.fill({"question": self.query.text, "rounds": self.rounds})
        advised = for_tools(system.content, self.tools.with_data)
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
        offered = (*self.notes.numbered.tools(), answer_tool())
        while self.number < self.rounds - 1:
            self.number += 1
            with span("round", number=self.number):
                reply = await self._ask(Call(tuple(self.messages), tools=offered, max_output=_REPLY, temperature=0.0))
                self.way = self.use.model.way(reply)
                reply = written_call(reply, self.tools.names)
                final = await self._turn(reply)
            if final is not None:
                self.stopped = "answered"
                return final
            if self.in_prose > 1 and not self.notes.calls:
                raise NoToolCalled
            if self.in_prose > 1 or self.notes.tokens > MAX_SEEN:
                self.stopped = "no tool was called" if self.in_prose > 1 else "enough was read"
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
        """Do what a reply asks for; its answer, if it gives one and something was looked up before."""
        ending = [call for call in reply.tool_calls if call.name == ANSWER_TOOL]
        final = next(filter(None, map(_read, [call.arguments for call in ending] or [reply.text])), None)
        looked = bool(self.notes.calls) or self.sent_back
        if reply.text.strip() and final is None:
            self.remarks.append(reply.text)
        self.messages.append(Message("assistant", reply.text, tool_calls=reply.tool_calls))
        await self._call([call for call in reply.tool_calls if call.name != ANSWER_TOOL])
        if final is not None and looked:
            return self._with_ids(final)
        self.sent_back |= final is not None
        said = LOOK_FIRST if final is not None else NOT_AN_ANSWER
        self.messages += [Message("tool", said, tool_call_id=call.id) for call in ending]
        if not reply.tool_calls:
            self.in_prose += final is None
            self.messages.append(Message("user", GO_ON if final is None else LOOK_FIRST))
        return None

    def _with_ids(self, final: AgentAnswer) -> AgentAnswer:
        """The answer with ids of articles and passages as its references, whether they were numbers or titles."""
        return replace(final, references=tuple(map(self.notes.numbered.reference, final.references)))

    async def _call(self, calls: list[ToolCall]) -> None:
        for call, text in zip(calls, await self.notes.run(calls), strict=True):
            self.messages.append(Message("tool", fence(text), tool_call_id=call.id))

    async def _last(self) -> AgentAnswer:
        """The last round, in which the model must answer: a task of its own, so that an unusable reply is repeated."""
        self.number += 1
        with span("round", number=self.number, last=True):
            given = AgentAnswerInput(self.query.text, self.notes.found(), "\n".join(self.remarks) or "nothing")
            outcome = await self.use.model.do(self._wishes.applied(AGENT_ANSWER), given)
            self.way = outcome.way
            return self._with_ids(outcome.value)


def written_call(reply: Reply, names: Collection[str]) -> Reply:
    """The reply, with a call that it writes as JSON in its text as a call."""
    from ragways.models.reply import read_json

    if reply.tool_calls or "{" not in reply.text:
        return reply
    try:
        found = read_json(reply.text)[0]
    except ValueError:
        return reply
    if not isinstance(found, dict):
        return reply
    name, arguments = found.get("name"), found.get("arguments", found.get("parameters"))
    if not (isinstance(name, str) and name in (*names, ANSWER_TOOL) and isinstance(arguments, dict)):
        return reply
    call = ToolCall(f"written_{content_hash(reply.text)[:8]}", name, json.dumps(arguments, ensure_ascii=False))
    return replace(reply, text="", tool_calls=(call,))


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
