"""Evaluate paradigms from Python: ask questions of known answers, score, compare, report.

evaluation = ragways.evaluate(corpus, "mine.jsonl", ["naive", "fused"], metrics=["recall@5", "f1"])
evaluation.table()
evaluation.compare("recall@5", baseline="naive")
evaluation.report("report.html")
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragways.asynchronous import AsyncCorpus
from ragways.core.errors import MissingPart, UsageError
from ragways.core.runtime import ProgressCallback, silent
from ragways.core.table import Cell, Column, Table
from ragways.evaluation.answers import report_data
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.datasets.reading import plain_question
from ragways.evaluation.judges import find_judge
from ragways.evaluation.judges.judge import JudgeResources
from ragways.evaluation.judging import judge_run
from ragways.evaluation.metric import Metric
from ragways.evaluation.metrics import METRICS, find_metric
from ragways.evaluation.question import Question
from ragways.evaluation.record import Record, Run, locked
from ragways.evaluation.report import compare_runs, read_runs, report
from ragways.evaluation.routing.evaluate import RouterEvaluation, evaluate_router
from ragways.evaluation.routing.fit import FitSettings, fit
from ragways.evaluation.routing.outcomes import Outcomes, gather
from ragways.evaluation.routing.tuning import USUAL_TRADE, usual_quality
from ragways.evaluation.run import RunOptions, Variant, parse_variants
from ragways.evaluation.run import evaluate as run_evaluation
from ragways.evaluation.score import score, scored
from ragways.evaluation.statistics.comparison import Comparisons
from ragways.index.export import replacing
from ragways.library import waiting
from ragways.pictures.report import report_page
from ragways.pictures.shell import write_page
from ragways.retrieval.paradigm import Paradigm
from ragways.retrieval.routing.router import CostUnit, Router

if TYPE_CHECKING:
    import pandas as pd

Questions = str | Path | Iterable[Question | str | Mapping[str, Any]]
"""A file of questions, or questions: as objects, as dicts with `question`, `answers` and `evidence`, or as texts."""
USUAL_METRICS = ("recall@5", "f1", "accuracy")


async def aevaluate(
    corpus: AsyncCorpus,
    /,
    questions: Questions,
    paradigms: Sequence[str | Paradigm] = ("naive", "words", "hybrid-words"),
    *,
    metrics: Sequence[str | Metric] = USUAL_METRICS,
    out: str | Path | None = None,
    repeats: int = 1,
    seed: int = 0,
    budget: float | None = None,
    features: bool = True,
    progress: ProgressCallback = silent,
) -> Evaluation:
    """Ask every question of every paradigm, record the answers, and score them.

    Args:
        corpus: an open index.
        questions: a file of questions (a line of JSON each: `question`, `answers`, `evidence`), or a list of them.
        paradigms: names, names with settings (`naive[k=20]`), or paradigms of your own.
        metrics: what to score by: names (`ragways.metrics()` lists them) or metrics of your own. Those that a judge
            gives ask the model of the corpus.
        out: a folder for the run. One that is there goes on: what was answered is not asked again. Unset, the run is
            kept in a temporary folder as long as the evaluation is.
        repeats: how often each question is asked.
        seed: of the model, where it takes one.
        budget: the most to spend, in USD.
        features: whether what is known of each question before it is answered is kept, for fitting a router.
        progress: called with a `Progress` as the work goes on.

    Returns:
        An `Evaluation`: tables, comparisons, a report, and every answer.

    Example:
        >>> evaluation = ragways.evaluate(corpus, "mine.jsonl", ["naive", "fused"])  # doctest: +SKIP
        >>> evaluation.compare("recall@5", baseline="naive")  # doctest: +SKIP
    """
    chosen = [find_metric(metric) if isinstance(metric, str) else metric for metric in metrics]
    variants = [variant for one in paradigms for variant in _variants(one, corpus)]
    asked = _questions(questions)
    folder = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="ragways-run-"))
    stack = ExitStack()
    try:
        use = stack.enter_context(corpus.snapshot())  # all questions of a run see one state
        at_once = corpus.settings.model.concurrency if use.model.model is not None else 1
        run = await run_evaluation(
            use,
            asked,
            variants,
            folder,
            options=RunOptions(repeats, seed, at_once, budget, features),
            progress=progress,
        )
        judges = dict.fromkeys(find_judge(metric.name) for metric in chosen if metric.of is None)
        able = [judge for judge in judges if judge.by != "model" or use.model.model is not None]
        if able:
            resources = JudgeResources(use.model, use.embedder, use.reader)
            with locked(folder):
                await judge_run(resources, folder, list(run.records), able, at_once=at_once, budget=budget,
                                progress=progress)  # fmt: skip
    except BaseException:
        if out is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        stack.close()
    return Evaluation(run, chosen, temporary=out is None)


evaluate = waiting(aevaluate)


class Evaluation:
    """What came out of asking paradigms questions. Made by `evaluate`; its figures are computed from the records.

    `folder` is where the run is kept: `ragways eval report`, `compare`, `judge` and `duel` work on it too.
    """

    def __init__(self, run: Run, metrics: Sequence[Metric], *, temporary: bool = False) -> None:
        self.run = run
        self.metrics = tuple(metric.name for metric in metrics)
        self._more = tuple(metrics)
        if temporary:
            weakref.finalize(self, shutil.rmtree, run.folder, ignore_errors=True)

    @property
    def folder(self) -> Path:
        return self.run.folder

    @cached_property
    def scored(self) -> list[Record]:
        """Every answer with its values."""
        return scored(self.run, *self._more)

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The figures as tables: `paradigms`, `figures` (means with intervals, by type of question too), `unscored`
        and `costs`.
        """
        return score(self.run, *self._more)

    def table(self) -> Table:
        """A row for each paradigm: each metric's mean with its 95 % interval, failures, tokens, seconds and money."""
        metrics = [
            column for name in self.metrics for column in (Column(name, ".3f"), Column("95 %", key=f"{name} 95 %"))
        ]
        costs = [Column("evidence tokens", ",.0f"), Column("seconds", ".3f"), Column("usd", ".4f")]
        rows = [_row(self.tables, row, self.metrics) for row in self.tables["paradigms"].to_plain()]
        notes = ["means over questions with their 95 % intervals; what could not be scored is in no mean"]
        return Table.of(["paradigm", "questions", "failed", *metrics, *costs], rows, notes=notes)

    def compare(self, metric: str = "", baseline: str = "") -> Comparisons:
        """Compare the paradigms question by question, each with the baseline or every pair.

        Args:
            metric: by which metric; unset, the first of those that were asked for.
            baseline: compare all with this one; unset, every pair is compared.

        Returns:
            Differences with intervals, p corrected for several comparisons, and what so many questions would miss.
        """
        return compare_runs([self.run], find_metric(metric or self.metrics[0]), baseline=baseline)

    def report(self, file: str | Path, *, baseline: str = "") -> Path:
        """Write a page with figures, costs, comparisons and every question with all its answers; returns its path."""
        runs = read_runs([self.run])
        write_page(Path(file), report_page(report_data(report(runs, baseline=baseline), runs)))
        return Path(file)

    def fit_router(
        self,
        file: str | Path | None = None,
        *,
        quality: str = "",
        cost: CostUnit = "tokens",
        trade: float | None = None,
        alpha: float | None = None,
        seed: int = 0,
    ) -> Router:
        """Fit a router on this run, by which the paradigm `auto` can go.

        Args:
            file: where to write it, e.g. `router.json` in the folder of the index; unset, it is only returned.
            quality: the metric, from 0 to 1; unset, `accuracy` where a model answered, else `all-evidence`.
            cost: what an arm costs: tokens, usd or seconds.
            trade: the quality that 1,000 tokens, a dollar or a second are worth; unset, the usual (docs/routing.md).
            alpha: certify that at most this share of what is answered is wrong.
            seed: of every draw.

        Returns:
            The router; `guard.passed` says whether it is used, or always its best fixed arm.
        """
        router = fit(self._outcomes(quality), fit_settings(cost, trade, seed, alpha))
        if file is not None:
            with replacing(Path(file)) as draft:
                draft.write_text(router.text(), encoding="utf-8")
        return router

    def evaluate_router(
        self, *, quality: str = "", cost: CostUnit = "tokens", trade: float | None = None, seed: int = 0
    ) -> RouterEvaluation:
        """Hold a router against every fixed arm, simpler routers and an oracle, on questions it was not fitted on.

        Args:
            quality, cost, trade, seed: as for `fit_router`.

        Returns:
            Policies with quality, cost, gain and regret, the oracle, the curve over trades, and controls.
        """
        return evaluate_router(self._outcomes(quality), fit_settings(cost, trade, seed))

    def _outcomes(self, quality: str) -> Outcomes:
        return gather([self.folder], quality=quality or usual_quality([self.folder]), common=True)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each answer: question, paradigm, answer, error and cost, and a column for each metric."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingPart("pandas is not installed", "pip install pandas") from None
        return pd.DataFrame([_flat(one, self.metrics) for one in self.scored])

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().html()


