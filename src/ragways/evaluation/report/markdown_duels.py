"""Duels in Markdown: who won against whom, how the trials spread, and what could not be judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragways.evaluation.report.markdown_text import counted, said, table


def duels(data: Mapping[str, Any]) -> Iterator[str]:
    for duel in data.get("duels", ()):
        test, map_ = duel["selftest"], duel["map"]
        yield f"## Duels in {said(duel['run'])}, judged by {said(duel['judge']) or 'no model'}"
        yield ""
        yield "The judge passed its own test." if test["passed"] else f"No verdict: {said(test['why'])}."
        yield from (f"Warning: {said(warning)}." for warning in duel["warnings"])
        yield ""
        yield "Relative win rate of the row over the column:"
        yield ""
        yield from table(
            ["", *map(said, map_["names"])],
            ([said(name), *(_cell(rate, outcome) for rate, outcome in zip(rates, outcomes, strict=True))]
             for name, rates, outcomes in zip(map_["names"], map_["rates"], map_["outcomes"], strict=True)),
        )  # fmt: skip
        heads = ["first", "second", "verdict", "median of the trials", "quartiles", "outliers", "judged", "left out"]
        yield from table(heads, map(_fought, duel["pairs"]))


def _cell(rate: float | None, outcome: str | None) -> str:
    if outcome is None:
        return "·"
    return "no verdict" if outcome == "no verdict" or rate is None else f"{rate:+.0%} {outcome}"


def _fought(pair: Mapping[str, Any]) -> list[str]:
    box, spread = pair["box"], ["–"] * 3
    if box is not None:
        spread = [f"{box['median']:+.0%}", f"{box['first']:+.0%} to {box['third']:+.0%}", f"{len(box['outliers'])}"]
    return [said(pair["a"]), said(pair["b"]), said(pair["verdict"]["words"]), *spread,
            f"{pair['judged']:,} of {pair['pairs']:,}", counted(pair["left_out"])]  # fmt: skip
