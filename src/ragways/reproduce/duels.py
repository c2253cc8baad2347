"""The duels of an experiment: unbiased, level by level of the questions, and beside them the procedure they replace.

The old one shows both answers in one order, as long as they are, once, and has the judge name a winner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ragways.core.errors import ModelRefused, UnusableReply
from ragways.core.log import Log
from ragways.core.runtime import Progress, ProgressCallback, in_turn
from ragways.evaluation.duel.entries import DuelEntries, DuelRules, aligned_pairs, pairs_of, text_hash
from ragways.evaluation.duel.figures import DuelFigures, duel_figures, rounds_of
from ragways.evaluation.duel.replies import DuelJudge, DuelReplies
from ragways.evaluation.record import Record
from ragways.evaluation.statistics.inference import interval
from ragways.models.client import ModelClient
from ragways.tasks.duel import DUEL_FORCED, DuelInput

FILE = "forced.jsonl"


@dataclass(frozen=True, slots=True)
class LevelDuel:
    """Two variants on the questions of one level; the figures are those of a duel, without a verdict of their own."""

    level: str
    a: str
    b: str
    figures: DuelFigures


def only(entries: DuelEntries, pairs: Iterable[tuple[str, str]]) -> DuelEntries:
    """The same answers, of which these pairs alone meet."""
    wanted = {frozenset(pair) for pair in pairs}
    names = [names for names in entries.pairs if frozenset(names) in wanted]
    return replace(
        entries,
        pairs={one: entries.pairs[one] for one in names},
        left_out={one: entries.left_out[one] for one in names},
    )


def duels_by_level(entries: DuelEntries, folder: Path, judge: DuelJudge, rules: DuelRules) -> Iterator[LevelDuel]:
    """From the replies that are there."""
    levels = {record.question: record.type for record in entries.records}
    replies = {one.key: one for one in DuelReplies(folder) if (one.judge, one.mode) == (judge.name, judge.mode)}
    for (a, b), aligned in aligned_pairs(entries, folder).items():
        for level in sorted(set(levels.values()) - {""}):
            some = [answers for answers in aligned if levels.get(answers.question) == level]
            if some:
                yield LevelDuel(level, a, b, duel_figures(rounds_of(some, entries.texts, judge, rules, replies)))


# The old procedure


@dataclass(frozen=True)
class ForcedVerdict:
    """Who won a question where `a` stood first and a winner had to be named; empty, and `why`, where none could be
    read. `shown` is the hash of the question and both answers.
    """

    question: str
    a: str
    b: str
    judge: str
    prompt: str
    shown: str
    winner: str = ""
    why: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        return self.question, self.a, self.b, self.judge, self.prompt, self.shown


@dataclass(frozen=True, slots=True)
class ForcedDuel:
    """How the old procedure sees two variants: wins of `a`, which stood first, and of `b`, and the share of a's among
    them with its 95 % interval. `unread` replies named no winner.
    """

    a: str
    b: str
    wins_a: int
    wins_b: int
    unread: int
    share: float | None
    low: float | None
    high: float | None


async def ask_forced(
    client: ModelClient,
    records: Sequence[Record],
    pairs: Sequence[tuple[str, str]],
    folder: Path,
    *,
    at_once: int,
    progress: ProgressCallback,
) -> tuple[ForcedDuel, ...]:
    """Have the judge compare each pair once a question, unless that is stored; the first of a pair stands first."""
    judge = client.model.name if client.model is not None else ""
    log, wanted = Log(folder / FILE, ForcedVerdict), dict(_verdicts(records, pairs, judge))
    known = {one.key: one for one in log} if log.exists() else {}
    missing = [(verdict, shown) for key, (verdict, shown) in wanted.items() if key not in known]
    done = 0

    async def one(verdict: ForcedVerdict, shown: DuelInput) -> None:
        nonlocal done
        try:
            first = (await client.do(DUEL_FORCED, shown)).value.winner == "first"
            verdict = replace(verdict, winner=verdict.a if first else verdict.b)
        except (UnusableReply, ModelRefused) as error:
            verdict = replace(verdict, why=str(error)[:200])
        log.append(verdict)
        known[verdict.key] = verdict
        done += 1
        progress(Progress("the old procedure", done, len(missing)))

    await in_turn((one(*each) for each in missing), at_once)
    return tuple(_forced(a, b, [known[key] for key in wanted if key[1:3] == (a, b)]) for a, b in pairs)


def _verdicts(
    records: Iterable[Record], pairs: Iterable[tuple[str, str]], judge: str
) -> Iterator[tuple[tuple[str, ...], tuple[ForcedVerdict, DuelInput]]]:
    every = list(records)
    for a, b in pairs:
        for pair in pairs_of(every, a, b, trials=1)[0]:
            if not all(pair.answers):
                continue
            shown = DuelInput(pair.a.text, *pair.answers)
            verdict = ForcedVerdict(
                pair.question, a, b, judge, DUEL_FORCED.text.hash, text_hash(pair.a.text, *pair.answers)
            )
            yield verdict.key, (verdict, shown)


def _forced(a: str, b: str, verdicts: Sequence[ForcedVerdict]) -> ForcedDuel:
    won = [float(one.winner == a) for one in verdicts if one.winner]
    low, high = interval(won, share=True)
    wins = int(sum(won))
    share = wins / len(won) if won else None
    return ForcedDuel(a, b, wins, len(won) - wins, len(verdicts) - len(won), share, low, high)


def published_rate(rates: Mapping[tuple[str, str], float], a: str, b: str) -> float | None:
    """The source's relative win rate of a over b, whichever it names first."""
    if (a, b) in rates:
        return rates[a, b]
    return 0.0 - rates[b, a] if (b, a) in rates else None
