"""Tables beside the figures of the variants: of the questions, the graph, the corpus, and what judges left unscored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragways.core.plain import to_plain
from ragways.core.table import Cell, Column, Table
from ragways.evaluation.judges.claims import CRAG
from ragways.evaluation.judges.judge import Judge, JudgeResources
from ragways.evaluation.judging import JudgementKey
from ragways.evaluation.metric import Metric
from ragways.evaluation.question import Question
from ragways.evaluation.record import Record, Score
from ragways.index.diagnosis import diagnose
from ragways.index.open import Index
from ragways.models.client import trial
from ragways.reproduce.experiment import Experiment, ExperimentData, published_table

FINE_AGAIN = "crag-fine-again"


def beside(
    experiment: Experiment, data: ExperimentData, questions: Sequence[Question], index: Index
) -> Iterator[Table]:
    """The source's own tables about questions, graph and corpus, with ours."""
    if evidence := published_table(experiment.name, "evidence"):
        counts = Counter(len(question.gold) for question in questions)
        keys = sorted({*counts, *map(int, evidence)})
        needed = [(key, counts[key], evidence.get(str(key))) for key in keys]
        heads = ["pieces of evidence", "ours", "published"]
        yield Table.of(heads, needed, title="Questions by the evidence they need", name="evidence")
    if graphs := published_table(experiment.name, "graphs"):
        sizes = index.graph.counts()
        rows = [(name, sizes[name], *(both[at] for both in graphs.values())) for at, name in enumerate(_SIZES)]
        yield Table.of(["of the graph", "ours", *graphs], rows, title="Size of the graph", name="graph")
    if corpus := published_table(experiment.name, data.name, "corpus"):
        ours = _figures(index)
        rows = [(name.replace("_", " "), ours.get(name), value) for name, value in corpus.items()]
        heads = ["of the corpus", "ours", "published"]
        yield Table.of(heads, rows, title="Structure and meaning of the corpus", name="corpus")


_SIZES = ("entities", "relations")


def _figures(index: Index) -> Mapping[str, Any]:
    """Figures of `ragways diagnose` by their names."""
    found = diagnose(index)
    structure, meaning = to_plain(found.structure) or {}, to_plain(found.meaning) or {}
    centroid = meaning.get("centroid_distance") or {}
    return {**structure, **meaning, **{f"centroid_{name}": value for name, value in centroid.items()}}


def unscored(records: Sequence[Record], metrics: Sequence[Metric], names: Mapping[str, str]) -> Table | None:
    """The answers that a judge should have scored and has not, by reason; None where there are none. `names`:
    published, by variant.
    """
    counts = Counter(
        (metric.name, names.get(record.paradigm, record.paradigm), record.values[metric.name].why)
        for record in records
        for metric in metrics
        if metric.name in record.values and record.value(metric.name) is None and not metric.missing(record)
    )
    alike: dict[tuple[str, int, str], list[str]] = defaultdict(list)
    for (metric, name, why), count in counts.items():
        alike[metric, count, why].append(name)
    rows = [(metric, ", ".join(of), count, why) for (metric, count, why), of in alike.items()]
    heads = ["metric", "of", "unscored", "why"]
    return Table.of(heads, rows, title="Answers that a judge left without a value", name="unscored") if rows else None


# Coarse against fine CRAG, from a match of claims each


async def _second_match(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    with trial("a second match of claims"):
        return {FINE_AGAIN: (await CRAG.score(resources, record))["crag-fine"]}


SECOND_MATCH = Judge(
    "crag-again",
    "CRAG's fine score, by a match of claims of its own",
    "model",
    (Metric(FINE_AGAIN, "judged", "as crag-fine", ("gold",)),),
    _second_match,
    CRAG.tasks,
)


def heat_map(records: Sequence[Record], fine: Mapping[JudgementKey, float | None], names: Mapping[str, str]) -> Table:
    """How many answers have each coarse score, from one match, and each fine score, from another."""
    counts: Counter[tuple[str, float, float]] = Counter()
    for record in records:
        coarse, other = record.value("crag-coarse"), fine.get((*record.key, FINE_AGAIN))
        if coarse is not None and other is not None:
            counts[record.paradigm, coarse, other] += 1
    scores = (-1.0, -0.5, 0.0, 0.5, 1.0)
    rows: list[tuple[Cell, ...]] = [
        (names.get(name, name), _signed(coarse), *(counts[name, coarse, one] for one in scores))
        for name in dict.fromkeys(record.paradigm for record in records)
        for coarse in (1.0, 0.0, -1.0)
    ]
    heads = ["coarse", *(f"fine {_signed(one)}" for one in scores)]
    return Table.of(
        ["variant", *(Column(head, align="right") for head in heads)],
        rows,
        title="Answers by coarse and fine CRAG, from two matches of claims",
        notes=["a judge that agrees with itself has +1 with +1, 0 with 0, and all others with -1"],
        name="crag",
    )


def _signed(score: float) -> str:
    return f"{score:+g}" if score else "0"
