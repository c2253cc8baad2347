"""How a call is written so that an endpoint understands it, and a memory of what each endpoint understood.

Endpoints that call themselves compatible differ in the names of parameters, and in how a reply is made to follow a
schema: by a JSON schema, by a tool that must be called, by JSON of any shape, or by the prompt alone. What an endpoint
understands is learnt once from its replies with status 400, and stored in the cache folder. What replies that do not
obey change, for one run, is in `endpoint.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from ragways.models.call import Call, Message
from ragways.models.reply import is_strict

Form = Literal["json_schema", "tool", "json_object", "plain"]
FORMS: tuple[Form, ...] = get_args(Form)
"""Ways to make a reply follow its schema, the strictest first."""
_OF_A_FORM = re.compile(r"schema|format|\bjson|\btool|function|\bstrict\b|grammar|structured|guided")
FILE = "endpoints.json"
MOST_ENTRIES = 500


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a call is written for an endpoint.

    `max_tokens` comes first: an old server ignores the newer name, and nothing would bound its reply.
    """

    form: Form = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    top_p: bool = True
    seed: bool = True
    effort: bool = True
    stream: Literal["with usage", "plain", "no"] = "with usage"

    def simpler(self, call: Call, message: str, streaming: bool = False) -> Dialect | None:
        """The dialect to try after a 400 with this message; None when it names nothing that can be left out."""
        message = message.lower()
        if streaming and self.stream != "no" and "stream" in message:
            return replace(
                self, stream="plain" if self.stream == "with usage" and "stream_options" in message else "no"
            )
        if self.limit == "max_tokens" and "max_tokens" in message:
            return replace(self, limit="max_completion_tokens")
        for name, words in (("temperature", "temperature"), ("top_p", "top_p"), ("effort", "reasoning_effort")):
            if getattr(self, name) and words in message:
                return replace(self, **{name: False})  # type: ignore[arg-type]
        if self.seed and call.seed is not None and "seed" in message:
            return replace(self, seed=False)
        return self.looser() if call.schema is not None and _OF_A_FORM.search(message) else None

    def looser(self) -> Dialect | None:
        """The next form after this one, which was refused or not obeyed; None after the last."""
        at = FORMS.index(self.form) + 1
        return replace(self, form=FORMS[at]) if at < len(FORMS) else None

    def body(
        self,
        model: str,
        call: Call,
        streaming: bool = False,
        *,
        top_p: float | None = None,
        effort: str = "",
    ) -> dict[str, object]:
        """The JSON to send."""
        body: dict[str, object] = {
            "model": model,
            "messages": [_message(m) for m in self._messages(call)],
            self.limit: call.max_output,
        }
        if self.temperature:
            body["temperature"] = call.temperature
        if self.top_p and top_p is not None:
            body["top_p"] = top_p
        if self.effort and effort:
            body["reasoning_effort"] = effort
        if self.seed and call.seed is not None:
            body["seed"] = call.seed
        if call.tools:
            body["tools"] = [_tool(t.name, t.description, t.parameters) for t in call.tools]
        if call.schema is not None:
            body |= self._form(call)
        if streaming and self.stream != "no":
            body["stream"] = True
            if self.stream == "with usage":  # else no tokens are counted in a stream
                body["stream_options"] = {"include_usage": True}
        return body

    def _form(self, call: Call) -> dict[str, object]:
        if self.form == "json_schema":
            schema = {"name": call.schema_name, "schema": call.schema, "strict": is_strict(call.schema)}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        if self.form == "tool":
            chosen = {"type": "function", "function": {"name": call.schema_name}}
            return {"tools": [_tool(call.schema_name, "Give the reply.", call.schema or {})], "tool_choice": chosen}
        return {"response_format": {"type": "json_object"}} if self.form == "json_object" else {}

    def _messages(self, call: Call) -> tuple[Message, ...]:
        return with_schema(call) if self.form in ("json_object", "plain") else call.messages


def with_schema(call: Call) -> tuple[Message, ...]:
    """The messages with the schema in words, for a model that takes no schema."""
    if call.schema is None:
        return call.messages
    wish = f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{json.dumps(call.schema)}"
    first, rest = (call.messages[0], call.messages[1:]) if call.messages else (Message("system", ""), ())
    if first.role != "system":
        return (Message("system", wish), *call.messages)
    return (replace(first, content=f"{first.content}\n\n{wish}".strip()), *rest)


def _tool(name: str, description: str, parameters: Mapping[str, object]) -> dict[str, object]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _message(message: Message) -> dict[str, object]:
    body: dict[str, object] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        body["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        body["tool_call_id"] = message.tool_call_id
    return body


class DialectMemory:
    """The dialect of each endpoint and model, in one file of the cache folder. A file that cannot be read or written
    costs what it holds, never a call.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    def get(self, base_url: str, model: str) -> Dialect | None:
        """What was learnt of this model there; None where nothing was."""
        return _dialect(self._read().get(f"{base_url} {model}"))

    def put(self, base_url: str, model: str, dialect: Dialect) -> None:
        entries = self._read()
        name = f"{base_url} {model}"
        entries.pop(name, None)
        entries[name] = asdict(dialect)
        self._write(dict(list(entries.items())[-MOST_ENTRIES:]))

    def forget(self, base_url: str, model: str) -> bool:
        """Whether there was something to forget."""
        entries = self._read()
        there = entries.pop(f"{base_url} {model}", None) is not None
        if there:
            self._write(entries)
        return there

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, entries: Mapping[str, object]) -> None:
        draft = ""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(prefix=f"{FILE}.", dir=self._file.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(entries, file, indent=1)
            os.replace(draft, self._file)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(draft)


def _dialect(found: object) -> Dialect | None:
    """A stored entry as a dialect; None where it is none, such as one of a later version."""
    if not isinstance(found, dict) or found.keys() != {field.name for field in fields(Dialect)}:
        return None
    hints = get_type_hints(Dialect)
    if all(value in (get_args(hints[name]) or (True, False)) for name, value in found.items()):
        return Dialect(**found)
    return None
