"""Settings (.yaml, .toml) as lines `a.b: value`, with a section for each key at the top; subtitles (.srt, .vtt) as text
with times.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import yaml

from ragways.core.errors import LoadError
from ragways.core.text import normal_lines, one_line
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.source import LoadOptions, SourceFile, read_text

_MAX_DEPTH = 100
_MAX_VALUE = 5_000
_LONG = 5_000_000
"""Characters; larger YAML is read as plain text."""


def load_yaml(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    """Read as a stream of events: nothing is constructed, and an alias stays a name, so that it cannot multiply."""
    source, metadata = read_text(file, options.max_bytes)
    builder = TextBuilder(options.max_text)
    if len(source) > _LONG:
        builder.plain_text(source)
    else:
        lines = _Keyed(builder)
        try:
            for event in yaml.parse(source, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
                _event(lines, event)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f" in line {mark.line + 1}" if mark else ""
            raise LoadError(f"is not valid YAML{where}", "check that it is whole") from error
    yield builder.document(file.key, file.stem, "yaml", metadata)


def _event(lines: _Keyed, event: yaml.Event) -> None:
    line = event.start_mark.line + 1 if event.start_mark else 0
    if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
        lines.open(isinstance(event, yaml.MappingStartEvent), line)
    elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
        lines.close()
    elif isinstance(event, yaml.ScalarEvent):
        lines.scalar(event.value, line)
    elif isinstance(event, yaml.AliasEvent):
        lines.scalar(f"*{event.anchor}", line)


@dataclass(slots=True)
class _Group:
    """An open mapping or list: its path, how many values it had, and the key of a mapping whose value comes next."""

    path: str
    mapping: bool
    count: int = 0
    key: str | None = None


class _Keyed:
    """Writes values with their paths."""

    def __init__(self, builder: TextBuilder) -> None:
        self.builder = builder
        self._open: list[_Group] = []

    def _path(self, group: bool) -> str:
        """The path of the next value, which uses up its key."""
        if not self._open:
            return ""
        last = self._open[-1]
        last.count += 1
        if last.mapping:
            key, last.key = last.key, None
            return f"{last.path}.{key}" if last.path else str(key)
        return f"{last.path}[{last.count}]" if group else last.path

    def _wants_key(self) -> bool:
        return bool(self._open) and self._open[-1].mapping and self._open[-1].key is None

    def open(self, mapping: bool, line: int) -> None:
        if len(self._open) >= _MAX_DEPTH:
            raise LoadError("is nested too deep")
        if self._wants_key():
            self._open[-1].key = "?"  # a key that is itself a mapping
            path = self._open[-1].path
        else:
            path = self._path(True)
        if len(self._open) == 1 and self._open[0].mapping:
            self.builder.at(line=line)
            self.builder.titled(path, 2)
        self._open.append(_Group(one_line(path, 300), mapping))

    def close(self) -> None:
        self._open.pop()
        if len(self._open) == 1:
            self.builder.paragraph()

    def scalar(self, value: str, line: int) -> None:
        if self._wants_key():
            self._open[-1].key = one_line(value, 100) or "?"
            return
        path = self._path(False)
        self.builder.line()
        self.builder.at(line=line)
        text = one_line(value, _MAX_VALUE)
        self.builder.text(f"{path}: {text}" if path else text)


def load_toml(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    source, metadata = read_text(file, options.max_bytes)
    try:
        values = tomllib.loads(source.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise LoadError(f"is not valid TOML ({error})", "check that it is whole") from error
    builder = TextBuilder(options.max_text)
    lines = _Keyed(builder)
    _toml(lines, dict(sorted(values.items(), key=lambda pair: isinstance(pair[1], dict | list))))
    yield builder.document(file.key, file.stem, "toml", metadata)


def _toml(lines: _Keyed, value: Any) -> None:  # noqa: ANN401 - any value of TOML
    """Write a value. Line numbers are unknown: tomllib does not give them."""
    if isinstance(value, dict):
        lines.open(True, 0)
        for key, inner in value.items():
            lines.scalar(key, 0)
            _toml(lines, inner)
        lines.close()
    elif isinstance(value, list):
        lines.open(False, 0)
        for inner in value:
            _toml(lines, inner)
        lines.close()
    else:
        lines.scalar(str(value).lower() if isinstance(value, bool) else str(value), 0)


# Subtitles

_TIME = re.compile(r"\s*((?:\d{1,3}:)?\d{1,2}:\d{2})[.,]\d{1,3}\s+-->")
_STYLE = re.compile(r"<[^<>\n]{0,200}>|\{\\[^{}\n]{0,200}\}")
_SPOKEN = 400
"""Characters of speech in one paragraph, which begins with its time."""


def load_subtitles(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    source, metadata = read_text(file, options.max_bytes)
    lines = list(normal_lines(source.removeprefix("\ufeff")))
    builder = TextBuilder(options.max_text)
    size, last = _SPOKEN, ""
    for number, line in enumerate(lines):
        time = _TIME.match(line)
        if not time:
            continue
        spoken = " ".join(takewhile(str.strip, lines[number + 1 : number + 12]))
        text = " ".join(_STYLE.sub(" ", spoken).split())
        if not text or text == last:
            continue
        if size >= _SPOKEN:
            builder.paragraph()
            builder.at(line=number + 1)
            builder.text(f"[{time[1]}]")
            size = 0
        builder.text(f" {text}")
        size, last = size + len(text), text
    if builder.length == 0 and source.strip():
        raise LoadError("holds no subtitles with times", "check that it is really .srt or .vtt")
    yield builder.document(file.key, file.stem, "subtitles", metadata)
