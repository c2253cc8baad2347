"""Any OpenAI-compatible endpoint for chat: OpenAI, Anthropic, Gemini, Mistral, vLLM, Ollama, llama.cpp, LM Studio…

`dialect.py` has how a call is written so that an endpoint understands it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import replace

from ragways.core.stream import OnText
from ragways.core.trace import Usage
from ragways.models.call import Call, ModelTraits, Reply, ToolCall
from ragways.models.dialect import Dialect, DialectMemory, Form
from ragways.models.limits import TryAgain, count_call, token_count
from ragways.models.repeats import RepeatsItself, RepeatWatch, cut_to_one_copy
from ragways.models.reply import read_json, whole_characters
from ragways.models.tokens import count_text
from ragways.models.transport import Extras, Refused, Transport

MOST_TOOL_CALLS = 1000
_USUAL = ModelTraits()


class Endpoint:
    """`POST {base_url}/chat/completions`, one try a call. The layers around it are those of the client.

    `dialect` is how to begin; what is learnt from refusals goes to `memory`, and comes from there the next time. What
    is learnt from prose where JSON was demanded holds for this run alone: a single reply may be bad luck.
    """

    def __init__(
        self,
        base_url: str,
        key: str | None,
        model: str,
        *,
        timeout: float = 60.0,
        total_timeout: float = 1800.0,
        extras: Extras | None = None,
        dialect: Dialect | None = None,
        memory: DialectMemory | None = None,
        traits: ModelTraits = _USUAL,
    ) -> None:
        self._context = traits.context
        self._transport = Transport(base_url, key, timeout=timeout, total_timeout=total_timeout, extras=extras)
        self._top_p = traits.top_p
        self._effort = traits.effort
        self._model = model
        self._memory = memory
        known = memory.get(self.base_url, model) if memory is not None else None
        self.dialect = known or dialect or Dialect()
        self._form: Form | None = None  # looser than that of `dialect`, and obeyed in this run where that was not
        self._trying: Form | None = None  # after prose: the next looser form, which nobody has seen to work yet

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r}, model={self._model!r})"

    @property
    def name(self) -> str:
        return self._model

    @property
    def base_url(self) -> str:
        return self._transport.base_url

    async def send(self, call: Call) -> Reply:
        return await self._timed(call, None)

    async def stream(self, call: Call, on_text: OnText) -> Reply:
        """As `send`, by server-sent events. An endpoint that knows no streams gives its text in one piece."""
        return await self._timed(call, on_text)

    async def exactly(self, call: Call, dialect: Dialect) -> Reply:
        """As `send`, in this dialect alone: nothing else is tried where it is refused, and nothing is learnt."""
        return await self._timed(call, None, dialect)

    async def _timed(self, call: Call, on_text: OnText | None, exactly: Dialect | None = None) -> Reply:
        began = time.perf_counter()
        data, streamed, used = await self._post(call, on_text, exactly)
        reply = _reply(data, self._model)
        if call.schema is not None:
            reply = self._with_schema_text(reply, used)
            if exactly is None:
                self._learn_from(reply, used)
        if on_text is not None and (streamed is None or reply.repeats):
            on_text(reply.text, restart=True)
        if reply.usage.calls == 0:
            written = streamed.written if streamed is not None else ""
            usage = Usage(calls=1, input=count_call(call), output=count_text(written or reply.text))
            reply = replace(reply, usage=usage, estimated=True)
        return replace(reply, seconds=time.perf_counter() - began)

    async def context(self) -> int | None:
        """Return how many tokens a call may read and write; None where neither settings nor the server say.

        vLLM, llama.cpp and OpenRouter list it with their models, each under a name of its own.
        """
        if self._context is None:
            listed = (await self._transport.get("/models")).get("data")
            models = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
            own = next((one for one in models if one.get("id") == self._model), models[0] if len(models) == 1 else {})
            facts = {**own, **(own["meta"] if isinstance(own.get("meta"), dict) else {})}
            sizes = (facts.get(name) for name in ("max_model_len", "n_ctx", "context_length", "n_ctx_train"))
            self._context = next((size for size in sizes if isinstance(size, int) and size > 0), 0)
        return self._context or None

    async def aclose(self) -> None:
        await self._transport.aclose()

    def learn(self, dialect: Dialect) -> None:
        """From now on say calls so, also the next time."""
        self.dialect = dialect
        if self._memory is not None:
            self._memory.put(self.base_url, self._model, dialect)

    @staticmethod
    def _with_schema_text(reply: Reply, used: Dialect) -> Reply:
        """The reply to a call with a schema: what a tool was given is its text."""
        if used.form == "tool" and reply.tool_calls:
            finish = "stop" if reply.finish == "tool_calls" else reply.finish
            return replace(reply, text=reply.tool_calls[0].arguments, tool_calls=(), finish=finish)
        return reply

    def _now(self, call: Call) -> Dialect:
        """How to say a call now."""
        form = self._trying or self._form
        return replace(self.dialect, form=form) if form and call.schema is not None else self.dialect

    def _learn_from(self, reply: Reply, used: Dialect) -> None:
        """Prose where JSON was demanded: the next call is tried in the next looser form, and so on until one is obeyed.

        After the last it is the usual one again. Replies to calls that began before the last change say nothing new.
        """
        usual, looser = self._form or self.dialect.form, used.looser()
        if self._trying is None:
            prose = "{" not in reply.text and not _has_json(reply)
            if used.form == usual and reply.text.strip() and prose and not reply.cut:
                self._trying = looser.form if looser else None
        elif _has_json(reply):
            if used.form == self._trying:
                self._form = used.form
                logging.getLogger("ragways").warning(
                    "ragways: model %s replied in prose where JSON was demanded by %s; %s is used from now on, "
                    "in this run, which brought JSON", self._model, usual, used.form
                )  # fmt: skip
            if used.form in (usual, self._trying):
                self._trying = None
        elif used.form == self._trying and not reply.cut:
            self._trying = looser.form if looser else None

    def _learn_from_refusals(self, began: Dialect, used: Dialect) -> None:
        """A form that was tried because of prose is not learnt; where it was refused, this run goes on to the next."""
        usual = self.dialect.form
        learnt = used if began.form == usual else replace(used, form=usual)
        if learnt != self.dialect:
            self.learn(learnt)
        if self._trying == began.form:
            self._trying = used.form
        elif self._form == began.form:
            self._form = used.form

    async def _post(
        self, call: Call, on_text: OnText | None, exactly: Dialect | None
    ) -> tuple[Mapping[str, object], _Streamed | None, Dialect]:
        """The reply of the endpoint, the stream if it was one, and the dialect that was used.

        A 400 may mean that it does not know a parameter or a form that it names: a simpler dialect is tried.
        """
        began = dialect = exactly or self._now(call)
        first: Refused | None = None
        while True:
            streamed = _Streamed(on_text, by_tool=call.schema is not None and dialect.form == "tool")
            body = dialect.body(self._model, call, on_text is not None, top_p=self._top_p, effort=self._effort)
            try:
                data = await self._transport.post(
                    "/chat/completions", body, streamed.take if on_text is not None else None
                )
            except RepeatsItself:
                data = None
            except Refused as refused:
                first = first or refused
                known = refused.status in (400, 422) and not (refused.too_long or refused.filtered) and exactly is None
                simpler = dialect.simpler(call, refused.reason, on_text is not None) if known else None
                if simpler is None:
                    raise first.explained(self.base_url, self._model) from None
                dialect = simpler
                continue
            if first is not None:
                self._learn_from_refusals(began, dialect)
            return (streamed.whole(), streamed, dialect) if data is None else (data, None, dialect)


class _Streamed:
    """A streamed reply put together from its events, in the form of one that was not streamed.

    `by_tool`: what a tool is given is the text, for those who listen. A text that repeats itself ends by
    `RepeatsItself`, and is whole then, with one copy of what it repeats.
    """

    def __init__(self, on_text: OnText | None, *, by_tool: bool = False) -> None:
        self._on_text = on_text
        self._by_tool = by_tool
        self._begun = False
        self._watch = RepeatWatch()
        self._pieces: list[str] = []
        self._tool_calls: dict[int, dict[str, str]] = {}
        self._finish: object = None
        self._done = False
        self._rest: dict[str, object] = {}

    @property
    def written(self) -> str:
        """The text as the model wrote it, with all that it repeated."""
        return self._watch.text

    def take(self, event: dict[str, object]) -> bool:
        """Whether it carries anything: a token, of reasoning say, the end, or what it cost."""
        self._done = self._done or bool(event.get("done"))
        self._rest |= {name: event[name] for name in ("model", "usage") if event.get(name)}
        carries = bool(event.get("done") or event.get("usage"))
        try:
            for choice in event.get("choices") or ():  # type: ignore[attr-defined]
                self._finish = choice.get("finish_reason") or self._finish
                delta = choice.get("delta") or {}
                carries |= bool(choice.get("finish_reason") or any(delta[name] for name in delta if name != "role"))
                self._take_text(_text(delta.get("content")))
                for part in delta.get("tool_calls") or ():
                    self._take_tool_call(part)
        except (KeyError, TypeError, AttributeError):
            raise TryAgain("an event of the stream is not one of a reply", lost=True) from None
        return carries

    def _take_text(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            self._hand_on(piece)

    def _hand_on(self, piece: str) -> None:
        if self._on_text is not None and piece:
            self._on_text(piece, restart=not self._begun)
            self._begun = True
            self._watch.take(piece)

    def _take_tool_call(self, part: Mapping[str, object]) -> None:
        function = part.get("function")
        given = function if isinstance(function, dict) else {}
        at = part.get("index")
        at = at if isinstance(at, int) and 0 <= at < MOST_TOOL_CALLS else 0
        call = self._tool_calls.setdefault(at, {"id": "", "name": "", "arguments": ""})
        call["id"] = call["id"] or str(part.get("id") or "")
        call["name"] = call["name"] or str(given.get("name") or "")
        call["arguments"] += str(given.get("arguments") or "")
        if self._by_tool:
            self._hand_on(str(given.get("arguments") or ""))

    def whole(self) -> Mapping[str, object]:
        if self._watch.repeats:
            choice = {"message": {"content": cut_to_one_copy(self.written)}, "finish_reason": "repeats"}
            return {**self._rest, "choices": [choice]}
        if self._finish is None and not self._done:
            raise TryAgain("the reply was cut off in mid-stream", lost=True)
        calls = [
            {"id": call["id"], "function": {"name": call["name"], "arguments": call["arguments"]}}
            for _, call in sorted(self._tool_calls.items())
        ]
        message = {"content": "".join(self._pieces), "tool_calls": calls}
        return {**self._rest, "choices": [{"message": message, "finish_reason": self._finish}]}


def _reply(data: Mapping[str, object], model: str) -> Reply:
    try:
        choice = data["choices"][0]  # type: ignore[index]
        message = choice["message"]
        content = message.get("content")
        calls = tuple(_tool_call(call) for call in message.get("tool_calls") or ())
        finish = str(choice.get("finish_reason") or "stop")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise TryAgain("the reply has no message in it", lost=True) from None
    return Reply(
        text=whole_characters(_text(content)),
        usage=_usage(data.get("usage")),
        model=str(data.get("model") or model),
        tool_calls=calls,
        finish=finish,
    )


def _has_json(reply: Reply) -> bool:
    try:
        read_json(reply.text)
    except ValueError:
        return False
    return True


def _text(content: object) -> str:
    """A text, or the texts of a list of parts, which some endpoints send."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _tool_call(data: Mapping[str, object]) -> ToolCall:
    function = data["function"]
    if not isinstance(function, dict):
        raise TypeError
    return ToolCall(
        str(data.get("id") or ""), str(function["name"]), whole_characters(str(function.get("arguments") or "{}"))
    )


def _usage(data: object) -> Usage:
    """Tokens as the endpoint counted them; an empty usage when it sent none."""
    read, written = token_count(data, "prompt_tokens"), token_count(data, "completion_tokens")
    if not isinstance(data, dict) or read is None or written is None or not read + written:
        return Usage()
    # Some count the tokens of reasoning in the total alone; they are paid for as output all the same.
    unseen = max(0, (token_count(data, "total_tokens") or 0) - read - written)
    reasoning = token_count(data.get("completion_tokens_details"), "reasoning_tokens") or 0
    return Usage(
        calls=1,
        input=read,
        output=written + unseen,
        cached=min(read, token_count(data.get("prompt_tokens_details"), "cached_tokens") or 0),
        reasoning=min(written + unseen, max(unseen, reasoning)),
    )
