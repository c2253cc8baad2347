"""JSON, JSON lines, CSV and their compressed forms as plain values, and the few kinds of value that layouts hold."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import zlib
from pathlib import Path
from typing import Any

from ragways.core.errors import UsageError

MOST_BYTES = 2 * 1024**3
MOST_CELL = 32 * 1024**2

Row = dict[str, Any]


def read_json(file: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """A list of rows, or what one JSON text holds. Lines of JSON are read as such whatever the file is called."""
    try:
        text = _text(file)
        if _name(file).endswith((".jsonl", ".ndjson")):
            return _lines(text)
        if _name(file).endswith(".csv"):
            return _table(text)
        return _json(text)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}", "name a file that is there") from error
    except RecursionError as error:
        raise UsageError(f"{file} is nested too deep", "check the file") from error
    except (ValueError, EOFError, csv.Error, zlib.error) as error:
        kind = "CSV" if _name(file).endswith(".csv") else "JSON"
        raise UsageError(f"{file} is not valid {kind}: {error}", "check the file") from error


def _name(file: Path) -> str:
    return file.name.lower().removesuffix(".gz").removesuffix(".bz2")


def _json(text: str) -> Any:  # noqa: ANN401
    try:
        return json.loads(text)
    except ValueError:
        first, _, rest = text.strip().partition("\n")
        if not rest or not first.endswith("}"):
            raise
        return _lines(text)


def _lines(text: str) -> list[Any]:
    """Lines end with a line feed and nothing else: a text inside may hold U+2028."""
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _table(text: str) -> list[Row]:
    csv.field_size_limit(MOST_CELL)
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def _text(file: Path) -> str:
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(file.suffix.lower(), open)
    with opener(file, "rb") as stream:
        data: bytes = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UsageError(f"{file} is larger than {MOST_BYTES:,} bytes", "take a part of it")
    return data.decode("utf-8-sig")


def rows(file: Path) -> list[Row]:
    """The file as a list of objects."""
    found = read_json(file)
    if isinstance(found, dict):
        found = found.get("data", found.get("questions"))
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise UsageError(f"{file} does not hold a list of questions", "check --format")
    return found


def words(value: object) -> str:
    """A text, a number or a truth as text; nothing is the empty text. Anything else does not belong here."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()  # half a surrogate pair
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    raise TypeError(f"{type(value).__name__} instead of a text")


def answers(*values: object) -> tuple[str, ...]:
    """Accepted answers, once each and none of them empty: an empty one would mean that abstaining is right."""
    flat = [part for value in values for part in (value if isinstance(value, list) else [value])]
    return tuple(dict.fromkeys(text for part in flat if (text := words(part)).strip()))
