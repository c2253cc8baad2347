"""A task is one thing we ask of a model: its input, its prompt, the type of its reply, and the way without a model.

@dataclass(frozen=True)
class SubquestionsInput:
    question: str
    passages: tuple[str, ...]

@dataclass(frozen=True)
class Subquestions:
    questions: tuple[str, ...]

SUBQUESTIONS = Task("subquestions", prompt="subquestions", reply=Subquestions, render=_render, without=by_conjunctions)
outcome = await client.do(SUBQUESTIONS, SubquestionsInput("...", ()))
outcome.value.questions, outcome.way
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from ragways.models.call import Call, Message, Reply
from ragways.models.prompt import Prompt

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

In = TypeVar("In", bound="DataclassInstance")
Out = TypeVar("Out")

SHOWN = 4000
"""Characters of an unusable reply that are shown to the model again."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Out]):
    """What came of a task: its value, and how it was done.

    `way` is "rule", "model NAME", "model NAME (cached)" or "rule, after an unusable reply". `cut` says that the reply
    ended at `max_output`, so that the value holds what could be read of it. `asked` is how often the model was asked,
    0 for a rule.
    """

    value: Out
    way: str
    cut: bool = False
    asked: int = 0

    @property
    def by_rule(self) -> bool:
        """Whether no model made the value."""
        return self.way.startswith("rule")


class Complaint(ValueError):
    """Why a reply cannot be used, in words that the model is told."""

    reply: Reply | None = None


class CutOff(Complaint):
    """The reply can be used as far as it goes, but `max_output` ended it; `value` is what there is of it."""

    def __init__(self, value: object, tokens: int) -> None:
        super().__init__(f"it was cut off at {tokens} tokens")
        self.value = value


@dataclass(frozen=True)
class Task(Generic[In, Out]):
    """The input is a frozen dataclass; `reply` is one too, or `str` for free text.

    `without` is the honest way without a model. `check` returns a complaint about a reply that fits its type and still
    cannot be used (a citation of a passage that was not shown). `render` makes the prompt's variables from the input;
    without it they are the input's fields. `sample` tells repeated trials apart
    (`replace(TASK, sample=3, temperature=0.7)`).
    """

    name: str
    prompt: str | Prompt
    reply: type[Out]
    without: Callable[[In], Awaitable[Out]] | None = None
    temperature: float = 0.0
    max_output: int = 1024
    check: Callable[[Out, In], str | None] | None = None
    render: Callable[[In], Mapping[str, object]] | None = None
    seed: int | None = None
    sample: int = 0

    @property
    def text(self) -> Prompt:
        return self.prompt if isinstance(self.prompt, Prompt) else Prompt.load(self.prompt)

    def call(self, given: In) -> Call:
        """The call to make for this input."""
        from ragways.models.schema import schema_of

        if self.render is not None:
            variables = self.render(given)
        else:
            variables = {field.name: getattr(given, field.name) for field in fields(given)}
        return Call(
            messages=self.text.fill(variables),
            schema=None if self.reply is str else schema_of(self.reply),
            schema_name=re.sub(r"[^A-Za-z0-9_-]", "_", self.name)[:64],
            temperature=self.temperature,
            max_output=self.max_output,
            seed=self.seed,
            sample=self.sample,
        )

    def read(self, reply: Reply, given: In) -> tuple[Out, bool]:
        """The reply as its type, and whether it is whole (not cut off, no JSON mended). Raises `Complaint`."""
        from ragways.models.repair import read_json, spoken
        from ragways.models.schema import fits

        try:
            if self.reply is str:
                value, whole = cast(Out, spoken(reply.text)), not reply.cut
            else:
                found, mended = read_json(reply.text)
                whole = not mended
                value = fits(self.reply, found)
        except ValueError as error:
            raise Complaint(_with_cut(str(error), reply)) from None
        complaint = self.check(value, given) if self.check else None
        if complaint:
            raise Complaint(_with_cut(complaint, reply))
        return value, whole

    def ask_again(self, call: Call, reply: Reply, complaint: str) -> Call:
        """The call to make after an unusable reply: more room if it was cut off, else the reply and what is wrong.

        An endpoint with a limit of its own cuts shorter than it was asked to: there more room changes nothing.
        """
        if reply.cut and not _cut_short(reply, call):
            return replace(call, max_output=call.max_output * 2)
        form = "" if self.reply is str else " Reply again, with the whole JSON object and nothing else."
        form += " Be shorter." if reply.cut else ""
        return replace(
            call,
            messages=(
                *call.messages,
                Message("assistant", reply.text[:SHOWN]),
                Message("user", f"That reply cannot be used: {complaint}.{form}"),
            ),
        )


def _cut_short(reply: Reply, call: Call) -> bool:
    """Whether fewer tokens were written than the call allowed; a tenth, because not all count the last one."""
    return not reply.estimated and 0 < _written(reply) < 0.9 * call.max_output


def _with_cut(complaint: str, reply: Reply) -> str:
    """A field is missing where a reply ended early: the end is why."""
    return f"{complaint}; it was cut off at {_written(reply)} tokens" if reply.cut else complaint


def _written(reply: Reply) -> int:
    return (reply.usage + reply.spared).output  # one shared with another caller cost nothing here


def reader(task: Task[In, Out], given: In, last: bool) -> Callable[[Reply, bool], Out]:
    """How the client reads replies to a task: given a reply and whether it is fresh. Complaints carry the reply."""

    def read(reply: Reply, fresh: bool) -> Out:
        try:
            value, whole = task.read(reply, given)
            if fresh and reply.cut and not (whole or last):
                raise CutOff(value, _written(reply))
        except Complaint as complaint:
            complaint.reply = reply
            raise
        return value

    return read
