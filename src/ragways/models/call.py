"""Calls of a language model, their replies, and the cache of replies, so that no call is paid twice."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, Protocol, runtime_checkable

from ragways.core.stream import OnText
from ragways.core.trace import Usage
from ragways.core.types import content_hash

Role = Literal["system", "user", "assistant", "tool"]

_ANGLED = (
    r"(?:[|｜][^<>|｜\s]{1,60}[|｜]|</?SYS>|/?(?:s|bos|eos|pad|unk|think|thinking|tool_call|tool_response)"
    r"|(?:start|end)_of_\w{1,40})>"
)
_SQUARE = r"/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\]"
_MARK = re.compile(rf"<(?={_ANGLED})|\[(?={_SQUARE})")
_BROKEN_MARK = re.compile(rf"(?<=<) (?={_ANGLED})|(?<=\[) (?={_SQUARE})")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model asks for a tool. `arguments` is JSON text as the model wrote it: nobody has checked it yet."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may ask for; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. An assistant's may carry `tool_calls`; a result has role `tool` and names the call it answers.

    A blank breaks each mark of a chat template, such as `<|im_end|>`: a server that puts messages into its template as
    they are would let a document end its turn and begin the system's. `restored` undoes it in what the model wrote.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""

    def __post_init__(self) -> None:
        calls = tuple(replace(call, arguments=_broken(call.arguments)) for call in self.tool_calls)
        object.__setattr__(self, "content", _broken(self.content))
        object.__setattr__(self, "tool_calls", calls)


def _broken(text: str) -> str:
    return _MARK.sub(r"\g<0> ", text)


def restored(text: str) -> str:
    """Return what a model wrote without the blanks that broke marks of chat templates in its prompt."""
    return _BROKEN_MARK.sub("", text)


@dataclass(frozen=True, slots=True)
class Call:
    """Everything that shapes a reply. `sample` tells repeated trials of one prompt apart and is not sent.

    `max_output` has a value always: without one, the most that a call can cost is not known before it is sent.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, object] | None = None
    schema_name: str = "reply"
    temperature: float = 0.0
    max_output: int = 1024
    seed: int | None = None
    tools: tuple[Tool, ...] = ()
    sample: int = 0

    def key(self, model_name: str, base_url: str = "") -> str:
        """A name for this call to this model: the same on every machine, different when anything differs."""
        turns = [(m.role, m.content, [(c.id, c.name, c.arguments) for c in m.tool_calls], m.tool_call_id)
                for m in self.messages]  # fmt: skip
        tools = [(t.name, t.description, t.parameters) for t in self.tools]
        rest = (self.schema_name, self.temperature, self.max_output, self.seed, self.sample)
        return content_hash(
            "call 1", model_name, base_url, json.dumps([turns, tools, self.schema, rest], sort_keys=True)
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply. A cached reply has an empty `usage`, because it cost nothing; `spared` is what it once cost.

    `estimated` says that the endpoint sent no usage and the tokens are our own count.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    seconds: float = 0.0
    cached: bool = False
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    estimated: bool = False
    spared: Usage = field(default_factory=Usage)

    @property
    def cut(self) -> bool:
        """Whether it ended because `max_output` was reached."""
        return self.finish == "length"

    @property
    def repeats(self) -> bool:
        """Whether it was stopped because the model repeated itself; `text` has one copy of what it repeated."""
        return self.finish == "repeats"

    def to_json(self) -> str:
        data = asdict(self)
        del data["spared"]
        return json.dumps(data, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Reply:
        """Read what `to_json` wrote; ValueError when it is something else."""
        try:
            data = json.loads(text)
            usage = Usage(**data.pop("usage"))
            calls = tuple(ToolCall(**call) for call in data.pop("tool_calls"))
            return cls(usage=usage, tool_calls=calls, **data)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not a stored reply: {type(error).__name__}") from None

    def again(self) -> Reply:
        """The same reply, given a second time: it costs nothing."""
        return replace(self, usage=Usage(), spared=self.usage + self.spared, cached=True)


@dataclass(frozen=True, slots=True)
class ModelTraits:
    """What a model is sent beside each call, and how much it reads: what it samples from, how
    long it reasons, and how many tokens a call may read and write. None and empty are the server's own.
    """

    top_p: float | None = None
    effort: str = ""
    context: int | None = None


class Model(Protocol):
    """Something that answers calls: an endpoint, an object of one's own, or a script in a test.

    `name` and `base_url` say which one, for cache keys and prices; `send` makes one try and raises `TryAgain` when
    another may succeed.
    """

    @property
    def name(self) -> str: ...

    @property
    def base_url(self) -> str: ...

    async def send(self, call: Call) -> Reply: ...

    async def aclose(self) -> None: ...


@runtime_checkable
class StreamingModel(Model, Protocol):
    """A model that can hand on the text of a reply while it is written."""

    async def stream(self, call: Call, on_text: OnText) -> Reply:
        """As `send`; `on_text` gets each piece of the text, the first of every try with `restart=True`."""
        ...


@runtime_checkable
class MeasuredModel(Model, Protocol):
    """A model that knows how much it can read and write."""

    async def context(self) -> int | None:
        """Return how many tokens a call may read and write; None where it is not known."""
        ...


class ReplyCache(Protocol):
    """Texts by key. A second `put` of a key replaces the first."""

    def get(self, key: str) -> str | None: ...

    def put(self, key: str, reply: str) -> None: ...
