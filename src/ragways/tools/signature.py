"""A function's signature as the JSON schema of a tool, and arguments checked against it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from ragways.tools.error import ToolError

LONGEST = 100_000
"""Characters of arguments that are read at all."""


def arguments_of(function: Callable[..., Any]) -> type[BaseModel]:
    """A model of a method's parameters: names, types, bounds, descriptions and defaults."""
    parameters = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    fields: dict[str, Any] = {p.name: (p.annotation, ... if p.default is p.empty else p.default) for p in parameters}
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid", frozen=True), **fields)


def schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """Its JSON schema, without the titles that say nothing new."""
    schema = arguments.model_json_schema()
    schema.pop("title", None)
    for part in schema.get("properties", {}).values():
        part.pop("title", None)
    return {**schema, "additionalProperties": False}


def read_arguments(arguments: type[BaseModel], given: str | Mapping[str, object]) -> dict[str, Any]:
    """The arguments as their types, or a `ToolError` that says what is wrong with them."""
    if isinstance(given, str):
        if len(given) > LONGEST:
            raise ToolError(f"the arguments have {len(given):,} characters; {LONGEST:,} are allowed")
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            raise ToolError("the arguments are not a JSON object") from None
    if not isinstance(given, Mapping):
        raise ToolError("the arguments are not a JSON object")
    try:
        checked = arguments.model_validate(dict(given))
    except ValidationError as error:
        raise ToolError(_complaint(error, arguments)) from None
    return {name: getattr(checked, name) for name in arguments.model_fields}


def _complaint(error: ValidationError, arguments: type[BaseModel]) -> str:
    lines = []
    for one in error.errors(include_url=False, include_context=False, include_input=False)[:3]:
        where = ".".join(str(part)[:40] for part in one["loc"])
        lines.append(f"{where}: {one['msg'][:200]}" if where else one["msg"][:200])
    name = arguments.model_config.get("title") or arguments.__name__
    return f"wrong arguments ({'; '.join(lines)}); {name} takes {', '.join(arguments.model_fields)}"
