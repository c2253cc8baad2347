"""The demo: index the bundled corpus, ask it a few questions in several ways."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import closing, suppress
from functools import partial
from importlib import resources
from pathlib import Path

from ragways.apps.answer import show_answers
from ragways.apps.index_views import show_summary
from ragways.apps.terminal import progress_bar, write_line
from ragways.assemble import opened, recipe_of
from ragways.core.errors import NoIndex, StoreDamaged, WrongVersion
from ragways.index.build import build, build_own
from ragways.index.recipe import Summary
from ragways.retrieval.ask import ask
from ragways.settings import Settings
from ragways.store.store import Store

QUESTIONS = ("q004", "q021", "q056", "q053", "q077")
"""One a kind: a fact in a table, two hops, a date that was moved, sources that disagree, and one without an answer."""

PARADIGMS = ("naive", "words", "fused")
LAYERS = frozenset({"vectors", "words", "graph"})
ROOT = "ragways:demo"
"""What an index remembers of where the bundled corpus lies: another copy of ragways finds it elsewhere."""


def run_demo(settings: Settings, index: Path | None) -> None:
    started = time.perf_counter()
    folder = index or settings.cache / "demo"
    chosen = settings.model_copy(update={"index": folder})
    summary = index_demo(chosen, folder, LAYERS, own=index is None)
    show_summary(summary, str(folder))
    asyncio.run(_ask(chosen, started))
    write_line(
        '\nAsk your own:       ragways ask "Who designed the Pell Rock Lighthouse?" --index '
        f"{folder}\nYour own documents: ragways index PATH, then ragways ask QUESTION"
    )


def index_demo(settings: Settings, folder: Path, layers: frozenset[str], *, own: bool = True) -> Summary:
    """Index the bundled corpus. The index in the cache is the demo's `own`; one that the user named may hold more, and
    is never made anew.
    """
    make = partial(build_own, anew=_is_of_others(folder)) if own else build
    with resources.as_file(resources.files("ragways") / "demo" / "corpus") as corpus, progress_bar() as progress:
        return asyncio.run(make(folder, [corpus], recipe_of(settings, layers), progress=progress, root=ROOT))


def _is_of_others(folder: Path) -> bool:
    """Whether the index in the cache holds anything but the bundled corpus, as an older version left it."""
    with suppress(NoIndex, WrongVersion, StoreDamaged), closing(Store.open(folder)) as store:
        return bool(store.files.roots() - {ROOT})
    return False


async def _ask(settings: Settings, started: float) -> None:
    lines = (resources.files("ragways") / "demo" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["id"]: row for row in map(json.loads, lines)}
    async with opened(settings) as use:
        for number, row in enumerate(rows[id] for id in QUESTIONS):
            results = [await ask(use, row["question"], paradigm) for paradigm in PARADIGMS]
            write_line(f"\n{row['question']}", "bold")
            write_line(f"{row['type']}; expected: {'; '.join(row['answers'][:1])}", "dim")
            show_answers(results)
            if not number:
                write_line(f"first answer {time.perf_counter() - started:.1f} s after the start", "dim")
