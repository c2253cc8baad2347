"""`ragways eval report`: everything that is known of runs, as a page, as Markdown, as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragways.apps.options import JsonOption
from ragways.core.text import printable


def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs; of several, paradigms are told apart by run.")],
    html: Annotated[Path | None, typer.Option("--html", help="Write a page to this file.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write Markdown to this file.")] = None,
    baseline: Annotated[
        str, typer.Option("--baseline", help="Compare all with this one.", show_default="every pair")
    ] = "",
    json: JsonOption = False,
) -> None:
    """Report on runs: figures, comparisons, costs, duels, and every question with all its answers."""
    from ragways.evaluation.report.data import evaluation_report
    from ragways.evaluation.report.markdown import markdown as as_markdown
    from ragways.pictures.shell import write_page

    found = evaluation_report(runs, baseline=baseline)
    written = f"{len(found.questions):,} questions, {len(found.paradigms):,} paradigms"
    if html is not None:
        from ragways.pictures.report import report_page

        write_page(html, report_page(found.to_plain()))
        typer.echo(f"wrote {html}: {written}", err=json)
    if markdown is not None:
        write_page(markdown, as_markdown(found))
        typer.echo(f"wrote {markdown}: {written}", err=json)
    if json:
        from ragways.apps.terminal import print_json

        print_json(found.to_plain())
    elif html is None and markdown is None:
        typer.echo(printable(as_markdown(found, answers=False)), nl=False)
