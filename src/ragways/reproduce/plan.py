"""What an experiment asks of a model, and what that costs about, before anything is asked.

The index is planned as `ragways index --plan` does. Answers, judgements and duels are estimated by the settings of each
paradigm: as many calls as it makes at most, with as much evidence as its budget holds.
"""

from __future__ import annotations

import math
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragways.assemble import prices_of
from ragways.core.runtime import ProgressCallback, silent
from ragways.core.table import Column, Table
from ragways.core.trace import Usage
from ragways.evaluation.duel.replies import ORDERS, DuelReplies
from ragways.evaluation.judges import find_judge
from ragways.evaluation.judging import Judgements
from ragways.evaluation.record import Records
from ragways.index.open import Index
from ragways.index.plan import plan as plan_index
from ragways.reproduce.experiment import PublishedVariant
from ragways.reproduce.prepare import Prepared
from ragways.reproduce.tables import FINE_AGAIN
from ragways.retrieval.ask import PARADIGMS
from ragways.settings import RoleSettings, Settings

PROMPT, REPLY = 400, 200
"""Tokens of a prompt without its evidence, and of a reply."""
DUEL_PROMPT = 1_500
"""Tokens of two answers with the rules by which they get points."""
CONTROL, TASTE = 50, 160
"""Calls that test a judge, about: against wrong answers, and for its taste in each pair."""
OF_A_GENERATED_QUESTION = {"node": 1, "edge": 1, "subgraph": 2}
CALLS_OF_JUDGES = {
    "correct": 1, "crag": 3, "factual": 4, "answer-relevancy": 1, "faithfulness": 2, "context-recall": 2,
}  # fmt: skip
"""Calls for one answer. `PIECE_BY_PIECE` take one for each piece of evidence; judges in neither ask no model."""
PIECE_BY_PIECE = frozenset({"context-precision", "context-precision-unreferenced"})
PIECES_READ = {"correct": 0, "crag": 0, "factual": 0, "answer-relevancy": 0, **dict.fromkeys(PIECE_BY_PIECE, 1)}
"""Pieces of evidence that a call of a judge reads, where it does not read all."""
PIECE = 80
"""Tokens of a piece where chunks, relations and reports are mixed."""
AGENT, WALK = 45_000, 600
"""Tokens that an agent reads for an answer (those of source A), and those of a hop over windows."""


async def plan(ready: Prepared, progress: ProgressCallback = silent) -> Table:
    """A row for each part, with the calls and tokens that are left and their price; the last row is all of it."""
    settings = ready.settings
    index = await plan_index(settings.index, [ready.corpus], ready.recipe, progress=progress)
    size = _Size(index.chunks, index.tokens) if index.new + index.changed else _stored(settings.index)
    judging = settings.judge if settings.judge.name else settings.model
    sums = Usage(*(sum(getattr(layer, name) for layer in index.layers) for name in ("calls", "input", "output")))
    rows = [("index", sums, index.usd)]
    if settings.model.name:
        kept = (one for one in Records(ready.folder).here() if not (one.error or one.made.undone))
        done = Counter(record.paradigm for record in kept)
        rows.append(_priced("questions", _generated(ready, size), settings, settings.model))
        each = [_answers(one, ready, size, done[one.label]) for one in ready.variants]
        rows.append(_priced("answers", sum(each, Usage()), settings, settings.model))
    if judging.name:
        rows.append(_priced("judgements", _judgements(ready, size), settings, judging))
        rows.append(_priced("duels", _duels(ready), settings, judging))
    prices = [price for _, usage, price in rows if usage.calls]
    known = None if None in prices else sum(price or 0.0 for price in prices)
    rows.append(("all", sum((usage for _, usage, _ in rows), Usage()), known))
    return Table.of(
        ["part", Column("calls", align="right"), Column("tokens in", align="right", key="input"),
         Column("tokens out", align="right", key="output"), Column("USD, about", ",.2f", "right", "usd")],
        [(name, usage.calls, usage.input, usage.output, price) for name, usage, price in rows],
        notes=["about, and without what is known already: the number of reports and of pieces of evidence is estimated",
               "USD is missing where the price of a model is unknown: set it under [prices]"],
        name="plan",
    )  # fmt: skip


def _priced(name: str, usage: Usage, settings: Settings, by: RoleSettings) -> tuple[str, Usage, float | None]:
    return name, usage, prices_of(settings).of(usage, by.name, by.base_url) if usage.calls else 0.0


