"""The table of paradigms, as a table."""

from __future__ import annotations

from ragways.apps.terminal import console, print_json
from ragways.retrieval.ask import PARADIGMS


def show_paradigms(as_json: bool) -> None:
    if as_json:
        print_json(
            [
                {
                    "name": p.name,
                    "summary": p.summary,
                    "source": p.source,
                    "needs": sorted(p.needs),
                    "settings": p.settings,
                }
                for p in PARADIGMS.values()
            ]
        )
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("paradigm", no_wrap=True)
    table.add_column("what it does, what it needs, its settings", overflow="fold")
    for p in PARADIGMS.values():
        settings = ", ".join(f"{name}={value}" for name, value in p.settings.items())
        needs = f"needs {', '.join(sorted(p.needs))}" if p.needs else "needs no layer"
        table.add_row(p.name, Text.assemble(p.summary, "\n", (f"{needs}; source {p.source}; {settings}", "dim")))
    console().print(table)
