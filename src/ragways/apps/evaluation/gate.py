"""`ragways eval gate`: a run against what is required of it, for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def gate(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    require: Annotated[list[str] | None, typer.Option("--require", help='E.g. "accuracy>=0.8".')] = None,
    no_worse_than: Annotated[Path | None, typer.Option("--no-worse-than", help="Folder of an earlier run.")] = None,
    tolerance: Annotated[float, typer.Option("--tolerance", help="How much worse is not worse.", min=0)] = 0.0,
) -> None:
    """Exit with 1, and say why in a line, where a run misses what is required or is worse than an earlier one."""
    from ragways.core.errors import UsageError
    from ragways.evaluation.gate import Requirement, question_texts, unlike, worse
    from ragways.evaluation.record import Records
    from ragways.evaluation.score import score_run

    wanted = [Requirement.parse(text) for text in require or []]
    rows = score_run(run, *(one.required for one in wanted))
    if not rows:
        raise UsageError(f"{run} holds no record", "make some with: ragways eval run")
    misses = [miss for one in wanted for miss in one.misses(rows)]
    misses += [f"{row.paradigm}: {row.failed} answers failed" for row in rows if row.failed]
    if no_worse_than is not None:
        differ = unlike(question_texts(Records(run)), question_texts(Records(no_worse_than)))
        misses += worse(rows, score_run(no_worse_than), tolerance, unlike=differ)
    if misses:
        typer.echo(f"not passed: {'; '.join(misses)}")
        raise typer.Exit(1)
    typer.echo(f"passed: {sum(row.records for row in rows)} records of {len(rows)} paradigms")
