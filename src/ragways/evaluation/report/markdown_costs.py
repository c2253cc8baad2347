"""What answers cost, in Markdown: fronts, tables, CPU and memory, tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragways.evaluation.report.markdown_text import amount, said, table
from ragways.evaluation.resources.worth import pareto

SHOWN = 20
"""Break-evens that are listed."""
POINTS = (
    "The fronts are of means alone: whether two paradigms were shown to differ is not looked at here, so other "
    "questions may place others on them."
)


def pareto_fronts(data: Mapping[str, Any]) -> Iterator[str]:
    if not data["costs"] or not data["main"]:
        return
    metric = next(one for one in data["metrics"] if one["name"] == data["main"][0])
    yield "## Quality against cost"
    yield ""
    yield POINTS
    yield ""
    for cost, words in data["costs"].items():
        points = {
            row["paradigm"]: (row["metrics"].get(metric["name"], {}).get("mean"), row["cost"].get(cost))
            for row in data["rows"]
        }
        best = [point for point in pareto(points, less_is_better=metric["less_is_better"]) if point.on_front]
        front = ", ".join(f"{said(one.name)} ({one.quality:.3f} at {amount(one.cost)})" for one in best)
        yield f"- {words}: on the front of {metric['name']} are {front or 'none'}"
    yield ""


def costs(data: Mapping[str, Any]) -> Iterator[str]:
    yield "## What an answer takes"
    yield ""
    heads = ["paradigm", "answers", "failed", "seconds p50", "p95", "CPU s", "MiB at most", "evidence tokens", "calls"]
    heads += ["tokens in", "out", "retrieval", "generation", "USD", "index tokens each", "index USD each"]
    yield from table(heads, (_cost(row) for row in data["rows"]))


def _cost(row: Mapping[str, Any]) -> list[str]:
    use, total = row["use"], row["use"]["total"]
    built, memory = use["construction"] or {}, use["peak_memory"]
    figures = [
        use["answered"], row["failed"], use["seconds_p50"], use["seconds_p95"], use["cpu"],
        memory / 2**20 if memory else None, use["evidence"], total["calls"], total["input"], total["output"],
        (use["retrieval"] or {}).get("tokens"), (use["generation"] or {}).get("tokens"), total["usd"],
        built.get("tokens_per_question"), built.get("usd_per_question"),
    ]  # fmt: skip
    return [said(row["paradigm"]), *map(amount, figures)]


def breakevens(data: Mapping[str, Any]) -> Iterator[str]:
    if "breakevens" not in data:
        return
    yield "## When a layer has paid for itself"
    yield ""
    for line in data["breakevens"]["lines"][:SHOWN]:
        yield f"- {said(line['words'])}"
    more = len(data["breakevens"]["lines"]) - SHOWN
    if more > 0:
        yield f"- and {more:,} more: ragways eval report RUN --json"
    yield ""


def timeline(data: Mapping[str, Any]) -> Iterator[str]:
    for line in data.get("timeline", ()):
        yield f"## CPU and memory in {said(line['run'])}"
        yield ""
        yield from table(
            ["at work", "seconds", "CPU seconds", "cores on average", "MiB at most"],
            (
                [
                    said(one["paradigm"]) or "before the first answer",
                    *map(amount, (one["seconds"], one["cpu"], one["cores"], one["memory"] / 2**20)),
                ]
                for one in line["by_paradigm"]
            ),
        )


def tools(data: Mapping[str, Any]) -> Iterator[str]:
    if "tools" not in data:
        return
    yield "## Tools"
    yield ""
    names = sorted({tool for row in data["tools"] for tool in row["calls"]})
    yield "Calls per answer, and in all:"
    yield ""
    yield from table(
        ["paradigm", *map(said, names)],
        ([said(row["paradigm"]), *(f"{row['calls'].get(tool, 0) / row['answers']:.2f} ({row['calls'].get(tool, 0):,})"
          for tool in names)] for row in data["tools"]),
    )  # fmt: skip
