"""`ragways ask`, `show` and `paradigms`: questions, answers side by side, and what stands behind their evidence."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.answer import EventWriter, answer_writer, show_answer, show_answers, show_text
from ragways.apps.logs import say
from ragways.apps.terminal import JsonOption, WhereOption, console, print_json, show_table, with_index, with_settings
from ragways.core.errors import PARTLY, BudgetExceeded, ModelError, RagwaysError, UsageError
from ragways.core.plain import to_plain
from ragways.core.table import Table
from ragways.core.text import printable
from ragways.core.trace import Budget

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragways.core.stream import OnText
    from ragways.index.lookup import TextView
    from ragways.retrieval.ask import Result
    from ragways.settings import Settings

USUAL = "auto"


@with_settings("style", "index", "model")
def ask(
    chosen: Settings,
    question: Annotated[str, typer.Argument(help="What to ask; - reads it from standard input.")],
    paradigm: Annotated[
        list[str] | None,
        typer.Option("--paradigm", "-p", help="Way to answer; several times, or joined by commas, or all."),
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A paradigm's setting, e.g. k=20; all take reader=extract.")
    ] = None,
    where: WhereOption = None,
    budget: Annotated[float | None, typer.Option("--budget", help="USD to spend at most on each.", min=0)] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show the steps: inputs, outputs, time and cost.")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a picture of the walk to this file.")] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Show more of the evidence, also of more than 3 methods.")
    ] = False,
    answer_only: Annotated[
        bool, typer.Option("--answer-only", help="Print the answer's text and nothing else.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the answer and its sources, no notes and no figures.")
    ] = False,
    stream: Annotated[
        bool | None,
        typer.Option(
            help="Write the answer as it comes; with --json, a line of JSON an event.", show_default="on a terminal"
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Ask a question, in one way or in several side by side.

    With --json --stream each line is an object: `event` is `text` (a piece in `text`; with `restart` the answer begins
    anew with it), `result` (as --json prints it) or `error` (`error` and `cure`); `paradigm` names the way.
    """
    from ragways.core.stream import OutgoingText
    from ragways.retrieval.ask import check_question
    from ragways.retrieval.paradigm import parse_settings

    if quiet:
        logging.getLogger("ragways").setLevel(logging.ERROR)
    text = check_question(sys.stdin.read(100_000) if question == "-" else question)
    names, values = parse_names(paradigm or []), parse_settings(set_ or [])
    one = len(names) == 1
    if not json and not one and (answer_only or stream):
        raise UsageError("--answer-only and --stream print one answer", "name one paradigm, or add --json")
    if stream is None:
        # Without a model an answer comes as a whole, and is broken between words when it is shown.
        stream = one and not json and not answer_only and bool(chosen.model.name) and sys.stdout.isatty()
    writer = answer_writer(by_model=bool(chosen.model.name)) if stream and not json else None
    listeners = (
        {name: OutgoingText(EventWriter(sys.stdout, name)) if json else writer for name in names} if stream else {}
    )
    try:
        results, failures = asyncio.run(ask_all(chosen, text, names, values, budget, listeners, where))
    finally:
        if writer is not None:
            writer.end()
    if json:
        _print_data(text, results, failures, names, as_events=stream)
    elif answer_only:
        if writer is None:
            show_text(results[0].answer, results[0].answer.shown)
    elif one:
        show_answer(results[0], written=writer is not None, quiet=quiet, details=details)
    else:
        show_answers(results, failures, details=details)
    if results and (html is not None or (trace and not json)):
        from ragways.apps.trace_tree import show_walks
        from ragways.retrieval.ask import PARADIGMS

        walked = html is not None and any("windows" in PARADIGMS.find(result.paradigm).needs for result in results)
        vector = asyncio.run(_embedded(chosen, results[0].question)) if walked else None
        show_walks(chosen.index, results, html=html, as_text=trace and not json, question=vector)
    finish(results, failures)


async def _embedded(settings: Settings, question: str) -> NDArray[np.float32]:
    """The vector of a question, for its place on the map of windows."""
    from ragways.assemble import opened

    async with opened(settings) as use:
        return await use.embed_question(question)


def finish(results: Sequence[Result], failures: Sequence[tuple[str, RagwaysError]]) -> None:
    """Report answers that failed, and end with the exit code for them.

    A reached budget comes first, then a failed model. If only some of several ways could answer, the work is done in
    part.
    """
    from ragways.models.client import RULE_INSTEAD, RULE_OVER_BUDGET

    for result in results:
        if result.answer.error:
            say(f"{result.paradigm}: answered without the model: {result.answer.error}", logging.WARNING)
    if failures and not results:
        raise typer.Exit(failures[0][1].exit_code)
    ways = {result.answer.way for result in results if result.answer.error}
    if RULE_OVER_BUDGET in ways or any(isinstance(error, BudgetExceeded) for _, error in failures):
        raise typer.Exit(BudgetExceeded.exit_code)
    if ways - {RULE_INSTEAD}:
        raise typer.Exit(ModelError.exit_code)
    if ways or failures:
        raise typer.Exit(PARTLY)


@with_settings("index")
def show(
    chosen: Settings,
    id: Annotated[
        str,
        typer.Argument(help="Id of a document or of a part, as evidence shows it; or a document's key, file or title."),
    ],
    json: JsonOption = False,
) -> None:
    """Show a document, or a part of it in its place."""
    from ragways.index.lookup import TextView, look_up
    from ragways.index.open import Index

    with closing(Index.open(chosen.index)) as opened:
        view = look_up(opened, id)
    if json:
        print_json(to_plain(view))
    elif isinstance(view, TextView):
        _show_text(view)
    else:
        _show_facts(to_plain(view))


