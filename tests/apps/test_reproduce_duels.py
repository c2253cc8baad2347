"""Duels of a source again: by level of the questions, and beside the old procedure, whose winner stands first."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from ragways.core.runtime import silent
from ragways.evaluation.duel.entries import DuelRules, duel_entries
from ragways.evaluation.duel.replies import duel_judge
from ragways.evaluation.record import Record
from ragways.models.client import ModelClient
from ragways.reproduce.duels import ForcedDuel, ask_forced, duels_by_level, published_rate
from tests.evaluation.duel.duel_fakes import Says, fences, fight, marked, record

RULES = DuelRules(trials=2, samples=1)
LEVELS = ("node", "edge", "subgraph")


def records(count: int = 12) -> list[Record]:
    """`x` is better on node questions, `y` on subgraph ones, and on edge ones both are alike."""
    return [
        record(name, f"q{n}", f"Answer {n} of {points} points.", type=level)
        for n in range(count)
        for level in (LEVELS[n % 3],)
        for name, points in (("x", 4 if level == "node" else 3), ("y", 4 if level == "subgraph" else 3))
    ]


def test_each_level_has_figures_of_its_own(tmp_path: Path):
    some = records()
    whole = asyncio.run(fight(some, tmp_path, Says(marked), RULES))
    found = {
        one.level: one
        for one in duels_by_level(duel_entries(some, RULES), tmp_path, duel_judge("judge", "whole"), RULES)
    }
    assert set(found) == set(LEVELS)
    assert {(one.a, one.b, one.figures.n) for one in found.values()} == {("x", "y", 4)}
    assert [found[level].figures.rate for level in LEVELS] == [1.0, 0.0, -1.0]
    assert whole.pairs[0].rate == 0.0


def forced(some: list[Record], names: list[str], folder: Path, judge: Says) -> tuple[ForcedDuel, ...]:
    return asyncio.run(ask_forced(ModelClient(judge), some, [(names[0], names[1])], folder, at_once=4, progress=silent))


def always(side: str) -> dict[str, str]:
    return dict.fromkeys(("comprehensiveness", "diversity", "empowerment", "directness", "winner"), side)


def test_the_old_procedure_lets_whoever_stands_first_win_and_is_asked_once(tmp_path: Path):
    """The same answers, the same judge: only who is named first has changed."""
    some = records()
    judge = Says(lambda call: always("first"))
    (found,) = forced(some, ["x", "y"], tmp_path, judge)
    assert (found.a, found.wins_a, found.wins_b, found.unread, found.share) == ("x", 12, 0, 0, 1.0)
    assert found.low is not None
    assert 0.7 < found.low < 1
    assert len(judge.calls) == 12
    assert fences(judge.calls[0])[0].startswith("Answer 0 of 4 points"), "x stands first"
    assert forced(some, ["x", "y"], tmp_path, Says(lambda call: AssertionError("asked again"))) == (found,)
    (turned,) = forced(some, ["y", "x"], tmp_path, judge)
    assert (turned.a, turned.wins_a) == ("y", 12)
    changed = [replace(one, answer=f"{one.answer} Indeed.") if one.question == "q3" else one for one in some]
    forced(changed, ["x", "y"], tmp_path, judge)
    assert len(judge.calls) == 12 + 12 + 1, "an answer that is another is judged anew"


def test_a_reply_without_a_winner_is_counted_and_no_win(tmp_path: Path):
    (found,) = forced(records(3), ["x", "y"], tmp_path, Says(lambda call: "both are fine"))
    assert (found.wins_a, found.wins_b, found.unread, found.share) == (0, 0, 3, None)


def test_a_published_rate_is_read_either_way():
    rates = {("FGRAG", "LightRAG"): 0.21}
    assert published_rate(rates, "FGRAG", "LightRAG") == 0.21
    assert published_rate(rates, "LightRAG", "FGRAG") == -0.21
    assert published_rate(rates, "FGRAG", "NaiveRAG") is None
