"""Which paradigm is best for which type of question on which corpus: a source's table of that, with ours beside it.

The source has a model judge every answer. Where ours were not judged, the share of exactly right ones stands in, and is
named; a type without a figure is unscored, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragways.reproduce.experiment import Experiment, ExperimentData
from ragways.reproduce.figures import Figure, VariantRun, mean, tokens_with_construction

JUDGED, EXACT = "judged-correct", "accuracy"
TOKENS = "tokens + built"
"""The column of the source's tokens a question."""


@dataclass(frozen=True, slots=True)
class TypeCell:
    """A paradigm in a row: our figure and the published one, and whether each is the best of its row."""

    published_name: str
    ours: Figure
    best: bool
    published: float | None
    published_best: bool


@dataclass(frozen=True, slots=True)
class TypeRow:
    """The questions of a type, in % correct; or, last of a corpus and of no type, the tokens a question."""

    type: str
    metric: str
    cells: tuple[TypeCell, ...]


def type_rows(
    experiment: Experiment, data: ExperimentData, runs: Mapping[str, VariantRun] | None = None
) -> tuple[TypeRow, ...]:
    """The rows of a corpus: for each type of the experiment that the source reports, then its tokens a question.

    `runs` are ours by the source's name of a variant; without them, the published figures stand alone.
    """
    columns = {column.label: column for column in experiment.columns_on(data)}
    heads = [columns[f"{type} %"] for type in experiment.types]
    names = [one.published for one in experiment.variants if any(one.published in head.published for head in heads)]
    runs = runs or {}
    judged = any(mean(JUDGED, of_type=type)(run).n for type in experiment.types for run in runs.values())
    metric = JUDGED if judged else EXACT
    rows = []
    for type, head in zip(experiment.types, heads, strict=True):
        read = mean(metric, of_type=type)
        ours = [read(runs[name]) if name in runs else Figure() for name in names]
        theirs = [head.published[name].value if name in head.published else None for name in names]
        rows.append(TypeRow(type, metric if runs else "", _cells(names, ours, theirs, most=True)))
    if experiment.types:
        ours = [tokens_with_construction(runs[name]) if name in runs else Figure() for name in names]
        published = columns[TOKENS].published
        theirs = [published[name].value if name in published else None for name in names]
        rows.append(TypeRow("", "tokens", _cells(names, ours, theirs, most=False)))
    return tuple(rows)


def _cells(names: list[str], ours: list[Figure], theirs: list[float | None], *, most: bool) -> tuple[TypeCell, ...]:
    own = _best([figure.value for figure in ours], most=most)
    known = _best(theirs, most=most)
    return tuple(
        TypeCell(name, mine, own is not None and mine.value == own, their, known is not None and their == known)
        for name, mine, their in zip(names, ours, theirs, strict=True)
    )


def _best(values: list[float | None], *, most: bool) -> float | None:
    """The most or the least of a row; None where nothing is better than the rest, as with one value or all alike."""
    scored = [value for value in values if value is not None]
    if len(scored) < 2 or min(scored) == max(scored):
        return None
    return max(scored) if most else min(scored)
