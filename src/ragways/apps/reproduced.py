"""A reproduced experiment as a table: ours above, published below."""

from __future__ import annotations

from typing import Any


def show_reproduced(result: dict[str, Any]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from ragways.apps.terminal import console

    out = console()
    out.print(f"{result['title']}: {result['data']}, {result['questions']} questions", style="bold", markup=False)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column("way", no_wrap=True)
    for column in result["columns"]:
        table.add_column(column["label"].replace(" ", "\n", 1), justify="right", no_wrap=True)
    for row in result["rows"]:
        cells = [
            Text.assemble(_number(ours, column), "\n", _counted(n), "\n", (_number(theirs, column), "dim"))
            for ours, n, theirs, column in zip(row["ours"], row["n"], row["published"], result["columns"], strict=True)
        ]
        failed = f", {row['failed']} failed" if row["failed"] else ""
        table.add_row(Text.assemble(row["paradigm"], failed, "\n\n", (row["published_name"], "dim")), *cells)
    out.print(table)
    said = f"above: ours, and n, the questions scored; below: published, with {result['published_with']}"
    out.print(said, style="dim", markup=False)
    out.print(f"whether ways differ: ragways eval compare {result['run']}", style="dim", markup=False, soft_wrap=True)
    for line in result["warnings"]:
        out.print(f"warning  {line}", style="yellow", markup=False, soft_wrap=True)
    for line in result["differs"]:
        out.print(f"differs  {line}", markup=False, soft_wrap=True)
    for line in result["not_run"]:
        out.print(f"not run  {line}", style="yellow", markup=False, soft_wrap=True)
    out.print(f"see it all: ragways eval report {result['run']} --html report.html\n", markup=False, soft_wrap=True)


def _number(value: float | None, column: dict[str, Any]) -> str:
    return "–" if value is None else f"{value:,.{column['digits']}f}"


def _counted(n: int | None) -> str:
    return "" if n is None else f"n {n:,}"
