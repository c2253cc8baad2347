"""Plain text (.txt, .text), and records (.json, .jsonl, .ndjson, also .gz), whose texts are plain text too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.text import normal_lines, one_line
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.rst import is_rst, rst_document
from ragways.corpus.source import Fields, LoadOptions, Skipped, SourceFile, decode, opened, read_all, read_text


def load_text(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    text, metadata = read_text(file, options.max_bytes)
    if is_rst(text):
        yield rst_document(text, file, options, metadata)
        return
    builder = TextBuilder(options.max_text)
    write_plain(builder, text, line=1)
    yield builder.document(file.key, file.stem, "text", metadata)


def write_plain(builder: TextBuilder, text: str, *, line: int = 0) -> None:
    """Append plain text, paragraph by paragraph. `line` is the line of the file that it begins on; 0: not known."""
    if "\n" not in text and "\r" not in text:
        builder.paragraph()
        if line:
            builder.at(line=line)
        builder.text(text)
        return
    block: list[str] = []
    for number, row in enumerate([*normal_lines(text), ""]):
        if row.strip():
            block.append(row.strip())
        elif block:
            _write_block(builder, block, line and line + number - len(block))
            block = []


def _write_block(builder: TextBuilder, lines: list[str], first: int) -> None:
    """Long lines are paragraphs, lines of nearly equal width were wrapped, other lines (lists, verse) stay.

    `first` is the number of the first line; 0: not known.
    """
    builder.paragraph()
    width = max(map(len, lines))
    wrapped = 40 <= width <= 120 and all(len(line) >= width * 0.6 for line in lines[:-1])
    for number, line in enumerate(lines, start=first):
        if first:
            builder.at(line=number)
        if width > 200:
            builder.paragraph()
        elif wrapped:
            builder.space()
        else:
            builder.line()
        builder.text(line)


# Records

_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_METADATA = ("url", "author", "source", "category")

Record = dict[str, Any]


def load_records(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    if file.path.name.lower().endswith(_LINES) or _has_lines(file, options):
        records = _lines(file, options)
    else:
        records = ((0, record) for record in _records(_parse(read_all(file, options.max_bytes)), options.fields))
    used: set[str] = set()
    unlike: tuple[str, ...] = ()
    for ordinal, (line, record) in enumerate(records, start=1):
        text = _text(_first(record, options.fields.text))
        # A record whose text is empty is given as it is, and left out as an empty file is.
        if not text and not _is_blank(record, options.fields.text):
            unlike = unlike or tuple(record)[:8]
            options.notice(Skipped(f"{file.key}#{ordinal}", "record without a text field"))
            continue
        own = _short(_first(record, options.fields.id), 300)
        name = _unique(own or _short(_first(record, options.fields.title), 300), ordinal, used)
        if text and options.passes_over(f"{file.key}#{name}"):
            continue
        builder = TextBuilder(options.max_text)
        builder.at(line=line)
        write_plain(builder, text)
        title = _short(_first(record, options.fields.title), 300) or own or f"{file.stem} {ordinal}"
        yield builder.document(f"{file.key}#{name}", title, "json", _facts(record, options.fields))
    if not used and unlike:
        fields = ", ".join(one_line(name, 40) for name in unlike)
        raise LoadError(f"has no record with a text field (its fields: {fields})", "name the field that holds the text")


def _unique(name: str, ordinal: int, used: set[str]) -> str:
    """A name that is unique in the file: the record's own, else its ordinal."""
    name = name or str(ordinal)
    while name in used:
        name = f"{name}#{ordinal}"
    used.add(name)
    return name


def _facts(record: Record, fields: Fields) -> dict[str, str]:
    facts = {key: _short(_first(record, getattr(fields, key))) for key in _METADATA}
    return {**facts, "date": iso_date(_short(_first(record, fields.date)))}


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


def _lines(file: SourceFile, options: LoadOptions) -> Iterator[tuple[int, Record]]:
    """An object a line, with its number. Read one by one, so a file of any length needs the memory of one line."""
    with opened(file) as stream:
        size = number = 0
        while line := stream.readline(options.max_record + 1):
            number += 1
            size += len(line)
            if len(line) > options.max_record:
                raise LoadError(f"line {number} is longer than {options.max_record:,} bytes", "raise max_record")
            if size > options.max_stream:
                raise LoadError(f"unpacks to more than {options.max_stream:,} bytes", "raise max_stream")
            if not line.strip():
                continue
            try:
                value = json.loads(line.decode().removeprefix("\ufeff"))
            except ValueError as error:
                raise LoadError(f"has no valid JSON in line {number} ({error})", "check that it is whole") from error
            yield number, _record(value)


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
        inner = _only_list(value)
        if inner is not None:
            yield from _records(inner, fields)
            return
        for title, content in value.items():
            yield {"title": title, **content} if isinstance(content, dict) else {"title": title, "text": content}
    else:
        raise LoadError("holds neither records nor titles with texts")


def _only_list(value: Record) -> object:
    """`{"docs": [...]}` and `{"metadata": {...}, "articles": {...}}` wrap the records in one value."""
    lists = [inner for inner in value.values() if isinstance(inner, list) and inner and isinstance(inner[0], dict)]
    if len(lists) == 1:
        return lists[0]
    maps = [inner for key, inner in value.items() if isinstance(inner, dict) and key not in ("metadata", "meta")]
    wrapped = len(value) <= 2 and len(maps) == 1 and all(isinstance(inner, dict) for inner in maps[0].values())
    return maps[0] if wrapped else None


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
