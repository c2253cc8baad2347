"""An answer's text while it is written.

    with streaming(print_piece):
        await ask(use, question, "naive")

Whoever listens gets pieces; the steps that write an answer find the stream by `current_stream`, however deep they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ragways.core.outgoing import finished, outgoing, settled


class OnText(Protocol):
    """Called with each piece of a text as it is written.

    With `restart=True` the text begins anew with this piece, and what came before is void: the first piece comes so,
    and so does that of a second try after a fault, or after a reply that could not be used.
    """

    def __call__(self, text: str, *, restart: bool = False) -> None: ...


if TYPE_CHECKING:
    from ragways.core.types import Evidence

_PARTS, _SHORT = 16, 500
"""A long block that is not finished is read again when it has grown by one part in so many."""


@runtime_checkable
class EvidenceListener(Protocol):
    """A listener that is also given what the model is shown before it writes; None where it answers from memory."""

    def shown(self, evidence: Evidence | None) -> None: ...


class OutgoingText:
    """Hands an answer on to a program that may render it: by the rule of `core/outgoing.py`, and only as far as what is
    to come cannot change what it means. Give it as `on_text` in place of the listener that it wraps.
    """

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._whole = ""
        self._sent = ""
        self._finished, self._before = 0, ""
        self._waiting = 0
        self._evidence: Sequence[str] | None = ()

    def __call__(self, text: str, *, restart: bool = False) -> None:
        if restart:
            self._whole, self._finished, self._before, self._waiting = "", 0, "", 0
        self._whole += text
        self._waiting += len(text)
        if "]:" in self._whole[self._finished :]:  # may define an address for links before it
            self._finished, self._before = 0, ""
        rest = self._whole[self._finished :]
        if self._waiting * _PARTS < len(rest) - _SHORT:
            return
        self._waiting = 0
        rest = rest[: settled(rest)]
        self._send(self._before + outgoing(rest, self._evidence))
        if "\n" in text and (end := finished(rest)):
            self._before += outgoing(rest[:end], self._evidence)
            self._finished += end

    def shown(self, evidence: Evidence | None) -> None:
        """What the model is shown, before it writes."""
        self._evidence = None if evidence is None else evidence.texts
        if isinstance(self._on_text, EvidenceListener):
            self._on_text.shown(evidence)

    def end(self) -> None:
        """Hand on what is left: the answer is whole."""
        self._send(outgoing(self._whole, self._evidence))

    def _send(self, text: str) -> None:
        if text == self._sent:
            return
        if self._sent and text.startswith(self._sent):
            self._on_text(text[len(self._sent) :])
        else:
            self._on_text(text, restart=True)
        self._sent = text


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

    def end(self, text: str, evidence: Evidence | None) -> None:
        """Take the whole answer."""
        self._show(evidence)
        self.update(text)
        if isinstance(self._on_text, OutgoingText):
            self._on_text.end()

    def reply(self, so_far: Callable[[str], str], evidence: Evidence | None) -> OnText:
        """What a model is given as `on_text` when it writes the answer from this evidence, or from memory (None).
        `so_far` finds the answer in its reply.
        """
        written = ""
        self._show(evidence)

        def on_text(text: str, *, restart: bool = False) -> None:
            nonlocal written
            written = text if restart else written + text
            self.update(so_far(written))

        return on_text

    def _show(self, evidence: Evidence | None) -> None:
        if isinstance(self._on_text, EvidenceListener):
            self._on_text.shown(evidence)


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