@dataclass(frozen=True, slots=True)
class _Size:
    chunks: int
    tokens: int

    @property
    def each(self) -> int:
        """Tokens of a chunk."""
        return self.tokens // max(1, self.chunks)


def _stored(folder: Path) -> _Size:
    with closing(Index.open(folder)) as index:
        [row] = index.store.db.execute("SELECT count(*), coalesce(sum(tokens), 0) FROM chunks")
        return _Size(*row)


def _questions(ready: Prepared) -> int:
    return len(ready.questions) or min(sum(ready.kinds.values()), ready.limit or 10**9)


def _generated(ready: Prepared, size: _Size) -> Usage:
    kinds = {} if ready.questions_file.is_file() else ready.kinds
    calls = sum(OF_A_GENERATED_QUESTION.get(kind, 1) * count for kind, count in kinds.items())
    return Usage(calls=calls, input=calls * (PROMPT + 8 * size.each), output=calls * REPLY)


def _answers(variant: PublishedVariant, ready: Prepared, size: _Size, done: int) -> Usage:
    calls, tokens = _answer(variant, size)
    left = max(0, _questions(ready) * ready.repeats - done)
    return Usage(calls=left * calls, input=left * (calls * PROMPT + tokens), output=left * calls * REPLY)


def _answer(variant: PublishedVariant, size: _Size) -> tuple[int, int]:
    """The calls of one answer at most, and the tokens of evidence that they read together."""
    settings: dict[str, Any] = {**PARADIGMS.find(variant.paradigm).settings, **variant.settings}
    budget, k, rounds = (settings.get(name) or other for name, other in (("tokens", 8000), ("k", 100), ("rounds", 10)))
    shown = min(budget, k * size.each)
    read = settings.get("reports") or size.tokens  # a level of reports has about as many tokens as the corpus
    own = {
        "llm-only": (1, 0),
        "naive": (1, shown),
        "community-local": (1, shown),
        "community-global": (math.ceil(read / settings.get("batch", 1)) + 1, read + budget),
        "recursive": (rounds, rounds * min(budget, rounds * shown)),
        "iterative": (
            2 * rounds + (1 if settings.get("memory") else -1) + rounds * (settings.get("base") != "naive"),
            2 * rounds * budget,
        ),
        "agent-vector": (rounds + 1, AGENT),
        "agent-graph": (rounds + 1, AGENT),
        "llm-guided": (settings.get("hops", 0) + 1, settings.get("hops", 0) * WALK + WALK),
    }
    others = (1, WALK) if PARADIGMS.find(variant.paradigm).source == "W" else (2, shown)
    return own.get(variant.paradigm, others)


def _judgements(ready: Prepared, size: _Size) -> Usage:
    answers = _questions(ready) * ready.repeats * len(ready.variants)
    known = Counter(key[-1] for key in Judgements(ready.folder).latest())
    judges = {column.judge: find_judge(column.judge).metrics[0].name for column in ready.columns if column.judge}
    each = CALLS_OF_JUDGES | dict.fromkeys(PIECE_BY_PIECE, sum(map(_pieces, ready.variants)) / len(ready.variants))
    wanted = [(name, known[metric]) for name, metric in judges.items() if name in each]
    if ready.experiment.crag_twice and "crag" in judges:
        wanted.append(("crag", known[FINE_AGAIN]))
    total = Usage()
    for name, done in wanted:
        calls, pieces = round(max(0, answers - done) * each[name]), PIECES_READ.get(name, 8)
        total += Usage(calls=calls, input=calls * (PROMPT + pieces * size.each), output=calls * REPLY)
    return total


def _pieces(variant: PublishedVariant) -> int:
    """Pieces of evidence of an answer."""
    settings: dict[str, Any] = {**PARADIGMS.find(variant.paradigm).settings, **variant.settings}
    k: int = settings.get("k") or settings.get("max_sentences") or 10
    own: dict[str, int] = {
        "kg": k + settings.get("triplets", 0),
        "recursive": k * settings.get("rounds", 1),
        "community-local": settings.get("tokens", 0) // PIECE,
        "community-global": 1,
    }
    return own.get(variant.paradigm, k)


def _duels(ready: Prepared) -> Usage:
    if not ready.pairs:
        return Usage()
    rules, answers = ready.rules, len(ready.pairs) * _questions(ready)
    known = sum(reply.points is not None for reply in DuelReplies(ready.folder))
    scored = answers * rules.trials * rules.samples * len(ORDERS) + CONTROL + TASTE * len(ready.pairs)
    calls = max(0, scored - known) + answers
    return Usage(calls=calls, input=calls * DUEL_PROMPT, output=calls * REPLY)
