"""`ragways watch`: the index follows its folders, until it is stopped."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import JsonOption, LayersOption, layer_names, with_settings, write_line
from ragways.core.errors import RagwaysError
from ragways.core.plain import to_plain
from ragways.core.trace import Budget, spending

if TYPE_CHECKING:
    from ragways.index.recipe import Recipe, Summary
    from ragways.settings import Settings

Sleep = Callable[[float], Awaitable[None]]
State = dict[str, tuple[int, int]]
"""Size and time of every file that would be read, by its path."""


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
    from ragways.layers.table import check_layers

    recipe = recipe_of(chosen, check_layers(layer_names(layers)))
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
    from ragways.apps.index_views import show_summary

    if isinstance(outcome, RagwaysError):
        write_line(f"not indexed: {outcome}", "yellow", error=True)
    else:
        show_summary(outcome, time.strftime("%H:%M:%S"))


def _as_json(outcome: Summary | RagwaysError) -> None:
    """A line for each run, so that a program can follow."""
    failed = isinstance(outcome, RagwaysError)
    data = {"error": outcome.message, "cure": outcome.cure} if isinstance(outcome, RagwaysError) else to_plain(outcome)
    line = json.dumps({"event": "error" if failed else "indexed", **data}, ensure_ascii=False)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
