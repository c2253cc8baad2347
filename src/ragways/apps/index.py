"""Commands that make an index and look at it: index, watch, status, remove, check and diagnose."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.index_views import show_diagnosis, show_erasure, show_health, show_plan, show_status, show_summary
from ragways.apps.logs import ROOT
from ragways.apps.terminal import (
    JsonOption,
    LayersOption,
    layer_names,
    print_json,
    progress_bar,
    with_settings,
    write_line,
)
from ragways.core.errors import PARTLY, RagwaysError, UsageError
from ragways.core.plain import to_plain
from ragways.core.text import printable
from ragways.core.trace import Budget, spending

if TYPE_CHECKING:
    from ragways.index.recipe import Recipe, Summary
    from ragways.settings import Settings

Sleep = Callable[[float], Awaitable[None]]
State = dict[str, tuple[int, int]]
"""Size and time of every file that would be read, by its path."""

UNFIT = 3
"""Exit code of a check that found errors."""
OVERSPENT = 5
"""Exit code of a run that its budget stopped."""

EraseOption = Annotated[
    bool,
    typer.Option("--erase", help="Leave no byte of documents that go, and look for them in every file of the index."),
]


@with_settings("index", "include", "exclude", "no_gitignore", "engine", "address", "model", copy=False)
def index(
    chosen: Settings,
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files and folders to index.", metavar="PATH…", show_default=False)
    ] = None,
    layers: LayersOption = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be done and what it would cost.")] = False,
    budget: Annotated[float | None, typer.Option("--budget", help="USD to spend at most.", min=0)] = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Forget the index that is there and start anew.")] = False,
    url: Annotated[
        list[str] | None, typer.Option("--url", help="Fetch this page and those below it, or a sitemap (.xml).")
    ] = None,
    depth: Annotated[int, typer.Option("--depth", help="Links to follow from a --url.", min=0)] = 3,
    max_pages: Annotated[int, typer.Option("--max-pages", help="Pages to fetch for each --url.", min=1)] = 500,
    allow_private: Annotated[
        list[str] | None,
        typer.Option("--allow-private", help="Host of a --url that may be on this machine or in its network."),
    ] = None,
    fresh_lexicon: Annotated[
        bool, typer.Option("--fresh-lexicon", help="Make the lexicon anew, and read all documents by it.")
    ] = False,
    fresh_communities: Annotated[
        bool, typer.Option("--fresh-communities", help="Find communities anew, instead of bringing them up to date.")
    ] = False,
    erase: EraseOption = False,
    json: JsonOption = False,
) -> None:
    """Index files and folders, or bring an index up to date with them."""
    from ragways.assemble import IndexOptions, index_files, plan_files
    from ragways.cloud.objects import url_of
    from ragways.corpus.source import WebSource

    if not paths and not url:
        raise UsageError("nothing to index is named", "give files, folders, or a --url")
    web = WebSource(tuple(url), depth, max_pages, allow_private=frozenset(allow_private or ())) if url else None
    fresh = {"lexicon": fresh_lexicon, "communities": fresh_communities}
    with progress_bar(not json) as progress:
        wanted = IndexOptions(
            paths or [],
            layers=layer_names(layers),
            web=web,
            settings=chosen,
            budget=budget,
            rebuild=rebuild,
            fresh=[name for name, given in fresh.items() if given],
            erase=erase,
            progress=progress,
        )
        if plan:
            planned = asyncio.run(plan_files(wanted))
        else:
            summary = asyncio.run(index_files(wanted))
    name = url_of(chosen.index) or str(chosen.index)
    if plan and json:
        print_json({"index": name, "documents": planned.documents, **to_plain(planned)})
    elif plan:
        show_plan(planned, name)
    else:
        _end(summary, name, json)


def _end(summary: Summary, name: str, json: bool) -> None:
    for stage, seconds in summary.seconds.items():
        ROOT.info("%s", stage, extra={"fields": {"seconds": round(seconds, 3)}})
    if json:
        print_json({"index": name, **_summary_data(summary)})
    else:
        show_summary(summary, name)
    if summary.stopped:
        raise typer.Exit(OVERSPENT)
    if summary.failed or summary.undone or summary.unerased:
        raise typer.Exit(PARTLY)


def _summary_data(summary: Summary) -> dict[str, Any]:
    from ragways.retrieval.as_plain import usage_data

    data: dict[str, Any] = {**to_plain(summary), "usage": usage_data(summary.usage)}
    if summary.erasure is not None:
        data["erasure"]["erased"] = summary.erasure.erased
    return {**data, "seconds": {stage: round(seconds, 3) for stage, seconds in summary.seconds.items()}}


def _readable(chosen: Settings) -> tuple[Path, str]:
    """The folder to read of the index, and the name that its user knows it by."""
    from ragways.cloud.copies import readable
    from ragways.cloud.objects import url_of

    return readable(chosen.index, chosen.cache), url_of(chosen.index) or str(chosen.index)


@with_settings("index", copy=False)
def status(
    chosen: Settings,
    documents: Annotated[bool, typer.Option("--documents", help="List the documents.")] = False,
    json: JsonOption = False,
) -> None:
    """Show what an index holds."""
    from ragways.index.status import index_status

    folder, name = _readable(chosen)
    status = replace(index_status(folder, documents=documents), index=name)
    if json:
        data = {**to_plain(status), "waiting": status.waiting}
        if not documents:
            del data["documents"]
        print_json(data)
    else:
        show_status(status)


@with_settings("index", copy=False)
def remove(
    chosen: Settings,
    names: Annotated[list[str], typer.Argument(help="Keys, ids or titles of documents.", metavar="NAME…")],
    erase: EraseOption = False,
    json: JsonOption = False,
) -> None:
    """Remove documents from an index, with everything that was made of their text.

    An index mirrors its folders: a file that is still there comes back when its folder is indexed again.
    """
    from ragways.cloud.copies import written
    from ragways.index.build import remove as remove_documents

    with written(chosen.index, chosen.cache) as place:
        place.summary = summary = asyncio.run(remove_documents(place.folder, names, erase))
    if json:
        print_json({"index": place.name, **_summary_data(summary)})
    else:
        typer.echo(printable(f"{place.name}: {summary.removed} removed"))
        if summary.erasure is not None:
            show_erasure(summary.erasure)
    if summary.unerased:
        raise typer.Exit(PARTLY)


@with_settings("index", copy=False)
def check(chosen: Settings, json: JsonOption = False) -> None:
    """Check that an index is sound. Exit code 3 where it is not fit to be asked."""
    from ragways.index.check import check as look

    folder, name = _readable(chosen)
    health = look(folder)
    if json:
        findings = to_plain(health.findings)
        print_json({"index": name, "fit": health.fit, "findings": findings, "figures": health.figures})
    else:
        show_health(name, health)
    if not health.fit:
        raise typer.Exit(UNFIT)


@with_settings("index", copy=False)
def diagnose(
    chosen: Settings,
    out: Annotated[Path | None, typer.Option("--out", help="Write the figures to this file too, as JSON.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the samples that a large corpus is measured by.", min=0)] = 0,
    json: JsonOption = False,
) -> None:
    """Measure what kind of corpus an index holds: its texts, its graph's structure, and how its vectors lie."""
    from ragways.index.diagnosis import diagnose as measure
    from ragways.index.diagnosis import save
    from ragways.index.export import write_json
    from ragways.index.open import Index

    folder, name = _readable(chosen)
    with closing(Index.open(folder)) as opened:
        diagnosis = measure(opened, seed=seed)
    saved = save(folder, diagnosis)
    data = {"index": name, "saved": str(saved) if saved else "", **to_plain(diagnosis)}
    if out is not None:
        write_json(out, data)
    if json:
        print_json(data)
    else:
        show_diagnosis(diagnosis, saved)


