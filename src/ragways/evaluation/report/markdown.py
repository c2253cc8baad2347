"""The report as Markdown: the same tables in words and figures, and every question where they are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragways.evaluation.report.markdown_costs import breakevens, costs, pareto_fronts, timeline, tools
from ragways.evaluation.report.markdown_duels import duels
from ragways.evaluation.report.markdown_questions import questions
from ragways.evaluation.report.markdown_text import interval, said, scored, table

SHOWN = 30
"""Pairs of paradigms that are listed one by one."""
Data = Mapping[str, Any]


def markdown(data: Data, *, answers: bool = True) -> str:
    """`answers`: with every question, its answers, evidence and judgements; without them a summary."""
    parts = [
        _head,
        _figures,
        _unscored,
        _types,
        _comparisons,
        pareto_fronts,
        duels,
        costs,
        breakevens,
        timeline,
        tools,
        _missing,
    ]
    lines = [line for part in parts for line in part(data)]
    if answers:
        lines += [*_others(data), *questions(data)]
    return "\n".join(lines).rstrip() + "\n"


def _head(data: Data) -> Iterator[str]:
    yield f"# Evaluation: {', '.join(said(run['name']) for run in data['runs'])}"
    yield ""
    for run in data["runs"]:
        made = "".join(f"; {name} {', '.join(map(said, values))}" for name, values in run["made"].items())
        yield (
            f"- {said(run['name'])}: {run['questions']:,} questions, {len(run['paradigms'])} paradigms, "
            f"{run['records']:,} answers, {run['failed']:,} failed{made}"
        )
    yield ""
    for note in data["notes"]:
        yield f"Note: {said(note)}"
        yield ""
    yield "Means over questions with 95 % intervals. What is unscored is never counted as 0."
    yield ""


def _figures(data: Data) -> Iterator[str]:
    yield "## Figures"
    yield ""
    for metric in data["metrics"]:
        if metric["name"] in data["main"]:
            yield from _metric(data, metric)


def _others(data: Data) -> Iterator[str]:
    yield "## Other metrics"
    yield ""
    for metric in data["metrics"]:
        if metric["name"] not in data["main"]:
            yield from _metric(data, metric)


def _metric(data: Data, metric: Data) -> Iterator[str]:
    """The best first; what is unscored last."""
    yield f"### {metric['name']}: {metric['summary']}{' (less is better)' if metric['less_is_better'] else ''}"
    yield ""
    sign = 1 if metric["less_is_better"] else -1
    none: Data = {"mean": None, "n": 0, "unscored": 0, "unscored_questions": 0}
    found = [(row, row["metrics"].get(metric["name"], none)) for row in data["rows"]]
    found.sort(key=lambda pair: (pair[1]["mean"] is None, sign * (pair[1]["mean"] or 0.0)))
    heads = ["paradigm", "mean", "95 % interval", "questions scored", "unscored", "answers unscored", "failed"]
    yield from table(heads, (
        [said(row["paradigm"]), "–" if one["mean"] is None else f"{one['mean']:.3f}", interval(one), f"{one['n']:,}",
         f"{one['unscored_questions']:,}", f"{one['unscored']:,}", f"{row['failed']:,}"]
        for row, one in found
    ))  # fmt: skip


def _unscored(data: Data) -> Iterator[str]:
    order = {one["name"]: place for place, one in enumerate(data["metrics"])}
    found = sorted(data["gaps"], key=lambda gap: order[gap["metric"]])
    if found:
        yield "Unscored answers, by paradigm and reason:"
        yield ""
        rows = ([said(gap["metric"]), said(gap["whose"]), f"{gap['answers']:,}", said(gap["why"])] for gap in found)
        yield from table(["metric", "of", "unscored", "why"], rows)


def _types(data: Data) -> Iterator[str]:
    if not data["types"]:
        return
    yield "## By type of question"
    yield ""
    for name in data["main"]:
        yield f"### {name}, by type"
        yield ""
        yield from table(
            ["paradigm", *map(said, data["types"])],
            ([said(row["paradigm"]), *(_of_type(row["by_type"].get(type, {}), name) for type in data["types"])]
             for row in data["rows"]),
        )  # fmt: skip


def _of_type(found: Data, metric: str) -> str:
    failed = found.get("failed", 0)
    return scored(found.get("metrics", {}).get(metric)) + (f", {failed:,} failed" if failed else "")


def _comparisons(data: Data) -> Iterator[str]:
    if "comparisons" not in data:
        return
    yield "## Comparisons"
    yield ""
    yield data["comparisons"]["note"]
    yield ""
    for one in data["comparisons"]["tables"]:
        rows = one["rows"]
        differ = [row for row in rows if row["verdict"] in ("better", "worse")]
        shown = rows if len(rows) <= SHOWN else differ[:SHOWN]
        yield f"### {one['metric']}{' (less is better)' if one['less_is_better'] else ''}"
        yield ""
        yield one["sentence"]
        yield ""
        if shown:
            heads = ["first", "second", "difference", "95 % interval", "p (Holm)", "verdict on the first", "questions"]
            yield from table([*heads, "left out"], map(_pair, shown))
        if len(rows) > len(shown):
            yield f"{len(differ):,} of {len(rows):,} pairs differ; {len(rows) - len(shown):,} are not listed."
            yield ""


def _pair(row: Data) -> list[str]:
    known = row["difference"] is not None
    return [
        said(row["a"]), said(row["b"]), f"{row['difference']:+.3f}" if known else "–",
        f"{row['low']:+.3f} to {row['high']:+.3f}" if row["low"] is not None else "–",
        f"{row['adjusted']:.3g}" if row["adjusted"] is not None else "–", row["verdict"], f"{row['n']:,}",
        f"{row['dropped']:,}",
    ]  # fmt: skip


def _missing(data: Data) -> Iterator[str]:
    if data["missing"]:
        yield "## Left out"
        yield ""
        yield from (f"- {name}: {why}" for name, why in data["missing"].items())
        yield ""
