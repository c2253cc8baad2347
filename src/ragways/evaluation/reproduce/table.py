"""Our figures beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragways.evaluation.reproduce.experiment import Data, Experiment, Way


def table(wanted: Experiment, data: Data, ways: Sequence[Way], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A row a way: for each column what we measured and what was published; None where there is none."""
    measured = {row["paradigm"]: row for row in rows}
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
                "answered": measured[way.label]["records"] - measured[way.label]["failed"]
                if way.label in measured
                else 0,
                "failed": measured[way.label]["failed"] if way.label in measured else 0,
                "ours": [column.value(measured[way.label]) if way.label in measured else None for column in columns],
                "published": [column.published.get(way.published) for column in columns],
            }
            for way in (*ways, *(way for way in wanted.ways if way not in ways))
        ],
        "differs": list(wanted.differs),
    }