def fit_settings(
    cost: CostUnit, trade: float | None, seed: int, alpha: float | None = None, tolerance: float = 0.0
) -> FitSettings:
    """Settings of a fit; a trade that is not given is the usual one for that cost."""
    usual = USUAL_TRADE[cost] if trade is None else trade
    return FitSettings(trade=usual, cost=cost, seed=seed, alpha=alpha, tolerance=tolerance)


def sample_questions() -> list[Question]:
    """The questions that come with the bundled corpus, with their answers and gold evidence."""
    return load_questions("plain", Path(str(resources.files("ragways") / "demo" / "questions.jsonl")))


def metrics() -> Table:
    """The metrics there are: their names, what they measure, and whether a judge gives them."""
    rows = [(one.name, one.family, one.summary, one.of is None) for one in METRICS.values()]
    return Table.of(["name", "family", "summary", "by a judge"], rows)


def _questions(given: Questions) -> list[Question]:
    """Questions of any form as objects; those without an id are numbered."""
    if isinstance(given, str | Path):
        return load_questions("plain", Path(given))
    found = []
    for number, one in enumerate(given):
        if isinstance(one, Question):
            found.append(one)
        elif isinstance(one, str):
            found.append(Question(f"q{number}", one))
        else:
            found.append(plain_question(one, number))
    if not found:
        raise UsageError("there is no question to ask", "give at least one")
    return found


