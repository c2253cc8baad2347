"""An answer of a model in a terminal: its Markdown drawn by rich, whole or as it is written.

Links show their address and code stands as the model wrote it, from the first column on, so that it can be copied. A
block that cites no passage says so. What goes into a pipe or a file is the text itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.live import Live
from rich.markdown import CodeBlock, Markdown, MarkdownElement
from rich.text import Text

from ragways.apps.logs import BEGUN_ANEW
from ragways.core.markdown import blocks, outermost, tokens_of
from ragways.core.outgoing import finished
from ragways.core.text import printable

if TYPE_CHECKING:
    from markdown_it.token import Token
    from rich.console import Console, ConsoleOptions, RenderResult

    from ragways.core.types import Evidence

UNCITED = "(cites no passage)"

_REFRESH = 12
"""Drawings in a second of what is being written."""
_WAITING = 1
"""Finished blocks at the end that are drawn anew: only the blocks after one tell whether it is cited."""


class _Code(CodeBlock):
    """Code without a frame, and without blanks before or after its lines."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(str(self.text).rstrip("\n"), style="cyan", no_wrap=True, overflow="ignore")


class AnswerMarkdown(Markdown):
    """Parsed Markdown as a rich renderable."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "fence": _Code, "code_block": _Code}

    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = list(tokens)


def drawn(text: str, shown: int, *, first: int = 0, last: int | None = None) -> AnswerMarkdown:
    """An answer to which `shown` passages were given, or its outermost blocks from `first` to before `last`."""
    tokens = tokens_of(printable(text, tabs=True), shown)
    parts = outermost(tokens)[first:last]
    lacking = {id(block.token) for block in blocks(tokens) if not block.cited} if shown else set()
    return AnswerMarkdown([token for start, end in parts for token in _shown(tokens[start:end], lacking)])


def _shown(tokens: Sequence[Token], lacking: set[int]) -> list[Token]:
    """Tokens that rich knows: citations and bare addresses are text, as are the marks of what is not cited."""
    made: list[Token] = []
    in_line = below = False
    for token in tokens:
        if id(token) in lacking:
            in_line = token.type in ("paragraph_open", "list_item_open")
            below = not in_line
        if token.type == "inline":
            token.children = _inline(token.children or [])
            if in_line:
                token.children.append(_text(f"  {UNCITED}"))
                in_line = False
        made.append(token)
        if below and token.type in ("fence", "code_block", "table_close"):
            made += tokens_of(UNCITED)
            below = False
    return made


def _inline(children: Sequence[Token]) -> list[Token]:
    made: list[Token] = []
    for child in children:
        if child.type in ("cite", "address"):
            made.append(_text(child.content))
        elif child.type == "image":
            made += _inline(child.children or [])
        elif child.info != "auto":  # an address in angle brackets is its own text
            made.append(child)
    return made


def _text(content: str) -> Token:
    from markdown_it.token import Token

    token = Token("text", "", 0)
    token.content = content
    return token


class MarkdownWriter:
    """Draws an answer on a terminal as it is written. Used as `on_text`.

    What is finished stays above; the last blocks are drawn anew with each piece. Where the model begins anew, a line
    says so, and what follows counts.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._whole = ""
        self._drawn = 0
        self._passages = 0
        self.wrote = False

    def shown(self, evidence: Evidence | None) -> None:
        """What the model is shown: without any passage, no block lacks a citation."""
        self._passages = 0 if evidence is None else len(evidence.items)

    def __call__(self, text: str, *, restart: bool = False) -> None:
        if restart and self.wrote:
            self._finish()
            self._console.print(BEGUN_ANEW, style="dim")
        self._whole = text if restart else self._whole + text
        self.wrote = True
        if self._live is None:
            self._live = Live(
                console=self._console, get_renderable=self._growing, refresh_per_second=_REFRESH, transient=True
            )
            self._live.start(refresh=True)
        if "\n" in text:
            self._leave_finished()

    def end(self) -> None:
        """Draw what is left."""
        if self.wrote:
            self._finish()

    def _growing(self) -> AnswerMarkdown:
        """What may still change, without marks of what is not cited."""
        return drawn(self._whole, 0, first=self._drawn)

    def _leave_finished(self) -> None:
        text = printable(self._whole, tabs=True)
        before, final = self._drawn, len(outermost(tokens_of(text[: finished(text)]))) - _WAITING
        if final > before:
            self._drawn = final  # first, as another thread draws the rest
            self._console.print(drawn(self._whole, self._passages, first=before, last=final), crop=False)
            self._console.print()

    def _finish(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
        self._console.print(drawn(self._whole, self._passages, first=self._drawn), crop=False)
        self._whole, self._drawn = "", 0
