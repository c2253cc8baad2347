"""What an agent has seen so far: every call of a tool with its outcome, and the pieces of documents in them."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ragways.core.gather import together
from ragways.core.trace import span
from ragways.core.types import Found, Hit, Hits, Piece, Query, ranked
from ragways.models.bound import count_text
from ragways.models.call import ToolCall
from ragways.modules.agent_tools import Outcome, Tools
from ragways.modules.resources import Resources

AT_ONCE = 8
"""Calls in one round; those past it are not made, and the agent is told so."""
_SHOWN = 300


class Notes:
    """Runs calls. The same call again is answered from here."""

    def __init__(self, use: Resources, tools: Tools) -> None:
        self._use = use
        self._tools = tools
        self._outcomes: dict[tuple[str, str], asyncio.Task[Outcome]] = {}
        self._pieces: dict[str, tuple[Piece, str]] = {}
        self.calls: Counter[str] = Counter()
        self.repeated = 0
        self.tokens = 0

    async def run(self, calls: Sequence[ToolCall]) -> list[Outcome]:
        """The calls of one round, side by side; outcomes in their order."""
        outcomes = await together(self._one(at, call) for at, call in enumerate(calls))
        for call, outcome in zip(calls, outcomes, strict=True):
            self.tokens += count_text(outcome.text)
            for piece in outcome.pieces:
                self._keep(piece, call.name)
        return outcomes

    async def _one(self, at: int, call: ToolCall) -> Outcome:
        if at >= AT_ONCE:
            return Outcome(f'{{"error": "at most {AT_ONCE} calls in one round; ask again in the next"}}', failed=True)
        key = (call.name, _canonical(call.arguments))
        name = call.name if call.name in self._tools.names else "unknown"
        with span(f"tool {name}", arguments=call.arguments[:_SHOWN]) as here:
            if key in self._outcomes:
                self.repeated += 1
                here.details["repeated"] = True
            else:
                self.calls[name] += 1
                self._outcomes[key] = asyncio.ensure_future(self._tools.run(call.name, call.arguments))
            outcome = await self._outcomes[key]
            here.details["quoted"] = len(outcome.pieces)
            if outcome.failed:
                here.details["said"] = outcome.text[:_SHOWN]
            return outcome

    def _keep(self, piece: Piece, by: str) -> None:
        """A paragraph seen in several parts is one piece that spans them."""
        known = self._pieces.get(piece.id)
        if known is None:
            self._pieces[piece.id] = piece, by
            return
        old, by = known
        start, end = min(old.start, piece.start), max(old.end, piece.end)
        if (start, end) != (old.start, old.end):
            text = self._use.index.text(old.document, start, end)
            self._pieces[piece.id] = replace(old, start=start, end=end, text=text, tokens=count_text(text)), by

    def found(self) -> str:
        """All outcomes, for the last step."""
        texts = [task.result().text for task in self._outcomes.values() if task.done() and not task.cancelled()]
        return "\n".join(texts) or "nothing"

    def hits(self, query: Query, references: Iterable[str] = ()) -> Hits:
        """The pieces: those of the articles that the answer names, then the others, each in the order it was seen."""
        named = set(references)
        order = sorted(self._pieces.values(), key=lambda kept: kept[0].document not in named)
        return ranked(
            query, (Hit(piece, 1 / n, (Found(by, n, 1 / n),)) for n, (piece, by) in enumerate(order, start=1))
        )


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
