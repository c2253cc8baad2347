"""A duel on a terminal of 80 columns: the judge's test, a row a pair, box plots, aspects, the heat map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragways.apps.evaluation.box_plot import plots
from ragways.apps.terminal import console
from ragways.core.text import printable

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from ragways.evaluation.duel.plan import Plan
    from ragways.evaluation.duel.result import PairResult, Result
    from ragways.evaluation.duel.selftest import Bias, SelfTest


def show_plan(plan: Plan, usd: float | None) -> None:
    """Before anything is asked."""
    cost = "price unknown" if usd is None else f"about ${usd:,.2f}"
    tokens = f"{plan.usage.tokens / 1e6:,.1f} million tokens"
    lines = f"{plan.calls:,} calls of the judge ({plan.selftest:,} to test it), {tokens}, {cost}"
    lines += f"; at most {plan.lengths:,} calls to align lengths, not in the price" if plan.lengths else ""
    lines += f"; {plan.known:,} replies are known already" if plan.known else ""
    console(error=True).print(lines, markup=False, soft_wrap=True)


def show(found: Result) -> None:
    out = console()
    rules = found.rules
    out.print(
        f"judged by {printable(found.judge)}: {found.questions:,} questions, {rules.trials} × {rules.samples} "
        f"samples, both orders, mode {rules.mode}, ${found.usd:.4f}",
        markup=False,
    )
    out.print(_selftest(found.selftest))
    if any(pair.figures.n for pair in found.pairs):
        out.print(_pairs(found.pairs))
        for line in plots(found.pairs):
            out.print(line, markup=False, no_wrap=True)
        out.print(_aspects(found.pairs))
        if len(found.map.names) > 2:
            out.print(_map(found))
    for pair in found.pairs:
        out.print(f"{printable(pair.a)} against {printable(pair.b)}: {pair.verdict.words}", markup=False)
        for line in counted(pair):
            out.print(line, style="dim", markup=False)
    for warning in found.warnings:
        console(error=True).print(f"warning: {printable(warning)}", style="yellow", markup=False, soft_wrap=True)


def _selftest(found: SelfTest) -> Table:
    """Each bias in points of 100: how much oftener one side is preferred, ties counted as fair. The last must be."""
    from rich import box
    from rich.table import Table

    title = f"the judge's test: {'passed' if found.passed else 'NOT passed'}"
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("an answer against", no_wrap=True)
    for column in ("pre-\nferred", "tied", "the\nother", "bias\ninterval", "points\nof 20", "p", "replies\nunscored"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_row("itself: the first", *_bias(found.position))
    table.add_row("padded: the copy", *_bias(found.length))
    table.add_row("off topic: itself", *_bias(found.control))
    return table


def _bias(bias: Bias) -> tuple[str, ...]:
    counts = f"{bias.replies:,}\n{sum(bias.unscored.values()):,}"
    if bias.bias is None or bias.difference is None:
        return *["–"] * 6, counts
    scored = bias.for_it + bias.ties + bias.against
    return (
        *(_percent(count / scored) for count in (bias.for_it, bias.ties, bias.against)),
        f"{100 * bias.bias:+.0f}\n{_interval(bias.low, bias.high)}",
        f"{bias.difference:+.2f}",
        _p(bias.p),
        counts,
    )


def _pairs(pairs: Sequence[PairResult]) -> Table:
    from rich import box
    from rich.table import Table

    title = "relative win rate of the first over the second, in points of 100"
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("first\nsecond", overflow="fold")
    for column in (
        "median of trials\nquartiles",
        "mean\n95 % interval",
        "won/tied\n/lost",
        "points\nof 20",
        "p\n(Holm)",
        "pairs\nleft out",
    ):
        table.add_column(column, justify="right", no_wrap=True)
    for pair in pairs:
        table.add_row(_names(pair), *_cells(pair))
    return table


def _names(pair: PairResult) -> Text:
    from rich.text import Text

    return Text(f"{printable(pair.a)}\n{printable(pair.b)}")


def _cells(pair: PairResult) -> tuple[str, ...]:
    found, rounds = pair.figures, pair.figures.rounds
    left_out = f"{pair.judged:,}\n{sum(pair.left_out.values()):,}"
    if found.box is None or found.rate is None or found.difference is None:
        return "–", "–", "–", "–", "–", left_out
    return (
        f"{100 * found.box.median:+.1f}\n{100 * found.box.first:+.0f} to {100 * found.box.third:+.0f}",
        f"{100 * found.rate:+.1f}\n{_interval(found.low, found.high)}",
        f"{rounds.a:,}/{rounds.ties:,}\n/{rounds.b:,}",
        f"{found.difference:+.2f}",
        _p(pair.verdict.adjusted),
        left_out,
    )


def _aspects(pairs: Sequence[PairResult]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title="aspects: mean points of 5; won/tied/lost rounds", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("first\nsecond", overflow="fold")
    for aspect in pairs[0].figures.aspects:
        table.add_column(aspect.name.replace("hens", "-\nhens"), justify="right", no_wrap=True)
    for pair in pairs:
        cells = []
        for aspect in pair.figures.aspects:
            means = "–" if aspect.a is None or aspect.b is None else f"{aspect.a:.2f} : {aspect.b:.2f}"
            cells.append(f"{means}\n{aspect.counts.a:,}/{aspect.counts.ties:,}/{aspect.counts.b:,}")
        table.add_row(_names(pair), *cells)
    return table


def _map(found: Result) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title="relative win rate of the row over the column; * one of them won",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("", overflow="fold")
    for name in found.map.names:
        table.add_column(Text(printable(name)), justify="right", overflow="fold")
    for row in found.map.names:
        cells = []
        for column in found.map.names:
            cell = found.map.cells.get((row, column))
            won = "*" if cell is not None and cell.outcome in ("win", "loss") else ""
            cells.append("–" if cell is None or cell.rate is None else f"{100 * cell.rate:+.1f}{won}")
        table.add_row(Text(printable(row)), *cells)
    return table


def counted(pair: PairResult) -> Iterator[str]:
    """What became of every pair and every reply."""
    rounds = pair.rounds
    parts = [f"{pair.judged:,} judged ({pair.again:,} generated again, {pair.padded:,} padded)"]
    parts += [f"{count:,} left out: {why}" for why, count in sorted(pair.left_out.items())]
    parts += [f"{pair.not_aligned:,} not reached"] if pair.not_aligned else []
    yield f"  {pair.pairs:,} pairs: {'; '.join(parts)}"
    said = [f"{rounds.scored:,} scored", *(f"{count:,} {why}" for why, count in sorted(rounds.unscored.items()))]
    if rounds.scored:
        said.append(f"the first preferred {_percent(rounds.first / rounds.scored)}, "
                    f"the second {_percent(rounds.second / rounds.scored)}")  # fmt: skip
    if rounds.identical:
        said.append(f"{rounds.identical:,} rounds of identical answers tied without a call")
    yield f"  {rounds.wanted:,} replies: {'; '.join(said)}"


def _interval(low: float | None, high: float | None) -> str:
    return "all alike" if low is None or high is None else f"{100 * low:+.0f} to {100 * high:+.0f}"


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if value >= 0.001 else "<0.001"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