def paradigms(json: JsonOption = False) -> None:
    """List the methods of answering, with their settings."""
    from ragways.retrieval.ask import PARADIGMS

    if json:
        fields = ("name", "summary", "source", "settings")
        listed = [{name: getattr(p, name) for name in fields} | {"needs": sorted(p.needs)} for p in PARADIGMS.values()]
        print_json(listed)
        return
    rows = []
    for p in PARADIGMS.values():
        needs = f"needs {', '.join(sorted(p.needs))}" if p.needs else "needs no layer"
        settings = ", ".join(f"{name}={value}" for name, value in p.settings.items())
        rows.append((p.name, f"{p.summary}\n{needs}; source {p.source}; {settings}"))
    show_table(Table.of(("paradigm", "what it does, what it needs, its settings"), rows), compact=True)


# Names and settings as the command line gives them


def parse_names(given: Sequence[str]) -> list[str]:
    """Paradigms by name, several at once joined by commas; `all` is all of them."""
    from ragways.retrieval.ask import PARADIGMS

    names = [name.strip() for value in given for name in value.split(",") if name.strip()]
    chosen = [PARADIGMS.find(name).name for name in dict.fromkeys(names or [USUAL]) if name != "all"]
    return list(PARADIGMS) if "all" in names else chosen


def settings_of(name: str, names: Sequence[str], settings: Settings, values: Mapping[str, str]) -> dict[str, Any]:
    """The file's settings of a paradigm, then the command's. One setting may concern only some of several paradigms."""
    from ragways.retrieval.ask import PARADIGMS

    paradigm = PARADIGMS.find(name)
    for other in settings.paradigms:
        PARADIGMS.find(other)  # a table for a paradigm that is not there is a slip
    known = {key for each in names for key in PARADIGMS.find(each).settings}
    own = {key: value for key, value in values.items() if key in paradigm.settings or key not in known}
    return paradigm.check({**settings.paradigms.get(name, {}), **own})


async def ask_all(
    settings: Settings,
    question: str,
    names: Sequence[str],
    values: Mapping[str, str],
    budget: float | None,
    listeners: Mapping[str, OnText | None] | None = None,
    where: str | None = None,
) -> tuple[list[Result], list[tuple[str, RagwaysError]]]:
    """Answers, and the errors of paradigms that could not answer. Each listener gets its answer as it is written."""
    from ragways.assemble import opened
    from ragways.retrieval.ask import ask as ask_one

    chosen = {name: settings_of(name, names, settings, values) for name in names}
    results: list[Result] = []
    failures: list[tuple[str, RagwaysError]] = []
    async with opened(settings) as whole:
        use = whole.only(where)
        for name in names:
            try:
                on_text = (listeners or {}).get(name)
                spend = Budget(usd=budget)
                results.append(await ask_one(use, question, name, chosen[name], budget=spend, on_text=on_text))
            except RagwaysError as error:
                if len(names) == 1:
                    raise
                error.cure = with_index(error.cure)
                failures.append((name, error))
    return results, failures


# Answers as a program and a person see them


def _print_data(
    question: str,
    results: Sequence[Result],
    failures: Sequence[tuple[str, RagwaysError]],
    names: Sequence[str],
    *,
    as_events: bool,
) -> None:
    """All that is known of the answers, as JSON; as events, those of the ends."""
    from ragways.retrieval.as_plain import result_data

    data: list[dict[str, Any]] = [result_data(result) for result in results]
    failed = [{"question": question, "paradigm": name, "error": e.message, "cure": e.cure} for name, e in failures]
    if not as_events:
        print_json(data[0] if len(names) == 1 else data + failed)
        return
    for event, ends in (("result", data), ("error", failed)):
        for each in ends:
            EventWriter(sys.stdout, each.pop("paradigm")).put(event, **each)


# What an id names


def _show_text(view: TextView) -> None:
    """Print a part of a document in its place; without colours, between marks."""
    from rich.text import Text

    out = console()
    left, right = ("", "") if out.color_system else ("⟦", "⟧")
    whole = not view.before and not view.after
    text = Text.assemble((printable(view.title), "bold"), f"  {printable(str(view.source))}\n\n")
    text.append(printable(view.before), style="dim")
    text.append(printable(view.markdown) if whole else f"{left}{printable(view.markdown)}{right}")
    text.append(printable(view.after), style="dim")
    # A program that reads a pipe gets lines as they are; lines of code broken at 80 columns would be other code.
    out.print(text, soft_wrap=not out.is_terminal)


def _show_facts(data: dict[str, Any]) -> None:
    from rich.text import Text

    out = console()
    out.print(Text.assemble((printable(data["title"]), "bold"), f"  {data['id']}\n"))
    for name, value in data.items():
        if name in ("id", "title") or value in ("", [], {}, None):
            continue
        lines = (
            [f"{key}  {text}" for key, text in value.items()] if isinstance(value, dict)
            else value if isinstance(value, list) else [str(value)]
        )  # fmt: skip
        body = printable("\n".join(" ".join(line.split()) for line in lines))
        out.print(Text.assemble((f"{name}\n" if len(lines) > 1 else f"{name}: ", "bold"), body), soft_wrap=True)
