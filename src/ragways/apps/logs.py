"""Logs on standard error: for people what `-v` shows, for machines a line of JSON each.

What is logged are names, counts and times, never the text of a document or of a question.
"""

from __future__ import annotations

import io
import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from ragways.core.text import printable

LogFormat = Literal["text", "json"]
BEGUN_ANEW = "(begun anew)"
"""A line between what a model wrote and what it writes in its place."""
ROOT = logging.getLogger("ragways")
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
_GLOBAL = {"-v": 0, "-vv": 0, "--verbose": 0, "--log-format": 1}
"""Options of every command, with the number of values that each takes."""


class _Text(logging.Formatter):
    """A warning as it stands; what `-v` adds has its time before it and its fields behind it."""

    def format(self, record: logging.LogRecord) -> str:
        message = printable(" ".join(record.getMessage().split()))
        if record.levelno >= logging.WARNING:
            return message
        fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
        return f"{time.strftime('%H:%M:%S', time.localtime(record.created))} {message}{printable(fields)}"


class _Json(logging.Formatter):
    """An object a line: time (UTC), level, logger, message, and the fields that were given with it."""

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        head = {"time": at, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        return json.dumps({**_fields(record), **head}, default=str)  # in ASCII: no sign of a name turns a line


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = getattr(record, "fields", {})
    return fields


class _ToStandardError(logging.Handler):
    """A handler for the standard error of the moment, which tests and programs replace."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(self.format(record) + "\n")


def set_up(verbosity: int = 0, form: LogFormat = "text") -> None:
    """Log to standard error: warnings, with 1 also what is done, with 2 or more every step."""
    handler = _ToStandardError()
    handler.setFormatter(_Json() if form == "json" else _Text())
    ROOT.handlers[:] = [handler]
    # A log for machines has the progress that a person sees on the terminal.
    ROOT.setLevel(_LEVELS[min(max(verbosity, form == "json"), 2)])


@contextmanager
def unchanged() -> Iterator[None]:
    """Restore the logging settings at the end: a command may run inside another program."""
    handlers, level = list(ROOT.handlers), ROOT.level
    try:
        yield
    finally:
        ROOT.handlers[:] = handlers
        ROOT.setLevel(level)


def as_json() -> bool:
    """Whether standard error is read by a machine: then nothing but lines of JSON may stand there."""
    return any(isinstance(handler.formatter, _Json) for handler in ROOT.handlers)


def say(text: str, level: int = logging.INFO, **fields: object) -> None:
    """A line on standard error, whatever is to be logged; where that is JSON, a line of the log with these fields."""
    flat = printable(" ".join(text.split()))
    if as_json():
        ROOT.log(level, "%s", flat, extra={"fields": fields})
    else:
        sys.stderr.write(f"ragways: {flat}\n")
        sys.stderr.flush()


class LoggedLines(io.TextIOBase):
    """A stream whose lines become log messages: whatever would be shown to a person on standard error."""

    def __init__(self, level: int = logging.INFO) -> None:
        self._level = level
        self._rest = ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if line.strip():
                ROOT.log(self._level, "%s", line.strip())
        return len(text)


def options_first(arguments: list[str]) -> list[str]:
    """Arguments with the options of every command before its name, so that they may stand anywhere before `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    first: list[str] = []
    others: list[str] = []
    at = 0
    while at < end:
        name, _, value = arguments[at].partition("=")
        taken = 1 + _GLOBAL.get(name, 0) * (not value) if name in _GLOBAL else 1
        (first if name in _GLOBAL else others).extend(arguments[at : min(at + taken, end)])
        at += taken
    return [*first, *others, *arguments[end:]]
