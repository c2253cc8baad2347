"""A duel on a terminal of 80 columns: the judge's test, a row a pair, box plots, aspects, the heat map."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragways.apps.terminal import console, show_table
from ragways.core.table import Column, Table
from ragways.core.text import counted, printable, shortened
from ragways.evaluation.statistics.inference import p_text

if TYPE_CHECKING:
    from ragways.evaluation.duel.figures import BoxPlot
    from ragways.evaluation.duel.result import DuelResult, PairResult
    from ragways.evaluation.duel.trials import DuelPlan

PLOT = 41
"""Columns of a box plot; odd, so that 0 has one of its own."""
NAME = 12
"""Characters of a paradigm's name at the side of a plot."""


def show_plan(plan: DuelPlan) -> None:
    """What a duel will take, on standard error, before anything is asked."""
    if plan.too_few:
        cure = "ask more questions, or go on with --anyway"
        console(error=True).print(f"nothing is asked: {plan.too_few}; {cure}", style="yellow", soft_wrap=True)
        return
    cost = "price unknown" if plan.usd is None else f"about ${plan.usd:,.2f}"
    tokens = f"{plan.usage.tokens / 1e6:,.1f} million tokens"
    text = f"{counted(plan.calls, 'call')} of the judge ({plan.selftest:,} to test it), {tokens}, {cost}"
    text += f"; at most {counted(plan.lengths, 'call')} to align lengths, not in the price" if plan.lengths else ""
    text += f"; {plan.known:,} replies are known already" if plan.known else ""
    console(error=True).print(text, markup=False, soft_wrap=True)


def show_duel(result: DuelResult) -> None:
    """The whole result; warnings on standard error."""
    out, rules = console(), result.rules
    out.print(
        f"judged by {printable(result.judge)}: {counted(result.questions, 'question')}, "
        f"{rules.trials} × {rules.samples} samples, both orders, mode {rules.mode}, ${result.usd:.4f}",
        markup=False,
    )
    show_table(test_table(result), compact=True)
    if any(pair.n for pair in result.pairs):
        show_table(pair_table(result.pairs), compact=True)
        for line in box_plots(result.pairs):
            out.print(line, markup=False, no_wrap=True)
        out.print()
        show_table(aspect_table(result.pairs), compact=True)
        if len(result.pairs) > 1:
            show_table(heat_map_table(result.pairs), compact=True)
    for pair in result.pairs:
        out.print(f"{printable(pair.a)} against {printable(pair.b)}: {printable(pair.words)}", markup=False)
        for line in counts_of(pair):
            out.print(line, style="dim", markup=False)
    for warning in result.warnings:
        console(error=True).print(f"warning: {printable(warning)}", style="yellow", markup=False, soft_wrap=True)


def test_table(result: DuelResult) -> Table:
    """The answer to the question must win against one to another question; words of either side alone are worth
    nothing: what the judge gives for them is taken off a lead.
    """
    test = result.test
    read = test.preferred + test.ties + test.other
    right = f"{_percent(test.preferred / read)} preferred" if read else None
    rows = [("right answers", "answers to other questions", right, "", f"{read:,} of {read + test.unscored:,}")]
    for pair in result.pairs:
        taste = pair.taste
        points = f"{taste.points:+.2f}\n{taste.low:+.1f} to {taste.high:+.1f}" if taste.read else None
        ours, theirs = (", ".join(some[:4]) or "–" for some in (taste.words_a, taste.words_b))
        read_of = f"{taste.read:,} of {taste.wanted:,}"
        rows.append(
            (f"{pair.a}: {ours}", f"{pair.b}: {theirs}", points, p_text(taste.p if taste.read else None), read_of)
        )
    heads = ("points\nof 20", "p", "read")
    return Table.of(
        ["words of", "against", *(Column(head, align="right") for head in heads)],
        rows,
        title=f"the judge's test: {'passed' if test.passed else 'NOT passed'}",
    )


def pair_table(pairs: Sequence[PairResult]) -> Table:
    """A row a pair: win rate, its spread, points, p and how many pairs of answers."""
    heads = (
        "median of trials\nquartiles", "mean\n95 % interval", "won/tied\n/lost", "points\nof 20", "p\n(Holm)",
        "pairs\nleft out",
    )  # fmt: skip
    return Table.of(
        [Column("first\nsecond"), *(Column(head, align="right") for head in heads)],
        [(f"{pair.a}\n{pair.b}", *_pair_cells(pair)) for pair in pairs],
        title="relative win rate of the first over the second, in points of 100",
    )


def _pair_cells(pair: PairResult) -> tuple[str | None, ...]:
    answers = f"{pair.judged:,}\n{sum(pair.left_out.values()):,}"
    if pair.box is None or pair.rate is None or pair.difference is None:
        return *[None] * 5, answers
    return (
        f"{100 * pair.box.median:+.1f}\n{100 * pair.box.first:+.0f} to {100 * pair.box.third:+.0f}",
        f"{100 * pair.rate:+.1f}\n{_interval(pair.low, pair.high)}",
        f"{pair.won:,}/{pair.tied:,}\n/{pair.lost:,}",
        f"{pair.difference:+.2f}",
        p_text(pair.adjusted),
        answers,
    )


