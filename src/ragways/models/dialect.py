"""Endpoints that call themselves compatible differ. What one understands is learnt from its 400s, once."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

from ragways.models.call import Call, Message
from ragways.models.schema import is_strict


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to say a call. `max_tokens` first: an old server ignores the newer name, and nothing bounds its reply."""

    form: Literal["json_schema", "json_object", "plain"] = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True

    def simpler(self, call: Call, said: str) -> Dialect | None:
        """What to try after a 400 that said `said`; None when nothing is left to leave out."""
        said = said.lower()
        if self.limit == "max_tokens" and "max_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in said:
            return replace(self, temperature=False)
        if self.seed and call.seed is not None and "seed" in said:
            return replace(self, seed=False)
        if call.schema is None or self.form == "plain":
            return None
        return replace(self, form="json_object" if self.form == "json_schema" else "plain")

    def body(self, model: str, call: Call) -> dict[str, object]:
        body: dict[str, object] = {
            "model": model,
            "messages": [_message(m) for m in self._messages(call)],
            self.limit: call.max_output,
        }
        if self.temperature:
            body["temperature"] = call.temperature
        if self.seed and call.seed is not None:
            body["seed"] = call.seed
        if call.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {"name": t.name, "description": t.description, "parameters": t.parameters},
                }
                for t in call.tools
            ]
        if call.schema is not None and self.form != "plain":
            body["response_format"] = self._format(call)
        return body

    def _format(self, call: Call) -> dict[str, object]:
        if self.form == "json_object":
            return {"type": "json_object"}
        schema = {"name": call.schema_name, "schema": call.schema, "strict": is_strict(call.schema)}
        return {"type": "json_schema", "json_schema": schema}

    def _messages(self, call: Call) -> tuple[Message, ...]:
        """Where the endpoint cannot be held to the schema, the schema is said in words."""
        if call.schema is None or self.form == "json_schema":
            return call.messages
        wish = f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{json.dumps(call.schema)}"
        first, rest = (call.messages[0], call.messages[1:]) if call.messages else (Message("system", ""), ())
        if first.role != "system":
            return (Message("system", wish), *call.messages)
        return (replace(first, content=f"{first.content}\n\n{wish}".strip()), *rest)


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
