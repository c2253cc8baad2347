"""`ragways eval import`: answers of other systems into a run, to be scored in the same table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ragways.apps.evaluation.options import LayoutOption, QuestionsFile
from ragways.apps.options import JsonOption, printable
from ragways.core.errors import PARTLY, UsageError

SHOWN = 5
"""Answers and questions without a match that are named; all of them with --json."""


def import_answers(
    answers: Annotated[Path, typer.Argument(help="File of answers: JSON, JSON lines or CSV.")],
    questions: QuestionsFile,
    name: Annotated[str, typer.Option("--name", help="What the system is called in tables.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of a run; made where there is none.")],
    format: LayoutOption = "plain",
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of answers under that name.")] = False,
    json: JsonOption = False,
) -> None:
    """Add the answers of another system to a run. Ends with 6 where an answer belongs to no question."""
    from ragways.apps.terminal import print_json
    from ragways.evaluation.datasets import load_questions
    from ragways.evaluation.imports.given import read_given
    from ragways.evaluation.imports.importing import add, check_name, counted, to_records

    check_name(name)
    asked, given = load_questions(format, questions), read_given(answers)
    imported = to_records(given, asked, name, made={"file": answers.name})
    if not imported.records:
        raise UsageError(
            f"none of the {len(given)} answers in {answers} belongs to a question of {questions}",
            "check --questions and --format; answers name a question by its id or repeat its words",
        )
    added = add(out, imported.records, name, replace=replace)
    data = {"name": name, "run": str(out), "added": added, **counted(imported, given)}
    if json:
        print_json(data)
    else:
        _show(data)
    if imported.unmatched:
        raise typer.Exit(PARTLY)


def _show(data: dict[str, Any]) -> None:
    from ragways.apps.terminal import console

    out, err = console(), console(error=True)
    out.print(
        f"{data['name']}: {data['matched']:,} of {data['answers']:,} answers belong to {data['questions']:,} "
        f"questions; {data['added']:,} added to {printable(data['run'])}",
        markup=False,
        soft_wrap=True,
    )
    traced = {"none": "not told", "titles": "told by titles", "texts": "told by texts"}[data["evidence"]]
    said = "retrieval only, nothing was answered" if data["retrieval_only"] else f"{data['abstained']:,} abstained"
    out.print(f"evidence {traced}; {said}; {data['failed']:,} without an answer", style="dim", markup=False)
    for what, left in (("belong to no question", data["unmatched"]), ("have no answer", data["unanswered"])):
        if left:
            named = "; ".join(printable(str(one))[:60] for one in left[:SHOWN])
            more = f" and {len(left) - SHOWN:,} more" if len(left) > SHOWN else ""
            kind = "answers" if left is data["unmatched"] else "questions"
            err.print(f"{len(left):,} {kind} {what}: {named}{more}", style="yellow", markup=False, soft_wrap=True)
