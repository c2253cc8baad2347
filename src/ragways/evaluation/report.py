"""A report on runs: a list of tables, with the same figures whether they are shown as Markdown, HTML, LaTeX or CSV.

    runs = read_runs([Run(folder)])
    tables = report(runs)
    text = markdown(tables, answers(runs))

A table without rows says in a note why it has none, and how to get them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from ragways.core.errors import UsageError
from ragways.core.table import Cell, Column, Table
from ragways.evaluation.agreement import agreement_tables
from ragways.evaluation.answers import ReportedRun
from ragways.evaluation.duel.result import duel_tables
from ragways.evaluation.metric import Metric
from ragways.evaluation.metrics import find_metric
from ragways.evaluation.record import Record, Run
from ragways.evaluation.resources.sampler import ResourceSample, samples_of
from ragways.evaluation.resources.usage import COSTS, amount, usage
from ragways.evaluation.resources.worth import break_evens, pareto
from ragways.evaluation.score import gaps, score_records, scored
from ragways.evaluation.statistics.comparison import COMPARISONS, Comparisons, compare_records
from ragways.evaluation.statistics.values import source_documents

TELLING = (
    "accuracy", "judged-correct", "crag-fine", "f1", "faithfulness", "recall@5", "all-evidence@8", "hallucinated",
    "abstained",
)  # fmt: skip
"""The metrics that are shown first."""
MOST_COMPARISONS = 1200
COMPARED_QUESTIONS = 250_000
"""Questions of all comparisons together: some seconds of work."""
POINTS = 800
"""Points of a timeline."""
PAUSE = 60.0
"""Seconds without a sample after which the run was stopped and went on later: that time is not drawn."""
NAMED = 8
LOSS = 0.02
"""So much of a metric may be lost for a lower cost."""
COST_KINDS = {
    "tokens": "tokens per answer",
    "usd": "US dollars per answer",
    "cpu": "CPU seconds per answer",
    "seconds_p50": "seconds per answer (median)",
    "evidence": "tokens of evidence per answer",
    "tokens_with_index": "tokens per answer with its share of the index",
    "usd_with_index": "US dollars per answer with its share of the index",
}
"""The first that is known is shown first. CPU stands before seconds, which depend on what else the machine did."""
MISSING = {
    "comparisons": "there is one paradigm, and nothing to compare it with: ragways eval run --paradigms NAME,NAME",
    "breakevens": "no layer or answer cost a token, or there is one paradigm: ragways eval run --paradigms NAME,NAME",
    "timeline": "CPU and memory were not sampled in this run: they are when it is made with ragways eval run",
    "tools": "no answer called a tool: only agents do (ragways eval run --paradigms agent)",
    "labels": "no person has labelled an answer: ragways eval label RUN",
    "duels": "no duel was run: ragways eval duel RUN",
}
"""Why a table has no rows, and how to get them."""
CORRECTED = (
    "p is corrected (Holm) over the pairs of each metric, not over metrics: where many metrics are looked at, some "
    "differ by chance."
)
LESS = Column("less is better", key="less_is_better")
FRONTS = (
    "The fronts are of means alone: whether two paradigms were shown to differ is not looked at here, so other "
    "questions may place others on them."
)


# The runs, read as one


def read_runs(runs: Sequence[Run], *more: Metric) -> list[ReportedRun]:
    """Read runs, one named twice only once; `more` are metrics beside the usual ones (`recall@20`)."""
    places = list({run.folder.resolve(): run for run in runs}.values())
    if not places:
        raise UsageError("no run was named", "name the folder of one: ragways eval report RUN")
    read = [(name, run, scored(run, *more)) for name, run in zip(_names(places), places, strict=True)]
    for _, run, records in read:
        if not records:
            raise UsageError(f"{run.folder} holds no record", "make some with: ragways eval run")
    owners = Counter(paradigm for _, _, records in read for paradigm in {record.paradigm for record in records})
    texts: dict[str, set[str]] = defaultdict(set)
    for _, _, records in read:
        for record in records:
            texts[record.question].add(record.text)
    found = []
    for name, run, records in read:
        paradigms = {one.paradigm: f"{name}/{one.paradigm}" if owners[one.paradigm] > 1 else one.paradigm
                     for one in records}  # fmt: skip
        questions = {one.question: f"{name}/{one.question}" if len(texts[one.question]) > 1 else one.question
                     for one in records}  # fmt: skip
        renamed = tuple(
            replace(one, paradigm=paradigms[one.paradigm], question=questions[one.question]) for one in records
        )
        found.append(ReportedRun(name, run, tuple(records), renamed, paradigms, questions))
    return found


def _names(runs: Sequence[Run]) -> list[str]:
    """The last parts of the paths: as many as it takes to make them different."""
    parts = [run.folder.resolve().parts for run in runs]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(one[-length:]) for one in parts]
        if len(set(names)) == len(names):
            break
    return names


def compare_runs(runs: Sequence[Run], metric: Metric, *, baseline: str = "") -> Comparisons:
    """Every pair of paradigms of these runs on one metric, or each against the baseline, on the questions they share.

    UsageError where there are not two paradigms.
    """
    read = read_runs(runs, metric)
    records = [record for one in read for record in one.records]
    names = {record.paradigm for record in records}
    if len(names) < 2:
        raise UsageError(
            f"there is only one paradigm to compare: {next(iter(names), 'none')}",
            "run more of them (ragways eval run --paradigms) or name a second run",
        )
    unlike = {id for one in read for id, name in one.questions.items() if id != name}
    return replace(compare_records(records, metric, baseline=baseline), unlike_questions=len(unlike))


# The report


def report(runs: Sequence[ReportedRun], *, baseline: str = "") -> list[Table]:
    """All tables on these runs. `baseline`: compare all paradigms with this one, not every pair."""
    records = [record for run in runs for record in run.records]
    tables = score_records(records)
    costs = _costs(runs)
    metrics = telling_first([find_metric(name) for name in dict.fromkeys(tables["figures"].column("metric"))])
    main = [metric for metric in metrics if metric.name in TELLING]
    compared, left_out = _compared(records, metrics, baseline)
    found = [
        _summary(runs, [verdict(tables["figures"], compared, costs), *_notes(records)]),
        *_figures(tables["figures"], metrics, main, compared),
        gaps(tables),
        *_comparisons(compared, left_out),
        _fronts(tables["figures"], costs, main[0] if main else None),
        costs,
        _break_evens(runs, costs, main[0] if main else None),
        *agreement_tables((run.name, run.run.folder, run.original, run.paradigms) for run in runs),
        *duel_tables((run.name, run.run.folder, run.original, run.paradigms) for run in runs),
        *_timelines(runs),
        _tools(records),
    ]
    return [_with_reason(table) for table in found]


def telling_first(metrics: Sequence[Metric]) -> list[Metric]:
    """The telling metrics first, advisory ones last; among the others those of judges come first."""
    order = {name: place for place, name in enumerate(TELLING)}
    return sorted(metrics, key=lambda one: (one.advisory, order.get(one.name, len(order)), one.of is not None))


def _with_reason(table: Table) -> Table:
    if table.rows:
        return table
    return replace(table, notes=(f"Left out: {MISSING[table.name]}.",) if table.name in MISSING else ())


def _summary(runs: Sequence[ReportedRun], notes: Sequence[str]) -> Table:
    """What each run is, and what made its answers: more than one version or model of a kind is worth seeing."""
    rows: list[dict[str, Cell]] = []
    for run in runs:
        info, own = run.run.info, run.records
        made = {
            name: ", ".join(dict.fromkeys(value for one in own if (value := getattr(one.made, name))))
            for name in ("version", "model", "embedder", "preset")
        }
        rows.append({
            "run": run.name, "date": info.date, "questions": len(run.questions), "paradigms": len(run.paradigms),
            "answers": len(own), "failed": sum(bool(one.error) for one in own), "seed": info.seed, **made,
        })  # fmt: skip
    return Table.of(list(rows[0]), rows, title="Runs", notes=notes, name="runs")


def _notes(records: Sequence[Record]) -> list[str]:
    """A warning where means of paradigms are over different questions."""
    given: dict[str, set[str]] = {}
    for record in records:
        given.setdefault(record.paradigm, set()).add(record.question)
    every = set().union(*given.values())
    few = [f"{name} {len(some):,}" for name, some in given.items() if len(some) < len(every)]
    if not few:
        return []
    more = f" and {len(few) - NAMED} more" if len(few) > NAMED else ""
    return [
        f"Not every paradigm answered all {len(every):,} questions ({', '.join(few[:NAMED])}{more}): their means are "
        "over different questions. Comparisons take only those that both answered."
    ]


def _figures(
    figures: Table, metrics: Sequence[Metric], main: Sequence[Metric], compared: Sequence[Comparisons]
) -> Iterator[Table]:
    """The figures of the main metrics, those of the others, and what the metrics are; the best paradigm first."""
    best = {table.metric: best_of(figures, table) for table in compared}
    columns = (*figures.columns, Column("best"))
    for name, title, some in (
        ("figures", "Figures", main),
        ("other figures", "Other metrics", [metric for metric in metrics if metric not in main]),
    ):
        rows = [row for metric in some for row in _sorted(figures.where(metric=metric.name), metric)]
        at, whose, type = (figures.place(name) for name in ("metric", "paradigm", "type"))
        marked = [(*row, "yes" if not row[type] and row[whose] in best.get(str(row[at]), ()) else "") for row in rows]
        notes = [
            "Means over questions with 95 % intervals. What is unscored is never counted as 0. Best: the best mean, "
            "and all that were not shown to differ from it."
        ]
        yield Table.of(columns, marked, title=title, notes=notes, name=name, by="metric")
    rows = [(one.name, one.family, one.summary, one.less_is_better, one.advisory) for one in metrics]
    yield Table.of(
        ["name", "family", "summary", LESS, "advisory"], rows, title="What the metrics measure", name="metrics"
    )


def _sorted(figures: Table, metric: Metric) -> list[tuple[Cell, ...]]:
    """Of all questions first, the best mean first; then type by type."""
    sign, mean, type = 1 if metric.less_is_better else -1, figures.place("mean"), figures.place("type")
    return sorted(figures.rows, key=lambda row: (str(row[type]), row[mean] is None, sign * float(row[mean] or 0)))


# Comparisons


def _compared(
    records: Sequence[Record], metrics: Sequence[Metric], baseline: str
) -> tuple[list[Comparisons], list[str]]:
    """Comparisons of as many metrics as can be compared in a reasonable time, and the names of the other metrics."""
    names = {record.paradigm for record in records}
    if len(names) < 2:
        return [], []
    pairs = len(names) - 1 if baseline else len(names) * (len(names) - 1) // 2
    questions = len({record.question for record in records})
    metrics = [metric for metric in metrics if not metric.advisory]
    most = max(1, min(MOST_COMPARISONS // pairs, COMPARED_QUESTIONS // (pairs * questions)))
    documents = source_documents(records)
    compared = [compare_records(records, one, baseline=baseline, documents=documents) for one in metrics[:most]]
    return compared, [one.name for one in metrics[most:]]


def _comparisons(compared: Sequence[Comparisons], left_out: Sequence[str]) -> Iterator[Table]:
    rows = [one.cells(row) for one in compared for row in sorted(one.rows, key=lambda row: row.verdict not in _SHOWN)]
    notes = [CORRECTED]
    if left_out:
        notes.append(f"Not compared here, which would take long: {', '.join(left_out)} (ragways eval compare).")
    yield Table.of(COMPARISONS, rows, title="Comparisons", notes=notes, name="comparisons", by="metric")
    missed = [(one.metric, one.less_is_better, one.baseline, one.sentence) for one in compared]
    yield Table.of(
        ["metric", LESS, "baseline", Column("would be missed", key="said")],
        missed,
        title="Which differences would be missed",
        name="power",
    )


_SHOWN = ("better", "worse")


def best_of(figures: Table, compared: Comparisons) -> list[str]:
    """The paradigm of the best mean, and all that were not shown to differ from it.

    Empty where that is every one of them, or where the best was not compared with all others: nothing is best then.
    """
    sign = -1 if compared.less_is_better else 1
    means = _means(figures, compared.metric)
    ordered = sorted(means, key=lambda name: -sign * means[name])
    if not ordered:
        return []
    first, others = ordered[0], ordered[1:]
    beaten = {pair.b: pair.verdict == "better" for pair in compared.rows if pair.a == first}
    beaten |= {pair.a: pair.verdict == "worse" for pair in compared.rows if pair.b == first}
    alike = [name for name in others if not beaten.get(name)]
    return [] if len(alike) == len(others) or not set(others) <= set(beaten) else [first, *alike]


def _means(figures: Table, metric: str) -> dict[str, float]:
    rows = figures.where(metric=metric, type="").only("paradigm", "mean").rows
    return {str(name): float(mean) for name, mean in rows if mean is not None}


def verdict(figures: Table, compared: Sequence[Comparisons], costs: Table) -> str:
    """Recommend a paradigm: that of the best mean, or the cheapest for which a loss of more than `LOSS` is ruled out.

    The first metric on which means differ decides, if none before it is 0 for all. Says so where nothing was shown, and
    what so many questions could not have shown.
    """
    if not compared:
        return "Nothing to choose from: there is one paradigm."
    table = compared[0]
    for one in compared:
        means = _means(figures, one.metric)
        if means and (len(set(means.values())) > 1 or not _worthy(one, means)):
            table = one
            break
    means = _means(figures, table.metric)
    if not means:
        return f"Nothing to choose by: no answer has a score of {table.metric}. {table.sentence}".strip()
    worthy = _worthy(table, means)
    if not worthy:
        return f"Nothing to recommend: {table.metric} is 0 for every paradigm. {table.sentence}".strip()
    kind = next((one for one in COST_KINDS if any(costs.cell(one, paradigm=name) for name in means)), "tokens")
    price = {name: cost for name in means if (cost := costs.cell(kind, paradigm=name)) is not None}
    sign, dearest = -1 if table.less_is_better else 1, float("inf")
    best = min(worthy, key=lambda name: (-sign * means[name], price.get(name, dearest)))
    losses = _largest_losses(table, best)
    cheaper = [name for name in worthy if price.get(name, dearest) < price.get(best, dearest)]
    safe = [name for name in cheaper if losses.get(name, dearest) <= LOSS]
    chosen = min([best, *safe], key=lambda name: (price.get(name, dearest), -sign * means[name]))
    known = chosen in price and any(price.values())
    paid = f", {price[chosen]:{',.0f' if price[chosen] >= 100 else '.3g'}} {COST_KINDS[kind]}" if known else ""
    text = f"Use {chosen}: {table.metric} {means[chosen]:.3f}{paid}"
    shown = best_of(figures, table)
    if chosen != best:
        text += f"; the cheapest that is shown to lose at most {LOSS} beside the best ({best}, {means[best]:.3f})"
    elif shown == [best]:
        text += "; it is shown to be better than each of the others"
    else:
        text += "; it has the best mean"
        listed = ", ".join(cheaper[:4]) + (f" and {len(cheaper) - 4} more" if len(cheaper) > 4 else "")
        text += f", and a loss of more than {LOSS} is not ruled out for what is cheaper ({listed})" if cheaper else ""
    if not shown:
        against = f"with {table.baseline} alone" if table.baseline else "with each other"
        text = f"Compared {against}, none is shown to be the best on {table.metric}. {text}"
    return f"{text}. {table.sentence}".strip()


def _largest_losses(table: Comparisons, best: str) -> dict[str, float]:
    """By paradigm, the most that it may lose beside the best by their interval; left out where there is none."""
    losses = {}
    for row in table.rows:
        if best in (row.a, row.b) and row.low is not None and row.high is not None:
            first = row.a == best
            losses[row.b if first else row.a] = row.high if first != table.less_is_better else -row.low
    return losses


def _worthy(table: Comparisons, means: Mapping[str, float]) -> dict[str, float]:
    """The means of paradigms that have anything of a metric."""
    return {name: mean for name, mean in means.items() if mean > 0 or table.less_is_better}


# Costs


def _costs(runs: Sequence[ReportedRun]) -> Table:
    """What answers took, with their share of what building the index of their run cost."""
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        costs = usage(run.original, built=run.run.info.construction, samples=samples_of(run.run.folder))
        rows += [(run.paradigms[str(row[0])], *row[1:]) for row in costs.rows]
    costs = Table.of(COSTS, rows, title="What an answer takes", name="costs")
    untimed = any(costs.column("untimed"))
    notes = ["Seconds are those of answers without a reply from our cache."] if untimed else []
    return replace(costs, notes=tuple(notes))


def _fronts(figures: Table, costs: Table, metric: Metric | None) -> Table:
    """For each kind of cost in which paradigms differ, those that no other beats in both quality and cost."""
    means = _means(figures, metric.name) if metric is not None else {}
    rows = []
    for kind, words in COST_KINDS.items():
        price = {name: costs.cell(kind, paradigm=name) for name in costs.column("paradigm")}
        if metric is not None and any(price.values()):
            points = {name: (means.get(name), cost) for name, cost in price.items()}
            names = pareto(points, less_is_better=metric.less_is_better)
            front = ", ".join(f"{name} ({means[name]:.3f} at {amount(price[name])})" for name in names)
            rows.append((kind, words, front or "none"))
    front = f"on the front of {metric.name if metric is not None else 'quality'}"
    return Table.of(["kind", "cost", front], rows, title="Quality against cost", notes=[FRONTS], name="fronts")


def _break_evens(runs: Sequence[ReportedRun], costs: Table, metric: Metric | None) -> Table:
    """After how many questions a layer has paid for itself, soonest first in each run."""
    rows: list[dict[str, Cell]] = []
    for run in runs:
        built = run.run.info.construction
        own = replace(costs, rows=tuple(row for row in costs.rows if row[0] in run.paradigms.values()))
        paid = any(tokens or index for tokens, index in own.only("tokens", "index_tokens").rows)
        if metric is not None and built and paid and len(own) > 1:
            compared = compare_records(run.records, metric)
            rows += [{"run": run.name, **row} for row in break_evens(own, compared.rows, built)]
    title = f"When a layer has paid for itself{f', quality by {metric.name}' if metric is not None else ''}"
    return Table.of([
        "run", "paradigm", "against", "layers", Column("to build", amount, key="construction"),
        Column("saved each", amount, key="saved"), Column("questions", ",d"), Column("in words", key="words"),
    ], rows, title=title, name="breakevens")  # fmt: skip


# The machine's load, and tools


def _timelines(runs: Sequence[ReportedRun]) -> Iterator[Table]:
    """The load of the machine by paradigm, and as points in time: few enough to draw."""
    loads: list[list[Cell]] = []
    points: list[list[Cell]] = []
    for run in runs:
        steps = list(_steps(list(samples_of(run.run.folder)), run.paradigms))
        total, at = sum(wall for _, wall, _, _ in steps), 0.0
        for label, wall, cpu, memory in _merged(steps, total / POINTS):
            at += wall
            points.append([run.name, round(at, 2), label, round(cpu / wall, 3), memory])
        for label in dict.fromkeys(step[0] for step in steps):
            own = [step for step in steps if step[0] == label]
            wall, cpu = sum(step[1] for step in own), sum(step[2] for step in own)
            most = max(step[3] for step in own)
            loads.append([run.name, label or "opening", round(wall, 2), round(cpu, 2), round(cpu / wall, 3), most])
    most_memory = Column("MiB at most", lambda value: amount(value / 2**20), "right", "memory")
    seconds = Column("seconds", amount, "right")
    yield Table.of([
        "run", Column("at work", key="paradigm"), seconds, Column("CPU seconds", amount, "right", "cpu"),
        Column("cores on average", amount, "right", "cores"), most_memory,
    ], loads, title="CPU and memory", name="load")  # fmt: skip
    yield Table.of(["run", seconds, "paradigm", "cores", "memory"], points, title="CPU and memory in time",
                   name="timeline")  # fmt: skip


_Step = tuple[str, float, float, int]
"""Paradigm, seconds, CPU seconds and memory."""


def _steps(samples: Sequence[ResourceSample], names: Mapping[str, str]) -> Iterator[_Step]:
    """What lies between each two samples of one process."""
    for before, after in pairwise(samples):
        wall, cpu = after.at - before.at, after.cpu - before.cpu
        if 0 < wall <= PAUSE and cpu >= 0:
            yield names.get(after.label, after.label), wall, cpu, after.memory


def _merged(steps: Iterable[_Step], shortest: float) -> list[_Step]:
    """Steps of one paradigm in a row as one, until it is as long as `shortest`."""
    found: list[_Step] = []
    for step in steps:
        if found and found[-1][0] == step[0] and found[-1][1] < shortest:
            label, wall, cpu, memory = found[-1]
            found[-1] = label, wall + step[1], cpu + step[2], max(memory, step[3])
        else:
            found.append(step)
    return found


def _tools(records: Sequence[Record]) -> Table:
    """Calls of each tool by paradigm: in all, and by how many answers called it how often."""
    calls: dict[str, list[Mapping[str, int]]] = defaultdict(list)
    for record in records:
        if not record.error:
            calls[record.paradigm].append(record.tools)
    rows: list[list[Cell]] = []
    for paradigm, answers in calls.items():
        for tool in sorted({tool for one in answers for tool in one}):
            times = Counter(one.get(tool, 0) for one in answers)
            spread = ", ".join(str(times[n]) for n in range(max(times) + 1))
            total = sum(n * many for n, many in times.items())
            rows.append([paradigm, tool, len(answers), total, total / len(answers), spread])
    return Table.of(["paradigm", "tool", "answers", "calls", Column("calls per answer", ".2f", key="each"),
             Column("answers with 0, 1, 2, … calls", key="spread")], rows, title="Tools", name="tools")  # fmt: skip
