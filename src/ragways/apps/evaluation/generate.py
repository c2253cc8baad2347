"""`ragways eval generate`: questions with answers and gold evidence, made from one's own corpus."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.evaluation.options import BudgetOption
from ragways.apps.options import IndexOption, JsonOption, SettingsOption, TrustOption, chosen_settings, printable
from ragways.core.errors import PARTLY, BudgetExceeded

if TYPE_CHECKING:
    from ragways.core.progress import ProgressCallback
    from ragways.evaluation.questions.generate import Generated
    from ragways.settings import Settings


def generate(
    out: Annotated[Path, typer.Option("--out", help="File for the questions, JSON lines (plain).")],
    count: Annotated[int, typer.Option("--count", help="So many of each kind.", min=1, max=100_000)] = 10,
    kinds: Annotated[str, typer.Option("--kinds", help="Joined by commas.", show_default="all the index allows")] = "",
    seed: Annotated[int, typer.Option("--seed", help="Of every draw.")] = 0,
    without_model: Annotated[
        bool, typer.Option("--without-model", help="By templates, even where a model is set.")
    ] = False,
    budget: BudgetOption = None,
    index: IndexOption = None,
    settings: SettingsOption = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Make questions from the corpus, verify them, and keep those that hold. Without a model, by templates."""
    from ragways.apps.terminal import print_json, progress_bar
    from ragways.evaluation.questions.kinds import find_kinds
    from ragways.evaluation.questions.write import about_file, write

    names = [name.strip() for name in kinds.split(",") if name.strip()] or None
    find_kinds(names or [])  # a name that is not known is said before anything is opened
    chosen = chosen_settings(settings, index, trust=trust)
    with progress_bar(not json) as report:
        made = asyncio.run(_generate(chosen, names, count, seed, budget, without_model, report))
    write(made, out)
    if json:
        files = [str(out), str(about_file(out))]
        print_json({**made.provenance, "questions": len(made.questions), "counts": made.counts,
                    "notes": list(made.notes), "stopped": made.stopped, "files": files})  # fmt: skip
    else:
        _show(made, out)
    if made.stopped:
        raise typer.Exit(BudgetExceeded.exit_code)
    if not made.questions:
        raise typer.Exit(PARTLY)


async def _generate(
    settings: Settings,
    names: list[str] | None,
    count: int,
    seed: int,
    budget: float | None,
    without_model: bool,
    report: ProgressCallback,
) -> Generated:
    from ragways.assemble import opened
    from ragways.evaluation.questions.generate import generate as make

    async with opened(settings) as use:
        return await make(
            use, kinds=names, count=count, seed=seed, budget=budget, without_model=without_model, report=report
        )


def _show(made: Generated, out: Path) -> None:
    """A row a kind: how many passed, and why the others did not."""
    from rich.table import Table

    from ragways.apps.terminal import console
    from ragways.evaluation.questions.reasons import PASSED

    table = Table(padding=(0, 1, 0, 0))
    for column in ("kind", "passed", "of", "left out"):
        table.add_column(column, justify="right" if column in ("passed", "of") else "left", overflow="fold")
    for kind, counts in made.counts.items():
        passed, left = counts.get(PASSED, 0), _left(counts, PASSED)
        table.add_row(kind, f"{passed:,}", f"{sum(counts.values()):,}", left)
    screen = console()
    screen.print(table)
    for note in (*made.notes, *([made.stopped] if made.stopped else [])):
        screen.print(printable(note), style="yellow", markup=False)
    by = made.provenance["model"] or "templates, without a model"
    screen.print(f"{len(made.questions):,} questions by {printable(by)} in {out}", markup=False, soft_wrap=True)


def _left(counts: dict[str, Any], passed: str) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in counts.items() if reason != passed)
