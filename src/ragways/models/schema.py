"""The type of a reply as a JSON schema, and a reply checked against it. Made once a type, because both are slow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")


_adapters: dict[object, TypeAdapter[object]] = {}
_schemas: dict[object, Mapping[str, object]] = {}


def _adapter(kind: type[object]) -> TypeAdapter[object]:
    if kind not in _adapters:
        from pydantic import TypeAdapter

        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def schema_of(kind: type[object]) -> Mapping[str, object]:
    """The schema to send: every field asked for, nothing besides, which is what strict endpoints demand.

    Types inside go by their title, which is the name of the class unless `__pydantic_config__` gives another: so a
    class can be renamed and the keys of kept replies stay.
    """
    if kind not in _schemas:
        schema = _adapter(kind).json_schema()
        titles = {name: part.get("title", name) for name, part in schema.get("$defs", {}).items()}
        if titles:
            schema["$defs"] = {titles[name]: part for name, part in schema["$defs"].items()}
        _schemas[kind] = cast(Mapping[str, object], _strict(schema, titles))
    return _schemas[kind]


def fits(kind: type[T], value: object) -> T:
    """The value as its type; ValueError with a complaint that a model can act on."""
    from pydantic import ValidationError

    try:
        return cast(T, _adapter(kind).validate_python(value))
    except ValidationError as error:
        raise ValueError(_complaint(error)) from None


def _complaint(error: ValidationError) -> str:
    lines = [
        f"{'.'.join(str(part) for part in one['loc']) or 'reply'}: {one['msg']}"
        for one in error.errors(include_url=False, include_context=False, include_input=False)[:5]
    ]
    more = error.error_count() - len(lines)
    return "; ".join(lines) + (f"; and {more} more" if more > 0 else "")


def _strict(schema: object, titles: Mapping[str, str]) -> object:
    if isinstance(schema, list):
        return [_strict(part, titles) for part in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: _strict(part, titles) for key, part in schema.items() if key not in ("title", "default")}
    if isinstance(schema.get("$ref"), str):
        path, _, name = schema["$ref"].rpartition("/")
        out["$ref"] = f"{path}/{titles.get(name, name)}"
    properties = schema.get("properties")
    if isinstance(properties, dict):
        out["properties"] = {name: _strict(part, titles) for name, part in properties.items()}
        out["required"] = list(properties)
        out["additionalProperties"] = False
    return out


def is_strict(schema: object) -> bool:
    """Whether no object in it takes names of its own choice, which strict mode does not allow."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return False
    return all(is_strict(part) for part in schema.values())
