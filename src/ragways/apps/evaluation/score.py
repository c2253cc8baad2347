"""`ragways eval score`: the figures of a run, from its records alone."""

from __future__ import annotations

from ragways.apps.evaluation.options import RunArgument
from ragways.apps.options import JsonOption


def score(run: RunArgument, json: JsonOption = False) -> None:
    """Compute the figures of a run again, from its records and judgements alone."""
    from ragways.apps.evaluation.figures import show_run

    show_run(run, json)
