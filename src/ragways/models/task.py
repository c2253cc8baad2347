"""A task is one thing we ask of a model: its prompt, the type of its reply, and how it is done without a model.

@dataclass(frozen=True)
class Subquestions:
    questions: tuple[str, ...]

SUBQUESTIONS = Task("subquestions", prompt="subquestions", reply=Subquestions, without=by_conjunctions)
found = await use.model.do(SUBQUESTIONS, question="...")
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar, cast

from ragways.models.call import Call, Message, Reply
from ragways.models.prompt import Prompt

T = TypeVar("T")

SHOWN = 4000
"""Characters of an unusable reply that are shown to the model again."""


class Complaint(ValueError):
    """Why a reply cannot be used, in words that the model is told."""

    reply: Reply | None = None


class CutOff(Complaint):
    """The reply can be used as far as it goes, but `max_output` ended it; `value` is what there is of it."""

    def __init__(self, value: object, tokens: int) -> None:
        super().__init__(f"it was cut off at {tokens} tokens")
        self.value = value


@dataclass(frozen=True)
class Task(Generic[T]):
    """`reply` is a frozen dataclass, or `str` for free text.

    `without` is the honest way without a model, given the same variables. `check` returns a complaint about a reply
    that fits its type and still cannot be used (a citation of a passage that was not shown). `render` makes the
    prompt's variables when those of the task are not texts already. `sample` tells repeated trials apart
    (`replace(TASK, sample=3, temperature=0.7)`).
    """

    name: str
    prompt: str | Prompt
    reply: type[T]
    without: Callable[..., Awaitable[T]] | None = None
    temperature: float = 0.0
    max_output: int = 1024
    check: Callable[[T, Mapping[str, object]], str | None] | None = None
    render: Callable[..., Mapping[str, object]] | None = None
    seed: int | None = None
    sample: int = 0

    @property
    def text(self) -> Prompt:
        return self.prompt if isinstance(self.prompt, Prompt) else Prompt.load(self.prompt)

    def call(self, variables: Mapping[str, object]) -> Call:
        from ragways.models.schema import schema_of

        values = variables if self.render is None else self.render(**variables)
        return Call(
            messages=self.text.fill(values),
            schema=None if self.reply is str else schema_of(self.reply),
            schema_name=re.sub(r"[^A-Za-z0-9_-]", "_", self.name)[:64],
            temperature=self.temperature,
            max_output=self.max_output,
            seed=self.seed,
            sample=self.sample,
        )

    def read(self, reply: Reply, variables: Mapping[str, object]) -> tuple[T, bool]:
        """The reply as its type, and whether it is whole (not cut off, no JSON mended). Raises `Complaint`."""
        from ragways.models.repair import read_json, spoken
        from ragways.models.schema import fits

        try:
            if self.reply is str:
                value, whole = cast(T, spoken(reply.text)), not reply.cut
            else:
                found, mended = read_json(reply.text)
                whole = not mended
                value = fits(self.reply, found)
        except ValueError as error:
            raise Complaint(_with_cut(str(error), reply)) from None
        complaint = self.check(value, variables) if self.check else None
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


def reader(task: Task[T], variables: Mapping[str, object], last: bool) -> Callable[[Reply, bool], T]:
    """How the client reads replies to a task: given a reply and whether it is fresh. Complaints carry the reply."""

    def read(reply: Reply, fresh: bool) -> T:
        try:
            value, whole = task.read(reply, variables)
            if fresh and reply.cut and not (whole or last):
                raise CutOff(value, _written(reply))
        except Complaint as complaint:
            complaint.reply = reply
            raise
        return value

    return read
