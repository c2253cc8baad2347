"""What answers cost, paradigm by paradigm, from the records of a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ragways.evaluation.record import Record
from ragways.evaluation.resources.construction import Construction, Spent, construction
from ragways.evaluation.resources.samples import Sample, peaks
from ragways.evaluation.resources.samples import seconds as cpu_seconds
from ragways.evaluation.resources.steps import KEYS, Figures, split, tokens
from ragways.retrieval.ask import PARADIGMS


@dataclass(frozen=True, slots=True)
class Mean:
    """Of an answer; None where no record tells. `cached` (by the endpoint) and `reasoning` are parts of `input` and
    `output`, whose sum is `tokens`.
    """

    calls: float | None = None
    tokens: float | None = None
    input: float | None = None
    output: float | None = None
    cached: float | None = None
    reasoning: float | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """Means are of the `answered` records; what the `failed` ones cost, no record tells.

    Tokens and `usd` are those the answers are worth, whether or not a reply was known already; `spent` is the USD that
    the run did pay. `retrieval` and `generation` are of all answers but `unsplit` ones, whose steps do not tell them
    apart; None where none does.
    """

    paradigm: str
    answered: int
    failed: int
    questions: int
    total: Mean
    retrieval: Mean | None
    generation: Mean | None
    unsplit: int
    evidence: float | None
    """Tokens of the evidence that was shown."""
    tools: Mapping[str, float] = field(default_factory=dict)
    """Calls of each tool, per answer."""
    seconds: float | None = None
    """Of an answer, on average."""
    seconds_p50: float | None = None
    seconds_p95: float | None = None
    cpu: float | None = None
    """CPU seconds of an answer."""
    peak_memory: int | None = None
    """Bytes; None where nothing was sampled."""
    spent: float = 0.0
    construction: Construction | None = None

    def data(self) -> dict[str, Any]:
        made = self.construction.data() if self.construction is not None else None
        return {**asdict(self), "construction": made}

    @property
    def with_construction(self) -> Mean | None:
        """Tokens and USD of an answer, with its share of what had to be built; None where that is not known."""
        made, total = self.construction, self.total
        if made is None or not made.questions or total.tokens is None or total.usd is None:
            return None
        return Mean(tokens=total.tokens + made.tokens / made.questions, usd=total.usd + made.usd / made.questions)


def usage(
    records: Iterable[Record],
    *,
    built: Spent | None = None,
    samples: Iterable[Sample] = (),
    paradigms: Mapping[str, str] | None = None,
) -> dict[str, Use]:
    """By paradigm. `built`: what each layer of the index has cost; `samples`: of the machine, labelled by paradigm.

    `paradigms`: the paradigm that a name in the records means, where it is another (the same one with other settings)
    and the records themselves do not say so.
    """
    by_name: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_name[record.paradigm].append(record)
    seen = list(samples)
    memory, cpu = peaks(seen), cpu_seconds(seen)
    found = {}
    for name, rows in by_name.items():
        use = _use(name, rows, cpu.get(name))
        meant = (paradigms or {}).get(name) or str(rows[0].made.get("paradigm") or name)
        made = _construction(meant, built, use.questions)
        found[name] = replace(use, peak_memory=memory.get(name), construction=made)
    return found


def _use(name: str, rows: Sequence[Record], cpu: float | None) -> Use:
    answered = [row for row in rows if not row.error]
    traced = [parts for row in answered if (parts := split(row.steps, row.usage)) is not None]
    timed = [row.seconds for row in answered if row.seconds]
    p50, p95 = _percentiles(timed)
    return Use(
        paradigm=name,
        answered=len(answered),
        failed=len(rows) - len(answered),
        questions=len({row.question for row in answered}),
        total=_mean([row.usage for row in answered]),
        retrieval=_mean([retrieval for retrieval, _ in traced]) if traced else None,
        generation=_mean([generation for _, generation in traced]) if traced else None,
        unsplit=len(answered) - len(traced),
        evidence=_average([row.usage["evidence"] for row in answered if "evidence" in row.usage]),
        tools=_tools(answered),
        seconds=_average(timed),
        seconds_p50=p50,
        seconds_p95=p95,
        cpu=_cpu(answered, cpu),
        spent=sum(row.usage.get("spent", row.usage.get("usd", 0.0)) for row in answered),
    )


def _mean(usages: Sequence[Figures]) -> Mean:
    known = {key: _average([usage[key] for usage in usages if key in usage]) for key in KEYS}
    sums = [tokens(usage) for usage in usages if {"tokens", "input", "output"} & usage.keys()]
    return Mean(tokens=_average(sums), **known)


def _tools(rows: Sequence[Record]) -> dict[str, float]:
    calls = Counter[str]()
    for row in rows:
        calls.update(row.tools)
    return {tool: count / len(rows) for tool, count in sorted(calls.items())}


def _cpu(rows: Sequence[Record], sampled: float | None) -> float | None:
    """As the records tell; where answers were made side by side only all of them together are known."""
    traced = [row.cpu for row in rows if row.cpu is not None]
    if traced or sampled is None or not rows:
        return _average(traced)
    return sampled / len(rows)


def _construction(name: str, built: Spent | None, questions: int) -> Construction | None:
    if built is None or name not in PARADIGMS:
        return None
    return construction(PARADIGMS[name].needs, built, questions=questions)


def _average(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _percentiles(seconds: Sequence[float]) -> tuple[float | None, float | None]:
    import numpy as np

    if not seconds:
        return None, None
    p50, p95 = np.percentile(seconds, [50, 95])
    return float(p50), float(p95)
