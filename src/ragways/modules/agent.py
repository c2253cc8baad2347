"""One reasoning agent with tools: rounds of calls, and an answer with the articles it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ragways.core.errors import BudgetExceeded
from ragways.core.step import Step
from ragways.core.trace import current_span, span
from ragways.core.types import Answer, Query
from ragways.models.call import Call, Message, Reply, ToolCall
from ragways.models.client import ModelClient
from ragways.models.prompt import FENCE_RULE, Prompt, fence
from ragways.modules.agent_notes import Notes
from ragways.modules.agent_said import said
from ragways.modules.agent_text import defuse
from ragways.modules.agent_tools import Tools
from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.tasks.answers import AGENT_ANSWER, ANSWER_TOOL, AgentAnswer, AgentAnswerInput, answer_tool

MOST_SEEN = 60_000
"""Tokens of results after which the agent must answer, so that no conversation outgrows a model."""
_REPLY = 2048


def agent(use: Resources, tools: Tools, *, rounds: int = 10, tokens: int = 8000) -> Step[Query, Answer]:
    """Rounds of calls until the agent answers; the last round is told to. A budget ends it with the best there is."""

    async def run(query: Query) -> Answer:
        work = _Work(use, tools, query, rounds)
        final, stopped = None, ""
        try:
            final = await work.final()
        except BudgetExceeded as error:
            stopped = f"budget: {error.message}"
        here = current_span()
        here.way = work.way
        here.details.update(work.facts(), stopped=stopped or work.stopped)
        evidence = await pack(tokens)(work.notes.hits(query, final.articles if final else ()))
        if use.retrieve_only:
            return await answer(use)(evidence)
        if final is not None:
            here.details.update(explanation=final.explanation, assumptions=list(final.assumptions))
            return said(use, evidence, final, here.way)
        # There is nothing left to spend: what was read is answered from without the model, or not at all.
        best = await (answer(replace(use, model=ModelClient(None))) >> defuse())(evidence)
        return replace(best, way=f"{best.way} ({stopped.partition(':')[0]} reached)")

    return Step("agent", run, rounds=rounds, tools=list(tools.names))


@dataclass
class _Work:
    """One question's conversation."""

    use: Resources
    tools: Tools
    query: Query
    rounds: int
    stopped: str = ""
    way: str = ""
    notes: Notes = field(init=False)
    remarks: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    number: int = 0

    def __post_init__(self) -> None:
        self.notes = Notes(self.use, self.tools)
        system, user = Prompt.load("agent").fill({"question": self.query.text, "rounds": self.rounds})
        self.messages = [replace(system, content=f"{system.content}\n\n{FENCE_RULE}"), user]

    def facts(self) -> dict[str, object]:
        calls = dict(sorted(self.notes.calls.items()))
        return {"calls": calls, "repeated": self.notes.repeated, "rounds": self.number, "prompt": self._prompt.hash}

    @property
    def _prompt(self) -> Prompt:
        return Prompt.load("agent")

    async def final(self) -> AgentAnswer:
        self.stopped = f"{self.rounds} rounds"
        offered = (*self.tools.tools(), answer_tool())
        while self.number < self.rounds - 1:
            self.number += 1
            with span("round", number=self.number):
                reply = await self.use.model.complete(
                    Call(tuple(self.messages), tools=offered, max_output=_REPLY, temperature=0.0)
                )
                self.way = self.use.model.way(reply)
                final = await self._turn(reply)
            if final is not None:
                self.stopped = "answered"
                return final
            if not reply.tool_calls or self.notes.tokens > MOST_SEEN:
                self.stopped = "no tool was called" if not reply.tool_calls else "enough was read"
                break
        return await self._last()

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
        """The last round, told to answer: a task of its own, so that a reply that cannot be used is asked again."""
        self.number += 1
        with span("round", number=self.number, last=True):
            given = AgentAnswerInput(self.query.text, self.notes.found(), "\n".join(self.remarks) or "nothing")
            outcome = await self.use.model.do(AGENT_ANSWER, given)
            self.way = outcome.way
            return outcome.value


def _read(text: str) -> AgentAnswer | None:
    """An answer, if the text is one."""
    from ragways.models.repair import read_json
    from ragways.models.schema import fits

    try:
        return fits(AgentAnswer, read_json(text)[0])
    except ValueError:
        return None
