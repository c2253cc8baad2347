"""`ragways eval datasets`: the layouts that can be read, under which licence the data is, and whom to cite."""

from __future__ import annotations

from ragways.apps.options import JsonOption


def datasets(json: JsonOption = False) -> None:
    """List the layouts of questions that can be read, with licence and citation."""
    from ragways.apps.terminal import console, print_json
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
    from rich.table import Table

    table = Table(padding=(0, 1, 0, 0), show_lines=True)
    for column in ("format", "what", "licence", "citation"):
        table.add_column(column, overflow="fold")
    for dataset in DATASETS.values():
        marks = ("¹" if dataset.corpus is not None else "") + ("" if dataset.seen else "²")
        table.add_row(f"{dataset.name}{marks}", dataset.summary, dataset.licence or "–", dataset.citation or "–")
    out = console()
    out.print(table)
    out.print("¹ the corpus comes with the questions  ² layout as documented, not tried on the data", style="dim")
