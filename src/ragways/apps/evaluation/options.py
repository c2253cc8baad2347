"""Options that the commands of an evaluation share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FormatHelp = "Layout of the questions; `ragways eval datasets` lists them."

QuestionsOption = Annotated[Path | None, typer.Option("--questions", help="File of questions.")]
FormatOption = Annotated[str | None, typer.Option("--format", help=FormatHelp, show_default="plain")]
QuestionsFile = Annotated[Path, typer.Option("--questions", help="File of questions.")]
LayoutOption = Annotated[str, typer.Option("--format", help=FormatHelp)]
DatasetOption = Annotated[
    str | None, typer.Option("--dataset", help="A data set by name instead of files: demo, musique, hotpotqa, …")
]
DataOption = Annotated[Path | None, typer.Option("--data", help="Folder that holds data sets.")]
RunArgument = Annotated[Path, typer.Argument(help="Folder of a run.")]
BudgetOption = Annotated[float | None, typer.Option("--budget", help="USD to spend at most.", min=0)]
LimitOption = Annotated[int | None, typer.Option("--limit", help="Only the first so many questions.", min=1)]
AtOnceOption = Annotated[
    int | None,
    typer.Option("--at-once", help="Asked side by side.", min=1, show_default="as many calls as the model takes"),
]