def _variants(paradigm: str | Paradigm, corpus: AsyncCorpus) -> list[Variant]:
    if isinstance(paradigm, str):
        return parse_variants(paradigm, corpus.settings.paradigms)
    return [Variant(paradigm.name, paradigm)]


def _row(tables: Mapping[str, Table], counts: Mapping[str, Cell], metrics: Sequence[str]) -> list[Cell]:
    name = counts["paradigm"]
    cells: list[Cell] = [name, counts["questions"], counts["failed"]]
    for metric in metrics:
        mean, low, high = (
            tables["figures"].cell(column, metric=metric, paradigm=name, type="") for column in ("mean", "low", "high")
        )
        cells += [mean, None if low is None else f"{low:.3f} to {high:.3f}"]
    return [*cells, *(tables["costs"].cell(column, paradigm=name) for column in ("evidence", "seconds", "usd"))]


def _flat(record: Record, metrics: Sequence[str]) -> dict[str, Any]:
    values = {name: record.values[name].value if name in record.values else None for name in metrics}
    return {
        "question": record.question,
        "text": record.text,
        "type": record.type,
        "paradigm": record.paradigm,
        "repeat": record.repeat,
        "answer": record.answer,
        "explanation": record.explanation,
        "abstained": record.abstained,
        "error": record.error,
        "seconds": record.seconds,
        "tokens": record.usage.all_tokens,
        "usd": record.usage.usd,
        **values,
    }
