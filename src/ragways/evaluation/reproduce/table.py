"""Our figures beside the published ones, and what must be known to read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ragways.evaluation.question import Question
from ragways.evaluation.reproduce.experiment import Data, Experiment, Way
from ragways.evaluation.score import ParadigmScores


def table(wanted: Experiment, data: Data, ways: Sequence[Way], rows: Sequence[ParadigmScores]) -> dict[str, Any]:
    """A row a way: for each column what we measured, over how many questions, and what was published; None where there
    is none.
    """
    measured = {row.paradigm: row for row in rows}
    columns = wanted.columns_on(data)
    return {
        "experiment": wanted.name,
        "title": wanted.title,
        "data": data.name,
        "published_with": wanted.model,
        "columns": [{"label": column.label, "digits": column.digits} for column in columns],
        "rows": [
            {
                "published_name": way.published,
                "paradigm": way.paradigm,
                "settings": dict(way.settings),
                "answered": measured[way.label].records - measured[way.label].failed if way.label in measured else 0,
                "failed": measured[way.label].failed if way.label in measured else 0,
                "n": [column.n(measured[way.label]) if way.label in measured else None for column in columns],
                "ours": [column.value(measured[way.label]) if way.label in measured else None for column in columns],
                "published": [column.published.get(way.published) for column in columns],
            }
            for way in (*ways, *(way for way in wanted.ways if way not in ways))
        ],
        "differs": list(wanted.differs),
    }


def asked_here(questions: Sequence[Question], limit: int | None) -> str:
    """How many were really asked, of which types: a figure of one question is 0 or 100 and nothing between."""
    types = Counter(question.type or "no type" for question in questions)
    counts = ", ".join(f"{type} {count:,}" for type, count in sorted(types.items()))
    cut = f", cut by --limit {limit:,}" if limit is not None else ""
    return f"questions: {len(questions):,} were asked here{cut} ({counts})"


def without_gold(questions: Sequence[Question]) -> bool:
    """Whether nothing could be scored: a sign that the file is laid out otherwise than it was read."""
    return not any(question.answers or question.gold for question in questions)