def aspect_table(pairs: Sequence[PairResult]) -> Table:
    """A row a pair, a column an aspect: mean points of both, and who had more, round by round."""

    def cells(pair: PairResult) -> Iterator[str]:
        for aspect in pair.aspects:
            known = aspect.mean_a is not None and aspect.mean_b is not None
            means = f"{aspect.mean_a:.2f} : {aspect.mean_b:.2f}" if known else "–"
            yield f"{means}\n{aspect.won:,}/{aspect.tied:,}/{aspect.lost:,}"

    heads = [aspect.name.replace("hens", "-\nhens") for aspect in pairs[0].aspects]
    return Table.of(
        [Column("first\nsecond"), *(Column(head, align="right") for head in heads)],
        [(f"{pair.a}\n{pair.b}", *cells(pair)) for pair in pairs],
        title="aspects: mean points of 5; won/tied/lost rounds",
    )


def heat_map_table(pairs: Sequence[PairResult]) -> Table:
    """Every paradigm against every other: above 0 the row beats the column."""
    names = sorted({name for pair in pairs for name in (pair.a, pair.b)})
    cells = {key: _rate(*pair.seen_by(key[0])) for pair in pairs for key in ((pair.a, pair.b), (pair.b, pair.a))}
    return Table.of(
        [Column(""), *(Column(name, align="right") for name in names)],
        [(row, *(cells.get((row, column)) for column in names)) for row in names],
        title="relative win rate of the row over the column; * one of them won",
    )


def _rate(rate: float | None, outcome: str) -> str | None:
    won = "*" if outcome in ("win", "loss") else ""
    return None if rate is None else f"{100 * rate:+.1f}{won}"


def box_plots(pairs: Sequence[PairResult]) -> Iterator[str]:
    """Box plots under one scale: [ and ] the quartiles, | the median, - the whiskers, o outliers, : nobody ahead."""
    boxes = [(pair, pair.box) for pair in pairs if pair.box is not None]
    if not boxes:
        return
    widest = max(max(abs(v) for v in (box.low, box.high, *box.outliers)) for _, box in boxes)
    reach = max(0.1, math.ceil(10 * widest) / 10)
    for pair, box in boxes:
        yield f"{_short(pair.b):>{NAME}} {drawn(box, reach)} {_short(pair.a)}"
    low, high, half = f"{-100 * reach:+.0f}", f"{100 * reach:+.0f}", PLOT // 2
    yield f"{'':>{NAME}} {low:<{half}}0{high:>{half}}"


def drawn(box: BoxPlot, reach: float) -> str:
    """One box plot, from −reach to reach."""

    def at(value: float) -> int:
        return round((value + reach) / (2 * reach) * (PLOT - 1))

    row = [" "] * PLOT
    row[at(0.0)] = ":"
    for column in range(at(box.low), at(box.high) + 1):
        row[column] = "-"
    for column in range(at(box.first), at(box.third) + 1):
        row[column] = "="
    row[at(box.first)], row[at(box.third)] = "[", "]"
    row[at(box.median)] = "|"
    for value in box.outliers:
        row[at(value)] = "o"
    return "".join(row)


def counts_of(pair: PairResult) -> Iterator[str]:
    """What became of every pair of answers and every reply, a line each."""
    again = f"{pair.rewritten:,} written again by {', '.join(pair.writers)}" if pair.rewritten else "none written again"
    parts = [f"{pair.judged:,} judged ({printable(again)}, {pair.padded:,} padded)"]
    parts += [f"{count:,} lost because {printable(name)} failed" for name, count in pair.failed.items()]
    parts += [f"{count:,} left out: {why}" for why, count in sorted(pair.left_out.items())]
    parts += [f"{pair.not_aligned:,} not reached"] if pair.not_aligned else []
    yield f"  {pair.pairs:,} pairs: {'; '.join(parts)}"
    parts = [f"{pair.scored:,} scored", *(f"{count:,} {why}" for why, count in sorted(pair.unscored.items()))]
    if pair.scored:
        first, second = (_percent(count / pair.scored) for count in pair.preferred)
        parts.append(f"the first preferred {first}, the second {second}")
    if pair.identical:
        parts.append(f"{pair.identical:,} rounds of identical answers tied without a call")
    yield f"  {pair.replies:,} replies: {'; '.join(parts)}"
    if pair.anchored is None:
        yield f"  verdict {pair.basis}; people anchor it: ragways eval label RUN --about better"


def _interval(low: float | None, high: float | None) -> str:
    return "all alike" if low is None or high is None else f"{100 * low:+.0f} to {100 * high:+.0f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _short(name: str) -> str:
    return shortened(printable(name), NAME)
