"""A model that follows a script: for tests, and to see a paradigm's calls without paying for them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, is_dataclass
from types import TracebackType

from ragways.core.trace import Usage
from ragways.models.call import Call, Reply
from ragways.models.limits import count_call
from ragways.models.tokens import count_text

Line = object
"""A str, a dict, a dataclass, a `Reply`, an exception to raise, or a function from a `Call` to any of these."""


class ScriptExhausted(AssertionError):
    """The model was called more often than the script has lines."""


class ScriptUnfinished(AssertionError):
    """The model was called less often than the script has lines."""


class ScriptedModel:
    """Says its lines in order. Calls side by side take the next line each, in the order they are sent.

    As a context manager, or by `close()`, it fails when lines are left over. `calls` is what it was asked.
    """

    def __init__(self, replies: Iterable[Line], *, name: str = "scripted") -> None:
        self._lines = list(replies)
        self.calls: list[Call] = []
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def base_url(self) -> str:
        return ""

    async def send(self, call: Call) -> Reply:
        self.calls.append(call)
        if len(self.calls) > len(self._lines):
            asked = call.messages[-1].content[:200] if call.messages else ""
            raise ScriptExhausted(f"the script has {len(self._lines)} lines; call {len(self.calls)} was: {asked!r}")
        return self._say(self._lines[len(self.calls) - 1], call)

    async def aclose(self) -> None:
        """Nothing to close; that the script was finished is told by `close`, where a test can see it."""

    def close(self) -> None:
        left = len(self._lines) - len(self.calls)
        if left > 0:
            raise ScriptUnfinished(f"{left} of the {len(self._lines)} lines of the script were never asked for")

    def __enter__(self) -> ScriptedModel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()

    def _say(self, line: Line, call: Call) -> Reply:
        if isinstance(line, BaseException):
            raise line
        if isinstance(line, Reply):
            return line
        if isinstance(line, str):
            usage = Usage(calls=1, input=count_call(call), output=count_text(line))
            return Reply(line, usage=usage, model=self._name)
        if callable(line):
            return self._say(line(call), call)
        data = asdict(line) if is_dataclass(line) and not isinstance(line, type) else line
        return self._say(json.dumps(data, ensure_ascii=False), call)
