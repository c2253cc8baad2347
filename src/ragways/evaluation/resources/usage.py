"""What answers cost, paradigm by paradigm, from the records of a run; and what the layers they need cost to build.

Tokens of an answer are split into those of retrieval and those of generation. Generation is the last step named
`answer` or `recall`; of an agent, which answers in the midst of its work, it is the last round. Everything else is
retrieval: naming entities, sub-questions, points of reports, verdicts, hops, calls of tools, vectors from an endpoint,
and answers that were thrown away for a later one.

A layer that several paradigms need is counted in full for each of them: it is what one would pay to use that paradigm
alone, so these figures must not be added up over paradigms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ragways.core.table import Cell, Column, Table
from ragways.core.trace import Usage
from ragways.evaluation.record import AnswerUsage, Record, TraceStep
from ragways.evaluation.resources.sampler import ResourceSample, cpu_seconds, peak_memory
from ragways.layers.table import check_layers
from ragways.retrieval.ask import PARADIGMS
from ragways.store.cache import Spent

LayerCosts = Mapping[str, Spent]
"""By layer, what its work has cost so far; failures and work for documents that were removed since are among it."""
ANSWERING = ("answer", "recall")
CALLS = ("model call", "embedding call")
"""The only steps that spend anything themselves."""
_KEYS = ("calls", "input", "output", "cached", "reasoning", "usd")


def amount(value: float | None) -> str:
    """A number in few letters; an en dash where there is none."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _column(key: str, title: str = "") -> Column:
    return Column(title or key.replace("_", " "), amount, "right", key)


COSTS = (
    Column("paradigm"), _column("answered", "answers"), _column("failed"), _column("untimed", "from our cache"),
    _column("seconds"), _column("seconds_p50", "seconds p50"), _column("seconds_p95", "p95"), _column("cpu", "CPU s"),
    Column("MiB at most", lambda value: amount(value / 2**20), "right", "peak_memory"),
    _column("evidence", "evidence tokens"), _column("calls"), _column("tokens"), _column("input", "tokens in"),
    _column("output", "out"), _column("cached"), _column("reasoning"), _column("usd", "USD"),
    _column("retrieval_tokens"), _column("retrieval_calls"), _column("generation_tokens"), _column("generation_calls"),
    _column("unsplit"), _column("spent"),
    Column("layers", key="index_layers"), Column("unknown layers", key="index_unknown"), _column("index_calls"),
    _column("index_tokens"), _column("index_usd", "index USD"), _column("index_seconds"),
    _column("index_tokens_each"), _column("index_usd_each", "index USD each"), _column("tokens_with_index"),
    _column("usd_with_index", "USD with index"),
)  # fmt: skip
"""The columns of costs. Figures are means of the `answered` records; None where no record has them, and `usd` also
where one lacks it.

Tokens and `usd` are what the answers are worth, whether or not a reply was cached; `cached` (by the endpoint) and
`reasoning` are parts of `input` and `output`, whose sum is `tokens`. `spent` is the USD that the run paid, for failed
records too. `unsplit` answers have steps that do not separate retrieval and generation. Seconds are those of answers
whose every reply was requested; `untimed` others had replies from our cache. `evidence` are tokens of the evidence that
was shown; `peak_memory` is in bytes, where it was sampled. `index_…` is what building all needed layers cost, with the
`unknown` ones of whose cost nothing is known; `…_each` is its share for each question.
"""


def usage(
    records: Iterable[Record], *, built: LayerCosts | None = None, samples: Iterable[ResourceSample] = ()
) -> Table:
    """What answers cost, a row for each paradigm.

    `built`: what each layer of the index has cost; `samples`: of the machine, labelled by paradigm.
    """
    by_name: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_name[record.paradigm].append(record)
    seen = list(samples)
    memory, cpu = peak_memory(seen), cpu_seconds(seen)
    rows = []
    for name, some in by_name.items():
        row: dict[str, Cell] = {"paradigm": name, "peak_memory": memory.get(name), **_usage(some, cpu.get(name))}
        paradigm = some[0].made.paradigm or name
        if built and paradigm in PARADIGMS:
            answered = len({record.question for record in some if not record.error})
            row |= _construction(PARADIGMS[paradigm].needs_with(some[0].settings), built, answered)
            if answered:
                for unit in ("tokens", "usd"):
                    own, index = row[unit], row[f"index_{unit}_each"]
                    row[f"{unit}_with_index"] = None if own is None or index is None else own + index  # type: ignore[operator]
        rows.append(row)
    return Table.of(COSTS, rows, title="What an answer takes", name="costs")


