"""From typed values to plain data and back: the one border between dataclasses and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")

Plain = dict[str, Any] | list[Any] | str | int | float | bool | None
"""What JSON can hold."""


def to_plain(value: object) -> Any:  # noqa: ANN401, PLR0911 - the shape follows the value's, a line a kind
    """A value as JSON can hold it: dataclasses and mappings as dicts, sequences and sets as lists, paths and enums as
    texts. A number that JSON has no word for (NaN, infinity) becomes None. Raises TypeError for anything else.
    """
    if isinstance(value, Enum):
        return to_plain(value.value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {name: to_plain(getattr(value, name)) for name in _field_names(type(value))}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(to_plain(item) for item in value)
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "tolist"):  # a number or an array of numpy
        return to_plain(value.tolist())
    raise TypeError(f"a {type(value).__name__} cannot be written as plain data")


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
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
