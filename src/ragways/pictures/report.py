"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragways.pictures.shell import page_file, parts_script, shell

PARTS = ("figures", "marks", "plot", "grid")
"""Shared with the page of a server."""
SCRIPTS = (
    "base",
    "cells",
    "table",
    "pareto",
    "routing",
    "compare",
    "labels",
    "duels",
    "timeline",
    "costs",
    "answers",
    "questions",
    "start",
)
"""In the order in which they need each other; on the page they are one."""
_BODY = ("questions", "pieces", "evidence_cut_at")


def report_page(data: Mapping[str, Any]) -> str:
    """The page of a report: one HTML file with figures, comparisons, costs, duels and every question with its answers.

    `data` is that of `report_data` in `ragways.evaluation.answers`: the tables, and every answer. Questions stand apart
    from the tables, which are drawn before the questions are read.
    """
    runs = ", ".join(run["run"] for run in data["tables"][0]["rows"])
    return shell(
        f"{runs}: evaluation",
        page_file("report.html"),
        style=page_file("parts/parts.css") + page_file("report.css"),
        script=_script(SCRIPTS),
        data={
            "data": {name: value for name, value in data.items() if name not in _BODY},
            "answers": {name: data[name] for name in _BODY},
        },
    )


def _script(names: Sequence[str]) -> str:
    return "\n".join(('"use strict";', parts_script(*PARTS), *(page_file(f"report/{name}.js") for name in names)))


_ROUTING = """<header><h1>A router beside simpler policies</h1></header>
<main><section id="routing"><h2>Quality against cost</h2></section></main>"""


def routing_page(routing: Mapping[str, Any]) -> str:
    """The page of `ragways route evaluate`: the curve of quality and cost with the fixed arms on it, and the table.

    `routing` is `RouterEvaluation.to_plain` of `ragways.evaluation.routing.evaluate`.
    """
    # There are no tables of runs here, and arms have colours as paradigms do.
    data = {"tables": [], "arms": routing["arms"], "routing": routing}
    return shell(
        "Routing",
        _ROUTING,
        style=page_file("parts/parts.css") + page_file("report.css"),
        script=_script(("base", "routing")) + '\ndrawRouting();\ndocument.body.dataset.drawn = "all";',
        data={"data": data},
    )
