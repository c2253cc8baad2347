"""What the loopback server says by itself: an echo, the smallest value that fits a schema, a vector from a hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

Body = Mapping[str, object]
_DEPTH = 32


def default_reply(body: Body, size: int = 0) -> str:
    """An echo of the last message, or what fits the asked-for schema; the first text in it is filled to `size`."""
    schema = _schema(body)
    if schema is not None:
        return json.dumps(_Instance(schema, size).make(schema), ensure_ascii=False)
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else {}
    said = str(last.get("content", "")) if isinstance(last, dict) else ""
    return _filled(f"You said: {said[:500]}", size)


def vector(text: str, dimension: int) -> list[float]:
    """The same text, the same vector, on every machine; components from −1 to 1."""
    data = hashlib.shake_256(text.encode("utf-8", "replace")).digest(2 * dimension)
    return [int.from_bytes(data[2 * at : 2 * at + 2], "big") / 32767.5 - 1 for at in range(dimension)]


def _filled(text: str, size: int) -> str:
    return text if len(text) >= size else (text + " " + "filler " * (size // 7 + 1))[:size]


def _schema(body: Body) -> dict[str, object] | None:
    form = body.get("response_format")
    if not isinstance(form, dict):
        return None
    inner = form.get("json_schema")
    schema = inner.get("schema") if isinstance(inner, dict) else None
    return schema if isinstance(schema, dict) else {"type": "object"}


class _Instance:
    """The smallest value of a schema: first of the choices, shortest lists."""

    def __init__(self, schema: dict[str, object], size: int) -> None:
        self._definitions = schema.get("$defs", {})
        self._size = size

    def make(self, schema: object, depth: int = 0) -> object:
        if not isinstance(schema, dict) or depth > _DEPTH:
            return None
        if "$ref" in schema and isinstance(self._definitions, dict):
            return self.make(self._definitions.get(str(schema["$ref"]).rpartition("/")[2]), depth + 1)
        if "const" in schema:
            return schema["const"]
        for choices in ("enum", "anyOf", "oneOf", "allOf"):
            options = schema.get(choices)
            if isinstance(options, list) and options:
                return options[0] if choices == "enum" else self.make(options[0], depth + 1)
        return self._of_type(schema, depth)

    def _of_type(self, schema: dict[str, object], depth: int) -> object:
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kind = kind[0] if kind else "null"
        if kind == "object":
            properties = schema.get("properties")
            parts = properties.items() if isinstance(properties, dict) else ()
            return {name: self.make(part, depth + 1) for name, part in parts}
        if kind == "array":
            few = schema.get("minItems", 0)
            fixed = schema.get("prefixItems")
            if isinstance(fixed, list):
                return [self.make(part, depth + 1) for part in fixed]
            return [self.make(schema.get("items"), depth + 1) for _ in range(few if isinstance(few, int) else 0)]
        if kind == "string":
            return self._string(schema)
        low = schema.get("minimum", 0)
        return {"integer": low, "number": low, "boolean": False}.get(str(kind))

    def _string(self, schema: dict[str, object]) -> str:
        size, self._size = self._size, 0
        least = schema.get("minLength", 0)
        return _filled("text", max(size, least if isinstance(least, int) else 0))
