"""What answers cost, paradigm by paradigm, from the records of a run; and what the layers they need cost to build.

Tokens of an answer are split into those of finding and those of saying it. Generation is the last step named `answer`
or `recall`, which holds the call that said what was answered; of an agent, which answers in the midst of its work, the
last round. All that was spent besides is retrieval: naming entities, sub-questions, points of reports, verdicts, hops,
calls of tools, vectors from an endpoint, and answers that were thrown away for a later one.

A layer that several paradigms need is counted in full for each of them: it is what one would pay to use that paradigm
alone, so these figures must not be added up over paradigms.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

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


@dataclass(frozen=True, slots=True)
class MeanUsage:
    """Means of an answer; None where no record tells. `cached` (by the endpoint) and `reasoning` are parts of `input`
    and `output`, whose sum is `tokens`.
    """

    calls: float | None = None
    tokens: float | None = None
    input: float | None = None
    output: float | None = None
    cached: float | None = None
    reasoning: float | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Construction:
    """What all the layers that a paradigm needs cost, and shared out over the questions that were answered.

    Seconds are those of all work, much of which may have run side by side. `unknown` layers are those of whose cost
    nothing was written down.
    """

    layers: tuple[str, ...]
    unknown: tuple[str, ...]
    calls: float
    input: float
    output: float
    usd: float
    seconds: float
    questions: int
    tokens: float
    tokens_per_question: float | None
    usd_per_question: float | None


@dataclass(frozen=True, slots=True)
class ParadigmUsage:
    """What the answers of a paradigm took. Means are of the `answered` records.

    Tokens and `usd` are those the answers are worth, whether or not a reply was known already; `spent` is the USD that
    the run did pay, for the `failed` records too. `retrieval` and `generation` are of all answers but `unsplit` ones,
    whose steps do not tell them apart; None where none does. `evidence` are tokens of the evidence that was shown,
    `tools` the calls of each tool per answer, `cpu` CPU seconds of an answer, `peak_memory` bytes or None where nothing
    was sampled. Seconds are those of answers whose every reply was asked for: `untimed` others had replies from our
    cache.
    """

    paradigm: str
    answered: int
    failed: int
    questions: int
    total: MeanUsage
    retrieval: MeanUsage | None
    generation: MeanUsage | None
    unsplit: int
    evidence: float | None
    tools: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    seconds_p50: float | None = None
    seconds_p95: float | None = None
    untimed: int = 0
    cpu: float | None = None
    peak_memory: int | None = None
    spent: float = 0.0
    construction: Construction | None = None

    @property
    def with_construction(self) -> MeanUsage | None:
        """Tokens and USD of an answer, with its share of what had to be built; None where that is not known."""
        made, total = self.construction, self.total
        if made is None or not made.questions or total.tokens is None or total.usd is None:
            return None
        return MeanUsage(tokens=total.tokens + made.tokens / made.questions, usd=total.usd + made.usd / made.questions)


def usage(
    records: Iterable[Record],
    *,
    built: LayerCosts | None = None,
    samples: Iterable[ResourceSample] = (),
    paradigms: Mapping[str, str] | None = None,
) -> dict[str, ParadigmUsage]:
    """What answers cost, by paradigm.

    `built`: what each layer of the index has cost; `samples`: of the machine, labelled by paradigm; `paradigms`: the
    paradigm that a name in the records means, where it is another (the same one with other settings) and the records
    themselves do not say so.
    """
    by_name: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_name[record.paradigm].append(record)
    seen = list(samples)
    memory, cpu = peak_memory(seen), cpu_seconds(seen)
    found = {}
    for name, rows in by_name.items():
        own = _usage(name, rows, cpu.get(name))
        meant = (paradigms or {}).get(name) or rows[0].made.paradigm or name
        made = None
        if built is not None and meant in PARADIGMS:
            made = construction(PARADIGMS[meant].needs, built, questions=own.questions)
        found[name] = replace(own, peak_memory=memory.get(name), construction=made)
    return found


def _usage(name: str, rows: Sequence[Record], cpu: float | None) -> ParadigmUsage:
    answered = [row for row in rows if not row.error]
    parts = [both for row in answered if (both := split(row.steps, row.usage)) is not None]
    timed = [row.seconds for row in answered if row.seconds and not row.replies_known]
    p50, p95 = _percentiles(timed)
    return ParadigmUsage(
        paradigm=name,
        answered=len(answered),
        failed=len(rows) - len(answered),
        questions=len({row.question for row in answered}),
        total=_mean([row.usage for row in answered]),
        retrieval=_mean([retrieval for retrieval, _ in parts]) if parts else None,
        generation=_mean([generation for _, generation in parts]) if parts else None,
        unsplit=len(answered) - len(parts),
        evidence=_average([row.usage.evidence for row in answered]),
        tools=_tools(answered),
        seconds=_average(timed),
        seconds_p50=p50,
        seconds_p95=p95,
        untimed=sum(row.replies_known > 0 for row in answered),
        cpu=_cpu(answered, cpu),
        spent=sum(row.usage.spent if row.usage.spent is not None else row.usage.usd or 0.0 for row in rows),
    )


def _mean(usages: Sequence[AnswerUsage]) -> MeanUsage:
    sums = [one.all_tokens for one in usages if (one.tokens, one.input, one.output) != (None, None, None)]
    return MeanUsage(tokens=_average(sums), **{key: _average([getattr(one, key) for one in usages]) for key in _KEYS})


def _tools(rows: Sequence[Record]) -> dict[str, float]:
    calls = Counter[str]()
    for row in rows:
        calls.update(row.tools)
    return {tool: count / len(rows) for tool, count in sorted(calls.items())}


def _cpu(rows: Sequence[Record], sampled: float | None) -> float | None:
    """As the records tell; where answers were made side by side only all of them together are known."""
    recorded = _average([row.cpu for row in rows])
    return sampled / len(rows) if recorded is None and sampled is not None and rows else recorded


def _average(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _percentiles(seconds: Sequence[float]) -> tuple[float | None, float | None]:
    import numpy as np

    if not seconds:
        return None, None
    p50, p95 = np.percentile(seconds, [50, 95])
    return float(p50), float(p95)


# Retrieval and generation


def split(steps: Sequence[TraceStep], used: AnswerUsage) -> tuple[AnswerUsage, AnswerUsage] | None:
    """What retrieval and what generation used; None where the steps do not tell of all that the answer used."""
    if used.all_tokens and sum(step.usage.tokens for step in steps if step.name in CALLS) != used.all_tokens:
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


def construction(needs: Iterable[str], spent: LayerCosts, *, questions: int) -> Construction:
    """What the layers that are needed have cost, those that they need themselves among them."""
    layers = sorted(check_layers(needs))
    total = sum((spent.get(layer, Spent()) for layer in layers), Spent())
    tokens = total.input + total.output
    return Construction(
        layers=tuple(layers),
        unknown=tuple(layer for layer in layers if layer not in spent),
        calls=total.calls,
        input=total.input,
        output=total.output,
        usd=total.usd,
        seconds=total.seconds,
        questions=questions,
        tokens=tokens,
        tokens_per_question=tokens / questions if questions else None,
        usd_per_question=total.usd / questions if questions else None,
    )


def layer_costs(needs: Iterable[str], spent: LayerCosts, *, unit: str = "tokens") -> dict[str, float]:
    """The cost of each layer that is needed, in `tokens` or `USD`, as `break_even` takes them."""
    found = {layer: spent.get(layer, Spent()) for layer in sorted(check_layers(needs))}
    return {layer: cost.usd if unit == "USD" else float(cost.input + cost.output) for layer, cost in found.items()}
