"""What works at an endpoint: one small call of each kind, and what they cost together.

Each form of a structured reply is requested by itself, and the strictest that was obeyed is remembered for the
endpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ragways.core.errors import RagwaysError
from ragways.core.text import shortened
from ragways.core.trace import Usage
from ragways.models.call import Call, Message, Reply, Tool
from ragways.models.client import ModelClient
from ragways.models.dialect import FORMS, Dialect, Form
from ragways.models.embed import EndpointEmbedder
from ragways.models.endpoint import Endpoint
from ragways.models.limits import Traffic, TryAgain
from ragways.models.ollama import OllamaModel
from ragways.models.reply import read_json
from ragways.models.tokens import Prices
from ragways.models.transport import Extras

_ROOM = 256
_CAPITAL: dict[str, object] = {
    "type": "object",
    "properties": {"capital": {"type": "string"}},
    "required": ["capital"],
    "additionalProperties": False,
}
_COUNTRY: dict[str, object] = {
    "type": "object",
    "properties": {"country": {"type": "string"}},
    "required": ["country"],
}
_PLAIN = Call((Message("user", "What is the capital of France? One word."),), max_output=_ROOM)
_JSON = Call(
    (Message("user", 'What is the capital of France? Reply with a JSON object that has the key "capital".'),),
    schema=_CAPITAL,
    max_output=_ROOM,
)
_TOOLS = Call(
    (Message("user", "Look France up with the tool."),),
    tools=(Tool("look_up", "Look a country up.", _COUNTRY),),
    max_output=_ROOM,
)
_COUNT = Call((Message("user", "Count from one to ten, in words."),), max_output=_ROOM)
NAMES: dict[Form, str] = {
    "json_schema": "JSON by schema",
    "tool": "JSON by a tool",
    "json_object": "JSON of any shape",
    "plain": "JSON by the prompt",
}


@dataclass(frozen=True, slots=True)
class Probe:
    """One kind of call: whether it works (None: it was not tried), and in words what came of it."""

    name: str
    works: bool | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """What works at an endpoint, how calls are written for it from now on (None where there is only one way), and what
    the check cost; `usd` is None where no price is known.
    """

    probes: tuple[Probe, ...]
    dialect: Dialect | None
    usage: Usage
    usd: float | None

    @property
    def answers(self) -> bool:
        """Whether the model can be used at all: plain text suffices for an answer."""
        return any(probe.works for probe in self.probes if probe.name == "plain text")


class _Exactly:
    """An endpoint as a model that uses one dialect: nothing else is tried where it refuses."""

    def __init__(self, endpoint: Endpoint, dialect: Dialect) -> None:
        self._endpoint = endpoint
        self._dialect = dialect

    @property
    def name(self) -> str:
        return self._endpoint.name

    @property
    def base_url(self) -> str:
        return self._endpoint.base_url

    async def send(self, call: Call) -> Reply:
        return await self._endpoint.exactly(call, self._dialect)

    async def aclose(self) -> None:
        """The endpoint is closed by whoever made it."""


class _Probes:
    """The probes so far, what they cost, and whether every reply reported its tokens."""

    def __init__(self) -> None:
        self.made: list[Probe] = []
        self.usage = Usage()
        self.counted: bool | None = None

    def take(self, name: str, reply: Reply, wrong: str, note: str = "") -> bool:
        self.usage += reply.usage
        self.counted = self.counted is not False and not reply.estimated
        self.made.append(Probe(name, not wrong, wrong or note or shortened(reply.text, 60)))
        return not wrong

    async def ask(self, name: str, client: ModelClient, call: Call, judge: Callable[[Reply], str]) -> bool:
        """Make one call; `judge` says what is wrong with its reply, or nothing."""
        try:
            reply = await client.complete(call)
        except RagwaysError as error:
            self.made.append(Probe(name, False, str(error) if name == "plain text" else error.message))
            return False
        return self.take(name, reply, judge(reply))


async def check_endpoint(
    endpoint: Endpoint | OllamaModel,
    *,
    start: Dialect | None = None,
    prices: Prices | None = None,
    patience: float = 60.0,
) -> EndpointReport:
    """Ask an endpoint in each way. What it understands is remembered, if it answers at all.

    What was remembered of it earlier is ignored; `start` is the first dialect to try.
    """
    probes, prices = _Probes(), prices or Prices()
    if isinstance(endpoint, Endpoint):
        endpoint.dialect = start or Dialect()
    traffic = Traffic(patience=patience)
    client = ModelClient(endpoint, traffic=traffic)
    if await probes.ask("plain text", client, _PLAIN, lambda reply: "" if reply.text.strip() else "an empty reply"):
        tooled = client
        if isinstance(endpoint, Endpoint):
            await _forms(endpoint, probes, traffic)
            tooled = ModelClient(_Exactly(endpoint, endpoint.dialect), traffic=traffic)
        else:
            await probes.ask(NAMES["json_schema"], client, _JSON, _not_obeyed)
        await probes.ask("tools", tooled, _TOOLS, _not_called)
        await _stream(endpoint, probes)
        context = await endpoint.context()
        unknown = "not told: set model.context, or a prompt may be cut"
        probes.made.append(Probe("context", context is not None, f"{context:,} tokens" if context else unknown))
        probes.made.append(
            Probe("usage reported", probes.counted, "" if probes.counted else "tokens are our own count")
        )
    usd = prices.of(probes.usage, endpoint.name, endpoint.base_url)
    dialect = endpoint.dialect if isinstance(endpoint, Endpoint) else None
    return EndpointReport(tuple(probes.made), dialect, probes.usage, usd)


async def _forms(endpoint: Endpoint, probes: _Probes, traffic: Traffic) -> None:
    """Try each form of a structured reply by itself, and have the strictest that was obeyed remembered."""
    obeyed: list[Form] = []
    for form in FORMS:
        model = _Exactly(endpoint, replace(endpoint.dialect, form=form))
        if await probes.ask(NAMES[form], ModelClient(model, traffic=traffic), _JSON, _not_obeyed):
            obeyed.append(form)
    endpoint.learn(replace(endpoint.dialect, form=obeyed[0] if obeyed else "plain"))


def _not_obeyed(reply: Reply) -> str:
    try:
        found, _ = read_json(reply.text)
    except ValueError as error:
        return f"not obeyed: {error}"
    if not isinstance(found, dict):
        return f"not obeyed: a list: {shortened(reply.text, 60)}"
    if isinstance(found.get("capital"), str):
        return ""
    given = found.get("arguments", found.get("parameters"))
    if isinstance(given, dict) and "capital" in given:
        return f"not obeyed: the model wrote a tool call as text: {shortened(reply.text, 60)}"
    return f"not obeyed: JSON of another shape: {shortened(reply.text, 60)}"


def _not_called(reply: Reply) -> str:
    return "" if reply.tool_calls else f"no tool was called, the model wrote: {shortened(reply.text, 60)}"


async def _stream(endpoint: Endpoint | OllamaModel, probes: _Probes) -> None:
    pieces: list[str] = []

    def on_text(text: str, *, restart: bool = False) -> None:
        pieces[:] = [text] if restart else [*pieces, text]

    try:
        reply = await endpoint.stream(_COUNT, on_text)
    except (RagwaysError, TryAgain) as error:
        probes.made.append(Probe("streaming", False, str(error)))
        return
    wrong = "" if len(pieces) > 1 else "the text came in one piece"
    probes.take("streaming", reply, wrong, f"{len(pieces)} pieces")


async def check_embeddings(base_url: str, key: str, model: str, extras: Extras) -> Probe:
    """Whether an endpoint embeds with this model."""
    try:
        dimension = await EndpointEmbedder.discover(base_url, key, model, extras)
    except RagwaysError as error:
        return Probe("embeddings", False, error.message)
    return Probe("embeddings", True, f"{model}: {dimension} numbers a text")