def _usage(rows: Sequence[Record], cpu: float | None) -> dict[str, Cell]:
    answered = [row for row in rows if not row.error]
    parts = [both for row in answered if (both := split(row.steps, row.usage)) is not None]
    timed = [row.seconds for row in answered if row.seconds and not row.replies_known]
    own_cpu = _average([row.cpu for row in answered])
    # Of answers that were made side by side only the CPU seconds of all together are known.
    sampled = cpu / len(answered) if cpu is not None and answered else None
    return {
        "answered": len(answered),
        "failed": len(rows) - len(answered),
        "untimed": sum(row.replies_known > 0 for row in answered),
        "seconds": _average(timed),
        "seconds_p50": _percentile(timed, 50),
        "seconds_p95": _percentile(timed, 95),
        "cpu": own_cpu if own_cpu is not None else sampled,
        "evidence": _average([row.usage.evidence for row in answered]),
        "tokens": _average([row.usage.all_tokens for row in answered]),
        **{key: _average([getattr(row.usage, key) for row in answered]) for key in _KEYS},
        # Where prices are unknown, only answers without a call have one, of 0.
        "usd": None
        if any(row.usage.usd is None for row in answered)
        else _average([row.usage.usd for row in answered]),
        "retrieval_tokens": _average([retrieval.all_tokens for retrieval, _ in parts]),
        "retrieval_calls": _average([retrieval.calls for retrieval, _ in parts]),
        "generation_tokens": _average([generation.all_tokens for _, generation in parts]),
        "generation_calls": _average([generation.calls for _, generation in parts]),
        "unsplit": len(answered) - len(parts),
        "spent": _spent([row.usage for row in rows]),
    }


def _spent(used: Sequence[AnswerUsage]) -> float | None:
    """None where the price of a call is unknown."""
    paid = [one.spent if one.spent is not None else one.usd for one in used if one.calls or one.usd is not None]
    known = [usd for usd in paid if usd is not None]
    return sum(known) if len(known) == len(paid) else None


def _average(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _percentile(seconds: Sequence[float], percent: int) -> float | None:
    import numpy as np

    return float(np.percentile(seconds, percent)) if seconds else None


# Retrieval and generation


def split(steps: Sequence[TraceStep], used: AnswerUsage) -> tuple[AnswerUsage, AnswerUsage] | None:
    """What retrieval and what generation used; None where the steps do not add up to what the answer used."""
    if used.all_tokens is None or sum(step.usage.tokens for step in steps if step.name in CALLS) != used.all_tokens:
        return None
    last = answering(steps)
    generation = last.usage if last is not None else Usage()
    retrieval = {key: (getattr(used, key) or 0.0) - getattr(generation, key) for key in _KEYS}
    return AnswerUsage(**retrieval), AnswerUsage.of(generation)


def answering(steps: Sequence[TraceStep]) -> TraceStep | None:
    """The step that made the answer; None where there is none."""
    found, within = None, None
    for step in steps:
        # A step and the task it does have the same name: the outer one is meant, which holds all of it.
        if within is not None and step.depth > within:
            continue
        within = step.depth if step.name in ANSWERING else None
        found = step if within is not None else found
    rounds = (step for step in reversed(steps) if step.name == "round" and step.usage.tokens)
    return found or next(rounds, None)


# Construction


def _construction(needs: Iterable[str], spent: LayerCosts, questions: int) -> dict[str, Cell]:
    """What the needed layers cost, with those that they need themselves."""
    layers = sorted(check_layers(needs))
    total = sum((spent.get(layer, Spent()) for layer in layers), Spent())
    tokens = total.input + total.output
    usd = total.usd if total.usd or not total.calls else None  # calls that cost nothing are calls of unknown price
    return {
        "index_layers": ", ".join(layers),
        "index_unknown": ", ".join(layer for layer in layers if layer not in spent),
        "index_calls": total.calls,
        "index_tokens": tokens,
        "index_usd": usd,
        "index_seconds": total.seconds,
        "index_tokens_each": tokens / questions if questions else None,
        "index_usd_each": usd / questions if questions and usd is not None else None,
    }