# Following folders


@with_settings("index", "include", "exclude", "no_gitignore", "trust", copy=False)
def watch(
    chosen: Settings,
    paths: Annotated[list[Path], typer.Argument(help="Files and folders to follow.", metavar="PATH…")],
    layers: LayersOption = None,
    every: Annotated[float, typer.Option("--every", help="Seconds between two looks at the files.", min=0.1)] = 2.0,
    budget: Annotated[float | None, typer.Option("--budget", help="USD to spend at most in all.", min=0)] = None,
    as_json: JsonOption = False,
) -> None:
    """Index files and folders, and again whenever they change, until it is stopped (Ctrl-C, SIGTERM)."""
    from ragways.assemble import recipe_of
    from ragways.cloud.copies import no_url

    recipe = recipe_of(chosen, layer_names(layers))
    report = _as_json if as_json else _as_text
    try:
        with spending(Budget(usd=budget)):
            asyncio.run(
                _until_stopped(follow(no_url(chosen.index, "ragways watch"), paths, recipe, report, every=every))
            )
    except (KeyboardInterrupt, asyncio.CancelledError):
        write_line("stopped; the index has what was read last", "dim", error=True)


async def _until_stopped(work: Coroutine[None, None, None]) -> None:
    """SIGTERM, by which a service is stopped, ends it as Ctrl-C does; documents that were stored stay."""
    task = asyncio.ensure_future(work)
    with suppress(NotImplementedError):  # Windows has no such handlers
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await task


async def follow(
    folder: Path,
    paths: Sequence[Path],
    recipe: Recipe,
    report: Callable[[Summary | RagwaysError], None],
    *,
    every: float,
    sleep: Sleep = asyncio.sleep,
) -> None:
    """Build the index, and again when files have changed and then stayed as they are from one look to the next.

    `report` gets what each run did, or its error. A run that failed is tried again at the next look, because another
    process may have been writing the index. An error of the first run is raised. Ends when a budget is spent.
    """
    from ragways.index.build import build

    indexed: State | None = None  # what the last run saw
    before: State = {}
    complaint = ""
    while True:
        try:
            now = files(paths, recipe)
            if indexed is None or (now != indexed and now == before):
                summary = await build(folder, paths, recipe)
                indexed, complaint = now, ""
                report(summary)
                if summary.stopped:
                    return
            before = now
        except RagwaysError as error:
            if indexed is None:
                raise
            if str(error) != complaint:
                report(error)
            complaint = str(error)
        await sleep(every)


def files(paths: Sequence[Path], recipe: Recipe) -> State:
    """What would be read, with size and time, by which a run notices changes."""
    from ragways.corpus.load import walk
    from ragways.corpus.source import Skipped

    state: State = {}
    for entry in walk(paths, recipe.options, selection=recipe.selection):
        if not isinstance(entry, Skipped):
            try:
                known = entry.path.stat()
            except OSError:
                continue  # gone since it was listed
            state[str(entry.path)] = known.st_size, known.st_mtime_ns
    return state


def _as_text(outcome: Summary | RagwaysError) -> None:
    if isinstance(outcome, RagwaysError):
        write_line(f"not indexed: {outcome}", "yellow", error=True)
    else:
        show_summary(outcome, time.strftime("%H:%M:%S"))


def _as_json(outcome: Summary | RagwaysError) -> None:
    """A line for each run, so that a program can follow."""
    failed = isinstance(outcome, RagwaysError)
    data = {"error": outcome.message, "cure": outcome.cure} if isinstance(outcome, RagwaysError) else to_plain(outcome)
    line = dumps({"event": "error" if failed else "indexed", **data}, ensure_ascii=False)
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
