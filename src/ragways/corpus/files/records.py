"""Records (.json, .jsonl, .ndjson, also .gz): a document a record, whose text is plain text.

Of a file that holds a record a line and was read before, only lines that have changed are parsed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.text import one_line
from ragways.core.types import Document, document_number
from ragways.corpus.builder import TextBuilder
from ragways.corpus.source import (
    Fields,
    KnownRecords,
    LoadOptions,
    Skipped,
    SourceFile,
    decode,
    opened,
    read_all,
)  # fmt: skip

_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_MOST_BROKEN = 100
"""Lines that are no JSON, of a file that is read nevertheless."""
_DEEPEST, _LONGEST = 50, 5_000
"""Levels of an object that is read field by field, and characters of a field."""
_WRAPPED = 3
"""Fields of an object that wraps a list of records, whatever they have."""
_METADATA = ("url", "author", "source", "category")

Record = dict[str, Any]


class _Row(NamedTuple):
    """A record, the how manieth of its file it is, and the number of its line (0: it has none). One that was read
    before has its `line_text` instead, and every one of a line its hash.
    """

    ordinal: int
    line: int
    record: Record
    hash: bytes = b""
    line_text: bytes = b""


def load_records(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    found = False
    unlike: tuple[str, ...] = ()
    for row, name, text in _named(file, options):
        if not name:
            unlike = unlike or tuple(row.record)[:8]
            options.notice(Skipped(f"{file.key}#{row.ordinal}", "record without a text field"))
            continue
        found = True
        builder = TextBuilder(options.max_text)
        builder.at(line=row.line)
        builder.plain_text(text)
        title = _short(_first(row.record, options.fields.title), 300) or _own_id(row.record, options.fields)
        title = title or f"{file.stem} {row.ordinal}"
        yield builder.document(f"{file.key}#{name}", title, "json", _facts(row.record, options.fields))
    if not found and unlike and not (options.records and options.records.unchanged):
        fields = ", ".join(one_line(name, 40) for name in unlike)
        raise LoadError(f"has no record with a text field (its fields: {fields})", "name the field that holds the text")


def _named(file: SourceFile, options: LoadOptions) -> Iterator[tuple[_Row, str, str]]:
    """Each record with its name, which no other of the file has, and its text. A record without a text field has no
    name; one whose text is empty is left out later, as an empty file is. Records that are known are noted as unchanged,
    and not given: unless another has taken the name, which it has instead of one of its own.
    """
    used: set[int] = set()
    fields, records = options.fields, options.records or KnownRecords()
    for row in _rows(file, options):
        known = records.known.get(row.hash)
        if known is not None:
            if known not in used:
                used.add(known)
                records.unchanged[row.hash] = known
                continue
            row = row._replace(record=_parse_line(row.line_text, row.line))  # noqa: PLW2901
        text = _text(_first(row.record, fields.text))
        if not text and not _is_blank(row.record, fields.text):
            yield row, "", ""
            continue
        plain = name = _plain_name(row, fields)
        while (number := document_number(f"{file.key}#{name}")) in used:
            name = f"{name}#{row.ordinal}"
        used.add(number)
        if name == plain and text and row.hash:
            records.new[row.hash] = number
        yield row, name, text


def _plain_name(row: _Row, fields: Fields) -> str:
    """What a record is called where no other has the name: by its id, else by its title, else by its ordinal."""
    return _own_id(row.record, fields) or _short(_first(row.record, fields.title), 300) or str(row.ordinal)


def _own_id(record: Record, fields: Fields) -> str:
    return _short(_first(record, fields.id), 300)


def _facts(record: Record, fields: Fields) -> dict[str, str]:
    facts = {key: _short(_first(record, getattr(fields, key))) for key in _METADATA}
    return {**facts, "date": iso_date(_short(_first(record, fields.date)))}


# Where records stand


def _rows(file: SourceFile, options: LoadOptions) -> Iterator[_Row]:
    """All records of a file."""
    if file.path.name.lower().endswith(_LINES) or _has_lines(file, options):
        return _lines(file, options)
    records = _records(_parse(read_all(file, options.max_bytes)), options.fields)
    return (_Row(ordinal, 0, record) for ordinal, record in enumerate(records, start=1))


def _lines(file: SourceFile, options: LoadOptions) -> Iterator[_Row]:
    """An object a line. Read one by one, so a file of any length needs the memory of one line. Broken lines are
    reported after all others; where many are, or the first, this is no file of records.
    """
    broken: list[LoadError] = []
    known = options.records.known if options.records is not None else None
    seed = hashlib.blake2b(repr(options.fields).encode(), digest_size=16)
    with opened(file) as stream:
        size = number = ordinal = 0
        while line := stream.readline(options.max_record + 1):
            number += 1
            size += len(line)
            if len(line) > options.max_record:
                raise LoadError(f"line {number} is longer than {options.max_record:,} bytes", "raise max_record")
            if size > options.max_stream:
                raise LoadError(f"unpacks to more than {options.max_stream:,} bytes", "raise max_stream")
            if not line.strip():
                continue
            ordinal += 1
            hash = b"" if known is None else _hash_of_line(seed, ordinal, number, line)
            if known and hash in known:
                yield _Row(ordinal, number, {}, hash, line)
                continue
            try:
                record = _parse_line(line, number)
            except LoadError as error:
                broken.append(error)
                if ordinal == 1 or len(broken) > _MOST_BROKEN:
                    raise
            else:
                yield _Row(ordinal, number, record, hash)
    if broken:
        more = f" and in {len(broken) - 1} more" if len(broken) > 1 else ""
        raise LoadError(f"{broken[0].message}{more}; its other records were read", broken[0].cure)


def _hash_of_line(seed: hashlib.blake2b, ordinal: int, number: int, line: bytes) -> bytes:
    """A hash of all that shapes a record's document: its line, its number, and its ordinal, which may be its name."""
    hash = seed.copy()
    hash.update(b"%d %d " % (ordinal, number))
    hash.update(line.rstrip(b"\r\n"))
    return hash.digest()


