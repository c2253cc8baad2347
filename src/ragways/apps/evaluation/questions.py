"""The commands that bring questions and answers: `ragways eval datasets`, `sample`, `generate` and `import`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.terminal import BudgetOption, JsonOption, LayoutOption, QuestionsFile, with_settings
from ragways.core.errors import PARTLY, BudgetExceeded, UsageError
from ragways.core.text import counted, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragways.core.runtime import ProgressCallback
    from ragways.evaluation.questions.generate import GeneratedSet
    from ragways.settings import Settings

SHOWN = 5
"""Answers and questions without a match that are named; all of them with --json."""


def datasets(json: JsonOption = False) -> None:
    """List the layouts of questions that can be read, with licence and citation."""
    from ragways.apps.terminal import print_json, show_table
    from ragways.core.table import Table
    from ragways.evaluation.datasets import DATASETS

    if json:
        print_json(
            [
                {
                    "format": dataset.name,
                    "summary": dataset.summary,
                    "licence": dataset.licence,
                    "citation": dataset.citation,
                    "corpus_with_questions": dataset.corpus is not None,
                    "tried_on_data": dataset.seen,
                }
                for dataset in DATASETS.values()
            ]
        )
        return
    rows = [
        [f"{one.name}{'¹' * (one.corpus is not None)}{'²' * (not one.seen)}", one.summary, one.licence or None,
         one.citation or None]
        for one in DATASETS.values()
    ]  # fmt: skip
    notes = ["¹ the corpus comes with the questions  ² layout as documented, not tried on the data"]
    show_table(Table.of(["format", "what", "licence", "citation"], rows, notes=notes))


def sample(
    questions: QuestionsFile,
    out: Annotated[Path, typer.Option("--out", help="Folder for questions.jsonl (plain) and corpus.jsonl.")],
    format: LayoutOption = "plain",
    per_type: Annotated[int | None, typer.Option("--per-type", help="So many of each type.", min=1)] = None,
    count: Annotated[int | None, typer.Option("--count", help="So many in all, types alike.", min=1)] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the draw.")] = 0,
    corpus: Annotated[Path | None, typer.Option("--corpus", help="File or folder to take documents from.")] = None,
    documents: Annotated[
        int | None, typer.Option("--documents", help="So many, evidence first.", min=1, show_default="only evidence")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Draw questions, equally many of each type, and write the documents with their evidence."""
    from ragways.apps.terminal import print_json
    from ragways.evaluation.sampling import write_sample

    made = write_sample(
        questions, out, format, per_type=per_type, count=count, seed=seed, corpus=corpus, fill_to=documents
    )
    if json:
        print_json(made)
    else:
        _show_sample(made)


def _show_sample(made: Mapping[str, Any]) -> None:
    from ragways.apps.terminal import console

    out, err = console(), console(error=True)
    types = ", ".join(f"{count:,} {printable(type) or 'without a type'}" for type, count in made["types"].items())
    lines = [f"{made['questions']:,} of {counted(made['of'], 'question')} (seed {made['seed']}): {types}"]
    kept = made.get("corpus")
    if kept is not None:
        lines.append(f"{kept['documents']:,} of {counted(kept['of'], 'document')}: {kept['evidence']:,} hold evidence, "
                     f"{counted(kept['filled'], 'other')}")  # fmt: skip
    lines.append(f"written: {', '.join(map(printable, made['files']))} (--format plain)")
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
    for type, had in made["short"].items():
        err.print(f"only {had:,} questions are {printable(type) or 'without a type'}", style="yellow", markup=False)
    if kept is not None and kept["gold_not_in_corpus"]:
        missing = f"{kept['gold_not_in_corpus']:,} pieces of gold evidence are in no document of the corpus"
        err.print(missing, style="yellow", markup=False)
    if made["licence"]:
        out.print(f"data: {made['licence']}; {made['citation']}", style="dim", markup=False)


