"""Options that the commands of an evaluation share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FormatHelp = "Layout of the questions; `ragways eval datasets` lists them."

QuestionsOption = Annotated[Path, typer.Option("--questions", help="File of questions.")]
FormatOption = Annotated[str, typer.Option("--format", help=FormatHelp)]
RunArgument = Annotated[Path, typer.Argument(help="Folder of a run.")]
BudgetOption = Annotated[float | None, typer.Option("--budget", help="USD to spend at most.", min=0)]
LimitOption = Annotated[int | None, typer.Option("--limit", help="Only the first so many questions.", min=1)]
AtOnceOption = Annotated[
    int | None,
    typer.Option("--at-once", help="Asked side by side.", min=1, show_default="as many calls as the model takes"),
]