def _parse_line(line: bytes, number: int) -> Record:
    try:
        return _record(json.loads(line.decode().removeprefix("\ufeff")))
    except ValueError as error:
        raise LoadError(f"has no valid JSON in line {number} ({error})", "check that it is whole") from error


def _parse(data: bytes) -> object:
    text, _ = decode(data)
    try:
        return json.loads(text)
    except ValueError as error:
        raise LoadError(f"is not valid JSON ({error})", "check that it is whole") from error


def _has_lines(file: SourceFile, options: LoadOptions) -> bool:
    """Whether a file that is called `.json` holds an object a line, as some data sets do."""
    with opened(file) as stream:
        first, second = (stream.readline(options.max_record + 1).strip() for _ in range(2))
    try:
        return second.startswith(b"{") and isinstance(json.loads(first.decode("utf-8-sig")), dict)
    except ValueError:
        return False


def _record(value: object) -> Record:
    if isinstance(value, dict):
        return value
    return {"text": value} if isinstance(value, str) else {}


def _records(value: object, fields: Fields) -> Iterator[Record]:
    """The records of a whole JSON file, in whichever of the usual shapes they come."""
    if isinstance(value, list):
        yield from map(_record, value)
    elif isinstance(value, dict):
        if isinstance(_first(value, fields.text), str):
            yield value
            return
        inner = _only_list(value, fields)
        if inner is not None:
            yield from _records(inner, fields)
            return
        if not _has_texts(value, fields):
            yield {fields.text[0]: "\n".join(_field_lines("", value))}
            return
        for title, content in value.items():
            yield {"title": title, **content} if isinstance(content, dict) else {"title": title, "text": content}
    else:
        raise LoadError("holds neither records nor titles with texts")


def _has_texts(value: Record, fields: Fields) -> bool:
    """Whether an object holds titles with texts or records; if not, it is one thing with its fields."""
    if any(isinstance(inner, dict) and _text(_first(inner, fields.text)) for inner in value.values()):
        return True
    return all(inner in (None, "") or _text(inner) for inner in value.values())


def _field_lines(path: str, value: object, depth: int = 0) -> Iterator[str]:
    """`a.b: value`, a line each; lists of plain values in one. What is nested deeper than anybody reads is left out."""
    if isinstance(value, dict):
        if depth < _DEEPEST:
            for key, inner in value.items():
                yield from _field_lines(f"{path}.{key}" if path else key, inner, depth + 1)
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        if depth < _DEEPEST:
            for number, inner in enumerate(value, start=1):
                yield from _field_lines(f"{path}[{number}]", inner, depth + 1)
    elif value not in (None, "", []):
        plain = value if isinstance(value, list) else [value]
        values = ", ".join(str(one).lower() if isinstance(one, bool) else str(one) for one in plain)
        yield f"{one_line(path, 300)}: {one_line(values, _LONGEST)}"


def _only_list(value: Record, fields: Fields) -> object:
    """`{"docs": [...]}` and `{"metadata": {...}, "articles": {...}}` wrap the records in one value. A list without
    texts among many other fields is one of these.
    """
    lists = [inner for inner in value.values() if isinstance(inner, list) and inner and isinstance(inner[0], dict)]
    if len(lists) == 1 and (
        len(value) <= _WRAPPED or any(_text(_first(_record(one), fields.text)) for one in lists[0])
    ):
        return lists[0]
    maps = [inner for key, inner in value.items() if isinstance(inner, dict) and key not in ("metadata", "meta")]
    wrapped = len(value) <= 2 and len(maps) == 1 and all(isinstance(inner, dict) for inner in maps[0].values())
    return maps[0] if wrapped else None


# Fields


def _first(record: Record, names: tuple[str, ...]) -> object:
    for name in names:
        value = record.get(name)
        if value not in (None, "", []):
            return value
    return None


def _is_blank(record: Record, names: tuple[str, ...]) -> bool:
    """Whether the record has one of these fields, and nothing is written in it."""
    value = _first(record, names)
    return any(name in record for name in names) and (value is None or isinstance(value, str))


def _text(value: object) -> str:
    """A string, or a list of sentences or paragraphs joined with a space."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return " ".join(part.strip() for part in value if isinstance(part, str)).strip()
    return ""


def _short(value: object, limit: int = 1000) -> str:
    if isinstance(value, str):
        return one_line(value, limit)
    if isinstance(value, list):
        return one_line("; ".join(str(part)[:200] for part in value[:50] if isinstance(part, str | int)), limit)
    return str(value)[:limit] if isinstance(value, int | float) and not isinstance(value, bool) else ""
