"""An answer's text while it is written.

    with streaming(print_piece):
        await ask(use, question, "naive")

Whoever listens gets pieces; the steps that write an answer find the stream by `current_stream`, however deep they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class OnText(Protocol):
    """Called with each piece of a text as it is written.

    With `restart=True` the text begins anew with this piece, and what came before is void: the first piece comes so,
    and so does that of a second try after a fault, or after a reply that could not be used.
    """

    def __call__(self, text: str, *, restart: bool = False) -> None: ...


class AnswerStream:
    """Makes pieces of an answer's growing text. The pieces since the last restart are always the text so far."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._text = ""

    def update(self, text: str) -> None:
        """Take the answer as far as it goes: what follows what was sent is a piece, anything else begins anew."""
        if not text or text == self._text:
            return
        if self._text and text.startswith(self._text):
            self._on_text(text[len(self._text) :])
        else:
            self._on_text(text, restart=True)
        self._text = text

    def reply(self, so_far: Callable[[str], str]) -> OnText:
        """What a model is given as `on_text` when it writes the answer; `so_far` finds the answer in its reply."""
        written = ""

        def on_text(text: str, *, restart: bool = False) -> None:
            nonlocal written
            written = text if restart else written + text
            self.update(so_far(written))

        return on_text


_stream: ContextVar[AnswerStream | None] = ContextVar("ragways_stream", default=None)


@contextmanager
def streaming(on_text: OnText) -> Iterator[AnswerStream]:
    """Inside, answers are passed to `on_text` while they are written, by tasks started inside as well."""
    stream = AnswerStream(on_text)
    token = _stream.set(stream)
    try:
        yield stream
    finally:
        _stream.reset(token)


def current_stream() -> AnswerStream | None:
    """The stream that answers are written to, or None where nobody listens."""
    return _stream.get()