@with_settings("index", "trust")
def generate(
    chosen: Settings,
    out: Annotated[Path, typer.Option("--out", help="File for the questions, JSON lines (plain).")],
    count: Annotated[int, typer.Option("--count", help="So many of each kind.", min=1, max=100_000)] = 10,
    kinds: Annotated[str, typer.Option("--kinds", help="Joined by commas.", show_default="all the index allows")] = "",
    seed: Annotated[int, typer.Option("--seed", help="Of every draw.")] = 0,
    without_model: Annotated[
        bool, typer.Option("--without-model", help="By templates, even where a model is set.")
    ] = False,
    evolutions: Annotated[
        str,
        typer.Option(
            "--evolutions",
            help="How questions on a context are made harder, joined by commas; with shares: reasoning=0.4.",
            show_default="reasoning=0.4,multi-context=0.4,comparative=0.2",
        ),
    ] = "",
    budget: BudgetOption = None,
    json: JsonOption = False,
) -> None:
    """Generate questions on the corpus, verify them, and write those that pass. Without a model, by templates."""
    from ragways.apps.terminal import print_json, progress_bar
    from ragways.evaluation.questions.generate import about_file, find_kinds, write
    from ragways.evaluation.questions.source import read_shares

    names = [name.strip() for name in kinds.split(",") if name.strip()] or None
    find_kinds(names or [])  # an unknown name is reported before anything is opened
    shares = read_shares(evolutions)
    with progress_bar(not json) as progress:
        made = asyncio.run(_generate(chosen, names, count, seed, budget, without_model, shares, progress))
    write(made, out)
    if json:
        print_json({**made.about, "files": [str(out), str(about_file(out))]})
    else:
        _show_generated(made, out)
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
    evolutions: Mapping[str, float],
    progress: ProgressCallback,
) -> GeneratedSet:
    from ragways.assemble import opened
    from ragways.evaluation.questions.generate import generate as make

    async with opened(settings) as use:
        return await make(
            use,
            kinds=names,
            count=count,
            seed=seed,
            budget=budget,
            without_model=without_model,
            evolutions=evolutions,
            progress=progress,
        )


def _show_generated(made: GeneratedSet, out: Path) -> None:
    """A row a kind: how many passed, and why the others did not."""
    from ragways.apps.terminal import console, show_table
    from ragways.core.table import Cell, Table
    from ragways.evaluation.questions.source import PASSED

    rows: list[list[Cell]] = [
        [kind, counts.get(PASSED, 0), sum(counts.values()),
         ", ".join(f"{reason} {number:,}" for reason, number in counts.items() if reason != PASSED)]
        for kind, counts in made.counts.items()
    ]  # fmt: skip
    show_table(Table.of(["kind", "passed", "of", "left out"], rows))
    screen = console()
    for note in (*made.notes, *([made.stopped] if made.stopped else [])):
        screen.print(printable(note), style="yellow", markup=False)
    by = made.model or "templates, without a model"
    count = counted(len(made.questions), "question")
    screen.print(f"{count} by {printable(by)} in {out}", markup=False, soft_wrap=True)


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
    from ragways.evaluation.importing import add, check_name, read_answers, to_records
    from ragways.evaluation.record import AnswerOrigin

    check_name(name)
    asked, given = load_questions(format, questions), read_answers(answers)
    imported = to_records(given, asked, name, made=AnswerOrigin(file=answers.name))
    if not imported.records:
        raise UsageError(
            f"none of the {len(given)} answers in {answers} belongs to a question of {questions}",
            "check --questions and --format; answers name a question by its id or repeat its words",
        )
    added, counts = add(out, imported.records, name, replace=replace), imported.counts()
    if json:
        print_json({"name": name, "run": str(out), "added": added, **counts})
    else:
        _show_import(name, str(out), added, counts)
    if imported.unmatched:
        raise typer.Exit(PARTLY)


def _show_import(name: str, run: str, added: int, counts: Mapping[str, Any]) -> None:
    from ragways.apps.terminal import console

    out, err = console(), console(error=True)
    out.print(
        f"{name}: {counts['matched']:,} of {counted(counts['answers'], 'answer')} belong to "
        f"{counted(counts['questions'], 'question')}; {added:,} added to {printable(run)}",
        markup=False,
        soft_wrap=True,
    )
    evidence = {"none": "not given", "titles": "given by titles", "texts": "given by texts"}[counts["evidence"]]
    answered = (
        "retrieval only, nothing was answered" if counts["retrieval_only"] else f"{counts['abstained']:,} abstained"
    )
    out.print(f"evidence {evidence}; {answered}; {counts['failed']:,} without an answer", style="dim", markup=False)
    for left, what in (
        (counts["unmatched"], "answers belong to no question"),
        (counts["unanswered"], "questions have no answer"),
    ):
        if left:
            named = "; ".join(printable(one)[:60] for one in left[:SHOWN])
            more = f" and {len(left) - SHOWN:,} more" if len(left) > SHOWN else ""
            err.print(f"{len(left):,} {what}: {named}{more}", style="yellow", markup=False, soft_wrap=True)
