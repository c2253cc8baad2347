"""Several ways of answering beside each other: a few in full, many by what differs between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragways.apps.answer import way_in_words
from ragways.apps.terminal import console
from ragways.core.errors import RagwaysError
from ragways.core.text import counted, printable, shortened

if TYPE_CHECKING:
    from rich.text import Text

    from ragways.retrieval.ask import Result

SHOWN_EVIDENCE = 2
DETAILED = 3
"""Paradigms whose evidence is shown in full."""
LONGEST = 600
"""Characters of an answer where many are shown."""


def show_answers(
    results: Sequence[Result], failures: Sequence[tuple[str, RagwaysError]], *, details: bool = False
) -> None:
    """A few paradigms with their evidence; of more of them each answer once, and how they differ."""
    if details or len(results) + len(failures) <= DETAILED:
        show_results(results, [(name, str(error)) for name, error in failures])
    else:
        _show_differences(results, failures)


# Many, by what differs


def _show_differences(results: Sequence[Result], failures: Sequence[tuple[str, RagwaysError]]) -> None:
    """Each different answer once with who gave it; then a row a paradigm: its answer, its evidence, its cost."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    out = console()
    groups = _by_answer(results)
    letters = {result.paradigm: letter for letter, group in groups for result in group}
    refused = sum(result.answer.abstained for result in results)
    out.print(
        Text(f"{counted(len(groups), 'different answer')} from {counted(len(results), 'way')}, {refused} refused\n")
    )
    for letter, group in groups:
        answer = group[0].answer
        shown = Text.assemble(
            (f"{letter}  ", "bold"), (_snippet(answer.full_text, LONGEST), "yellow" * answer.abstained)
        )
        out.print(shown)
        out.print(Text(f"   {counted(len(group), 'way')}: {', '.join(result.paradigm for result in group)}\n", "dim"))
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
            named = alone[:SHOWN_EVIDENCE] or own[:1]
            which = "only here" if alone else "first"
            yield f"{len(ids)} found; {which}: {'; '.join(_snippet(title, 40) for title in named)}"


# A few, in full


def show_results(results: Sequence[Result], failures: Sequence[tuple[str, str]] = ()) -> None:
    """Paradigms side by side: a row each, with the answer, the evidence it had, and what it took."""
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(show_lines=True, expand=True)
    table.add_column("paradigm", no_wrap=True)
    table.add_column("answer", ratio=3, overflow="fold")
    table.add_column("evidence", ratio=4, overflow="fold")
    for result in results:
        table.add_row(_head(result), _answer(result), _evidence(result))
    for paradigm, why in failures:
        table.add_row(Text(paradigm, style="bold"), Text(printable(why), style="red"), Text(""))
    console().print(table)


def _head(result: Result) -> Text:
    from rich.text import Text

    usage = result.usage
    lines = [f"{result.seconds:.2f} s"]
    if usage.calls:
        lines += [counted(usage.calls, "call"), counted(usage.tokens, "token"), f"${usage.usd:.4f}"]
    return Text.assemble((result.paradigm, "bold"), "\n", ("\n".join(lines), "dim"))


def _answer(result: Result) -> Text:
    from rich.text import Text

    answer = result.answer
    way = way_in_words(answer)
    style = "yellow" if answer.abstained else ""
    return Text.assemble((printable(answer.full_text), style), "\n", (way if way else "", "dim italic"))


def _evidence(result: Result) -> Text:
    from rich.text import Text

    text = Text()
    items = result.answer.evidence.items
    cited = {citation.piece for citation in result.answer.citations}
    described = enumerate(result.answer.evidence.described(), start=1)
    shown = [(n, *each) for n, each in described if n <= SHOWN_EVIDENCE or each[0].piece.id in cited]
    for number, hit, source, duplicates in shown:
        piece = hit.piece
        date = f" ({printable(piece.date)})" if piece.date else ""
        text.append(f"[{number}] {printable(piece.title)}{date}", style="bold green" if piece.id in cited else "bold")
        text.append(f"  {hit.score:.3f}  {piece.id}\n", style="dim")
        text.append(f"{_snippet(str(source), 100)}\n" if str(source) else "", style="cyan")
        if duplicates:
            text.append(f"{duplicates} more like it {'was' if duplicates == 1 else 'were'} found\n", style="yellow")
        text.append(_snippet(piece.text, 110) + "\n")
    if len(items) > len(shown):
        text.append(f"and {len(items) - len(shown)} more\n", style="dim")
    # A search that is global in name alone must not pass for one.
    read = [str(step.details["read"]) for step in result.trace.walk() if "read" in step.details]
    text.append(f"read: {'; '.join(read)}" if read else "", style="dim")
    return text


def _snippet(text: str, limit: int) -> str:
    return printable(shortened(text, limit))
