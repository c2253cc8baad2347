"""From typed values to plain data and back: the one border between dataclasses and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")

"""What JSON can hold."""


def to_plain(value: object, *, sparse_parts: bool = False) -> Any:  # noqa: ANN401
    """A value as JSON can hold it: dataclasses and mappings as dicts, sequences and sets as lists, paths and enums as
    texts. A number that JSON has no word for (NaN, infinity) becomes None. Raises TypeError for anything else.

    `sparse_parts`: dataclasses inside the value are written without the fields that hold their defaults.
    """
    if sparse_parts and is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(getattr(value, name), _sparse) for name in _field_names(type(value))}
    return _plain(value, _whole)


def _plain(value: object, of_dataclass: Callable[[object], dict[str, Any]]) -> Any:  # noqa: ANN401, PLR0911 - a line a kind
    if isinstance(value, Enum):
        return _plain(value.value, of_dataclass)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return of_dataclass(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, of_dataclass) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, of_dataclass) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(_plain(item, of_dataclass) for item in value)
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "tolist"):  # a number or an array of numpy
        return _plain(value.tolist(), of_dataclass)
    raise TypeError(f"a {type(value).__name__} cannot be written as plain data")


def _whole(value: object) -> dict[str, Any]:
    kind: Any = type(value)
    return {name: _plain(getattr(value, name), _whole) for name in _field_names(kind)}


def _sparse(value: object) -> dict[str, Any]:
    kind: Any = type(value)
    defaults = _defaults(kind)
    items = ((name, getattr(value, name)) for name in _field_names(kind))
    return {name: _plain(item, _sparse) for name, item in items if name not in defaults or item != defaults[name]}


def from_plain(kind: type[T], data: object) -> T:
    """The value of this type that plain data stands for. Raises ValueError, in words, where it does not fit."""
    from pydantic import ValidationError

    try:
        value: T = _adapter(cast(Any, kind)).validate_python(data)
        return value
    except ValidationError as error:
        raise _in_words(error) from None


def from_json(kind: type[T], text: str) -> T:
    """The same from a text of JSON, read in one step. Raises ValueError, in words, where it does not fit."""
    from pydantic import ValidationError

    try:
        value: T = _adapter(cast(Any, kind)).validate_json(text)
        return value
    except ValidationError as error:
        if error.errors()[0]["type"] != "json_invalid":
            raise _in_words(error) from None
    # Half a letter, `\\ud83d`, is JSON to Python and not to pydantic: what was written with it must still be read.
    try:
        return from_plain(kind, json.loads(text))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _in_words(error: ValidationError) -> ValueError:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return ValueError(f"{where}: {first['msg']}" if where else str(first["msg"]))


@cache
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    """The fields that are written: those whose name begins with `_` are the object's own business."""
    return tuple(field.name for field in fields(kind) if not field.name.startswith("_"))


@cache
def _defaults(kind: type[Any]) -> dict[str, Any]:
    """The default of each field that has one."""
    found = {field.name: field.default for field in fields(kind) if field.default is not MISSING}
    made = {field.name: field.default_factory() for field in fields(kind) if field.default_factory is not MISSING}
    return found | made


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
