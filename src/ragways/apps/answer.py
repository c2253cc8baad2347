"""Answers as a person or a program gets them: one with its sources, written as it comes; a few below each other; and of
many, how they differ.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from ragways.apps.logs import BEGUN_ANEW
from ragways.apps.terminal import console, write_line
from ragways.core.text import counted, printable, shortened

if TYPE_CHECKING:
    from ragways.apps.markdown import MarkdownWriter
    from ragways.core.errors import RagwaysError
    from ragways.core.types import Answer, Hit, Origin
    from ragways.retrieval.ask import Result
    from ragways.retrieval.routing.router import Decision

    Failure = tuple[str, RagwaysError]

QUOTED = 320
"""Characters of a quote."""
FEW = 3
"""Paradigms whose answers are shown in full."""
NAMED = 2
"""Titles that tell the evidence of one way from that of others."""
LONGEST = 600
"""Characters of an answer where many are shown."""


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


def show_answer(result: Result, *, written: bool = False, quiet: bool = False, details: bool = False) -> None:
    """The answer unless it is written already, its sources, and a line of what it took (not with `quiet`).

    `details`: show every passage of the evidence, with its score and its id.
    """
    from rich.text import Text

    from ragways.retrieval.answer import READ_WAY
    from ragways.retrieval.passages import shown_passages

    out = console()
    answer = result.answer
    # Without a model the passages themselves are the answer, below a short one where the reader found its very words.
    windows = shown_passages(answer) if answer.by_rule or answer.abstained else {}
    if not written and not (windows and answer.way == READ_WAY and not answer.explanation and not answer.abstained):
        show_text(answer, answer.full_text)
    sources = list(_sources(answer, windows, details=details))
    if sources:
        title = "Sources" if not windows else "Nearest passages" if answer.abstained else "From your documents"
        out.print(Text(f"\n{title}\n" if windows else f"\n{title}", "bold"))
    for number, hit, source, duplicates, quotes in sources:
        date = f" ({printable(hit.piece.date)})" if hit.piece.date else ""
        where = printable(str(source)) or hit.piece.id
        lines = [Text.assemble(f"[{number}] ", (printable(hit.piece.title) + date, "bold"), "  ", (where, "cyan"))]
        if details:
            lines.append(Text(f"    {hit.score:.3f}  {hit.piece.id}", "dim"))
        if number in windows:
            lines += [Text(f"    {printable(line, tabs=True)}") for line in windows[number].split("\n")]
        else:
            lines += [Text(f"    “{_snippet(quote, QUOTED)}”", "dim") for quote in quotes]
        if duplicates:
            lines.append(Text(f"    {duplicates} more like it {'was' if duplicates == 1 else 'were'} found", "yellow"))
        out.print(Text("\n").join([*lines, *([Text()] if number in windows else [])]), soft_wrap=True)
    if not quiet:
        line = _cost(result, len(sources))
        out.print(Text(line if windows and sources else f"\n{line}", "dim"), soft_wrap=True)
        if answer.note:
            out.print(Text(printable(answer.note), "dim"), soft_wrap=True)
        if details:
            for line in _details(result):
                out.print(Text(printable(line), "dim"), soft_wrap=True)


def show_answers(results: Sequence[Result], failures: Sequence[Failure] = (), *, details: bool = False) -> None:
    """A few answers below each other, each under the name of its paradigm; of more, each different answer once."""
    if not details and len(results) + len(failures) > FEW:
        _show_differences(results, failures)
        return
    for result in results:
        write_line(f"── {result.paradigm}", "bold")
        show_answer(result, details=details)
        write_line("")
    for name, error in failures:
        write_line(f"── {name}", "bold")
        write_line(str(error), "red")


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


def _sources(
    answer: Answer, windows: Mapping[int, str], *, details: bool
) -> Iterator[tuple[int, Hit, Origin, int, list[str]]]:
    """Number, hit, origin, near-duplicates and quotes of each passage that is cited, or shown by a window; with
    `details`, of every passage.
    """
    quotes: dict[str, dict[str, Origin]] = {}
    for citation in answer.citations:
        quotes.setdefault(citation.piece, {}).setdefault(citation.quote, citation.source)
    for number, (hit, source, duplicates) in enumerate(answer.evidence.described(), start=1):
        known = quotes.get(hit.piece.id, {})
        cited = {
            one: origin for one, origin in known.items() if not any(one in other for other in known if other != one)
        }
        if cited and not windows:
            # One sentence has lines of its own; for several, those of the whole passage.
            where = next(iter(cited.values())) if len(cited) == 1 else source
            yield number, hit, where, duplicates, list(cited)
        elif details or number in windows:
            yield number, hit, source, duplicates, list(cited) or [hit.piece.text]


def _cost(result: Result, shown: int) -> str:
    """What was done and what it took, in a line: method, seconds, passages, tokens or money, who wrote the answer."""
    usage, answer = result.usage, result.answer
    more = " (--details)" if len(answer.evidence.items) > shown else ""
    method = result.paradigm if result.route is None else f"{result.paradigm}: {result.route.arm.partition('[')[0]}"
    parts = [method, f"{result.seconds:.2f} s", counted(len(answer.evidence.items), "passage") + more]
    if usage.calls:
        parts += [counted(usage.calls, "call"), counted(usage.tokens, "token")]
        parts.append("price unknown" if usage.cost is None else f"${usage.cost:.4f}" if usage.cost else "")
    parts.append(way_in_words(answer))
    return printable(" · ".join(filter(None, parts)))


def _details(result: Result) -> Iterator[str]:
    """Yield what a curious reader may want besides: how a router decided, and how far a global search read."""
    if result.route is not None:
        yield route_in_words(result.route)
    # A search that is global in name alone must not pass for one.
    yield from (f"read: {step.details['read']}" for step in result.trace.walk() if "read" in step.details)


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
    """Who wrote an answer; of one without a model also how sure it is."""
    from ragways.retrieval.answer import READ_WAY

    words = {"rule": "extracted without a model", READ_WAY: "read without a model"}.get(answer.way, answer.way)
    # Of whole sentences nothing is said but the passages that they are from: there is nothing to have a chance.
    said = not answer.abstained and (answer.way != READ_WAY or answer.explanation)
    chance = f"chance {min(answer.chance, 0.99):.0%}" if answer.chance is not None and said else ""
    return ", ".join(filter(None, (words, chance)))


# Many, by what differs


def _show_differences(results: Sequence[Result], failures: Sequence[Failure]) -> None:
    """Each different answer once with who gave it; then a row a paradigm: its answer, its evidence, its cost."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    out = console()
    groups = _by_answer(results)
    letters = {result.paradigm: letter for letter, group in groups for result in group}
    refused = sum(result.answer.abstained for result in results)
    out.print(
        Text(f"{counted(len(groups), 'different answer')} from {counted(len(results), 'method')}, {refused} refused\n")
    )
    for letter, group in groups:
        answer = group[0].answer
        shown = Text.assemble(
            (f"{letter}  ", "bold"), (_snippet(answer.full_text, LONGEST), "yellow" * answer.abstained)
        )
        out.print(shown)
        out.print(
            Text(f"   {counted(len(group), 'method')}: {', '.join(result.paradigm for result in group)}\n", "dim")
        )
    table = RichTable(box=box.SIMPLE_HEAD, expand=True, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("paradigm", no_wrap=True)
    table.add_column("answer", justify="center", no_wrap=True)
    table.add_column("evidence", ratio=1, overflow="fold")
    for column in ("tokens", "calls", "s"):
        table.add_column(column, justify="right", no_wrap=True)
    for result, evidence in zip(results, evidence_in_words(results), strict=True):
        usage = result.usage
        costs = (f"{usage.tokens:,}", f"{usage.calls:,}", f"{result.seconds:.2f}")
        table.add_row(Text(result.paradigm, "bold"), letters[result.paradigm], Text(evidence, "dim"), *costs)
    out.print(table)
    unable: dict[tuple[str, str], list[str]] = {}
    for paradigm, error in failures:
        unable.setdefault((error.message, error.cure), []).append(paradigm)
    for (message, cure), names in unable.items():
        line = Text.assemble(("not asked: ", "bold"), ", ".join(names), "\n   ", (printable(message), "yellow"))
        out.print(line + Text(f"\n   {printable(cure)}", "dim"), soft_wrap=False)


def _by_answer(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """Results that say the same, the most frequent answer first, each with a letter; refusals last."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault("" if result.answer.abstained else _same(result.answer.full_text), []).append(result)
    ordered = sorted(groups.items(), key=lambda pair: (not pair[0], -len(pair[1])))
    return [(_letter(number), group) for number, (_, group) in enumerate(ordered)]


def _same(text: str) -> str:
    """A text as two answers are compared: which passage has which number is no difference."""
    words = (word for word in text.split() if not (word.startswith("[") and word.rstrip(".,;").endswith("]")))
    return " ".join(words).casefold()


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"A{number - 25}"


def evidence_in_words(results: Sequence[Result]) -> Iterator[str]:
    """The evidence of each in words: the same as an earlier one, or how much, and the titles that no other has."""
    titles = [
        list(dict.fromkeys(hit.piece.title or hit.piece.id for hit in result.answer.evidence.items))
        for result in results
    ]
    spread = Counter(title for own in titles for title in own)
    seen: dict[tuple[str, ...], str] = {}
    for result, own in zip(results, titles, strict=True):
        ids = tuple(hit.piece.id for hit in result.answer.evidence.items)
        earlier = seen.setdefault(ids, result.paradigm)
        if not ids:
            yield "nothing found"
        elif earlier != result.paradigm:
            yield f"the same {len(ids)} as {earlier}"
        else:
            alone = [title for title in own if spread[title] == 1]
            named = alone[:NAMED] or own[:1]
            which = "only here" if alone else "first"
            yield f"{len(ids)} found; {which}: {'; '.join(_snippet(title, 40) for title in named)}"


def _snippet(text: str, limit: int) -> str:
    return printable(shortened(text, limit))
