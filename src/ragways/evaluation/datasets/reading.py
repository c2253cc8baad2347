"""Files of questions as plain values, the few kinds of value that layouts hold, and the layout of one's own sets."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ragways.core.errors import UsageError
from ragways.evaluation.question import Gold, Question

MAX_BYTES = 2 * 1024**3
MAX_CELL = 32 * 1024**2

Row = dict[str, Any]
"""A row as the file holds it: what is in it is not known before a layout has read it."""
_FIELDS = ("title", "text", "key", "quote", "id", "statement")


@dataclass(frozen=True, slots=True)
class DatasetDocument:
    """A document that comes with the questions on it; `metadata` is what else the file says of it."""

    id: str
    title: str
    text: str
    metadata: Mapping[str, str] = field(default_factory=dict)


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
    before = csv.field_size_limit(MAX_CELL)  # of the whole process: a table among the documents keeps the lower one
    try:
        return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    finally:
        csv.field_size_limit(before)


def _text(file: Path) -> str:
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(file.suffix.lower(), open)
    with opener(file, "rb") as stream:
        data: bytes = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UsageError(f"{file} is larger than {MAX_BYTES:,} bytes", "take a part of it")
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


def plain_row(question: Question) -> Row:
    """A question as a line of the plain layout, with nothing left out."""
    line: Row = {
        "id": question.id,
        "question": question.text,
        "answers": list(question.answers),
        "type": question.type,
        "evidence": [{name: value for name, value in asdict(gold).items() if value} for gold in question.gold],
    }
    return line | ({"provenance": dict(question.provenance)} if question.provenance else {})


def plain_questions(file: Path) -> list[Question]:
    """A set of one's own: a line a question, `{"question", "answers", "type", "evidence": [{"title", "quote"}]}`.

    Of a piece of evidence, `key` names its document and `id` its chunk where they are known; `provenance` says what a
    generated question was made from. Nothing of a set that ragways wrote is lost in reading it. An empty answer is
    none; that a question has no answer is said by its type, `null`, or by the answer "Insufficient information".
    """
    return [plain_question(row, number) for number, row in enumerate(rows(file))]


def plain_question(row: Mapping[str, Any], number: int) -> Question:
    """A row of this layout as a question; one without an id is numbered."""
    name = row.get("id")
    provenance = row.get("provenance", {})
    return Question(
        words(number if name is None else name),
        words(row["question"]),
        answers(row.get("answers")) or answers(row.get("answer")),
        words(row.get("type")),
        tuple(map(_plain_gold, row.get("evidence") or ())),
        provenance if isinstance(provenance, Mapping) else {},
    )


def _plain_gold(evidence: object) -> Gold:
    if not isinstance(evidence, Mapping):
        return Gold(quote=str(evidence))
    return Gold(**{name: words(evidence.get(name)) for name in _FIELDS})
