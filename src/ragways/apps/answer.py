"""One answer as a person or a program gets it: first the text, written as it comes, then its sources."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

from ragways.apps.terminal import BEGUN_ANEW, console
from ragways.core.text import counted, printable, shortened

if TYPE_CHECKING:
    from ragways.apps.markdown import MarkdownWriter
    from ragways.core.types import Answer, Hit, Origin
    from ragways.retrieval.ask import Result
    from ragways.retrieval.routing.router import Decision

UNCITED = 2
"""Passages shown of an answer that cites none."""
QUOTED = 160
"""Characters of a quote."""


class AnswerWriter:
    """Writes the pieces of an answer as they come.

    Used as `on_text`. If the model begins anew, the text that was written stays, and a line marks the beginning.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self.wrote = False

    def __call__(self, text: str, *, restart: bool = False) -> None:
        if restart and self.wrote:
            self._out.write(f"\n{BEGUN_ANEW}\n")
        self.wrote = True
        self._out.write(printable(text, tabs=True))
        self._out.flush()

    def end(self) -> None:
        """End the line, if there is one."""
        if self.wrote:
            self._out.write("\n")
            self._out.flush()


class EventWriter:
    """Writes the pieces as events, a line of JSON each."""

    def __init__(self, out: TextIO, paradigm: str) -> None:
        self._out = out
        self._paradigm = paradigm

    def __call__(self, text: str, *, restart: bool = False) -> None:
        self.put("text", text=text, restart=restart)

    def put(self, event: str, **data: Any) -> None:  # noqa: ANN401 - what JSON can hold
        """Write one event with its name, its paradigm and its data."""
        line = json.dumps({"event": event, "paradigm": self._paradigm, **data}, ensure_ascii=False)
        self._out.write(line.encode("utf-8", "backslashreplace").decode() + "\n")
        self._out.flush()


def answer_writer(*, by_model: bool = False) -> AnswerWriter | MarkdownWriter:
    """A writer to standard output; on a terminal a model's Markdown is drawn."""
    if by_model and sys.stdout.isatty():
        from ragways.apps.markdown import MarkdownWriter

        return MarkdownWriter(console())
    return AnswerWriter(sys.stdout)


def show_answer(result: Result, *, written: bool, quiet: bool = False) -> None:
    """The answer unless it is written already, its sources, and a line of what it took (not with `quiet`)."""
    from rich.text import Text

    out = console()
    answer = result.answer
    if not written:
        show_text(answer, answer.full_text)
    sources = list(_sources(answer))
    if sources:
        out.print(Text("\nSources" if answer.citations else "\nNearest passages", "bold"))
    for number, hit, source, duplicates, quotes in sources:
        date = f" ({printable(hit.piece.date)})" if hit.piece.date else ""
        where = printable(str(source)) or hit.piece.id
        lines = [Text.assemble(f"[{number}] ", (printable(hit.piece.title) + date, "bold"), "  ", (where, "cyan"))]
        lines += [Text(f"    “{printable(shortened(quote, QUOTED))}”", "dim") for quote in quotes]
        if duplicates:
            lines.append(Text(f"    {duplicates} more like it {'was' if duplicates == 1 else 'were'} found", "yellow"))
        out.print(Text("\n").join(lines), soft_wrap=True)
    if not quiet:
        out.print(Text("\n" + _cost(result, len(sources)), "dim"), soft_wrap=True)
        if result.route is not None:
            out.print(Text(printable(route_in_words(result.route)), "dim"), soft_wrap=True)


def show_text(answer: Answer, text: str) -> None:
    """The answer's text: drawn on a terminal where a model wrote it; into a pipe goes the text itself."""
    from rich.text import Text

    out = console()
    if not out.is_terminal:
        out.file.write(printable(text, tabs=True) + "\n")
    elif answer.by_rule or answer.abstained:
        out.print(Text(printable(text), "yellow" if answer.abstained else ""))
    else:
        from ragways.apps.markdown import drawn

        out.print(drawn(text, len(answer.evidence.items)), crop=False)


def _sources(answer: Answer) -> Iterator[tuple[int, Hit, Origin, int, list[str]]]:
    """Number, hit, origin, near-duplicates and quotes of each passage that is cited; of the best ones where none is."""
    quotes: dict[str, dict[str, Origin]] = {}
    for citation in answer.citations:
        quotes.setdefault(citation.piece, {}).setdefault(citation.quote, citation.source)
    for number, (hit, source, duplicates) in enumerate(answer.evidence.described(), start=1):
        cited = quotes.get(hit.piece.id, {})
        if cited:
            # One sentence has lines of its own; for several, those of the whole passage.
            where = next(iter(cited.values())) if len(cited) == 1 else source
            yield number, hit, where, duplicates, list(cited)
        elif not quotes and number <= UNCITED:
            yield number, hit, source, duplicates, [hit.piece.text]


def _cost(result: Result, shown: int) -> str:
    usage, answer = result.usage, result.answer
    route = result.route
    parts = [f"{result.paradigm} took {route.arm}" if route else result.paradigm, f"{result.seconds:.2f} s"]
    if usage.calls:
        parts += [counted(usage.calls, "call"), counted(usage.tokens, "token")]
    if usage.usd:
        parts.append(f"${usage.usd:.4f}")
    parts.append(way_in_words(answer))
    if (more := len(answer.evidence.items) - shown) > 0:
        parts.append(f"{counted(more, 'more passage')} (--details)")
    # A search that is global in name alone must not pass for one.
    parts += [f"read: {step.details['read']}" for step in result.trace.walk() if "read" in step.details]
    return printable(" · ".join(filter(None, parts)))


def route_in_words(route: Decision) -> str:
    """Why the router took its way, and what the others would have cost."""
    from ragways.retrieval.routing.router import cost_in_words

    weighed = ", ".join(f"{each.feature} {each.value:.3g}" for each in route.weighed)
    others = [each for each in route.estimates if each.arm != route.arm and not each.impossible and each.cost]
    costs = ", ".join(f"{each.arm} {cost_in_words(each.cost, route.cost)}" for each in others)
    chosen = next((each for each in route.estimates if each.arm == route.arm), None)
    parts = [route.reason, f"weighed most: {weighed}" if weighed else ""]
    if chosen is not None and chosen.cost:
        parts.append(f"about {cost_in_words(chosen.cost, route.cost)}" + (f" ({costs})" if costs else ""))
    return "; ".join(filter(None, parts))


def way_in_words(answer: Answer) -> str:
    """Who wrote an answer; of one without a model also how sure it is, and what is to be known of it."""
    from ragways.retrieval.answer import READ_WAY

    words = {"rule": "extracted without a model", READ_WAY: "read without a model"}.get(answer.way, answer.way)
    chance = f"chance {min(answer.chance, 0.99):.0%}" if answer.chance is not None and not answer.abstained else ""
    return ", ".join(filter(None, (words, chance, answer.note)))
