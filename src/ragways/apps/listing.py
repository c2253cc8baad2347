"""The table of paradigms, as a table."""

from __future__ import annotations

from ragways.apps.terminal import console, print_json
from ragways.paradigms import PARADIGMS


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
    from rich.table import Table

    table = Table()
    for column in ("paradigm", "what it does", "needs", "settings", "source"):
        table.add_column(column, no_wrap=column == "paradigm")
    for p in PARADIGMS.values():
        settings = ", ".join(f"{name}={value}" for name, value in p.settings.items())
        table.add_row(p.name, p.summary, ", ".join(sorted(p.needs)) or "nothing", settings, p.source)
    console().print(table)
