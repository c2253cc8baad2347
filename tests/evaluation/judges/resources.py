"""A record with everything a judge may need, a judge that always has an answer, and an embedder of known vectors."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.core.plain import from_plain
from ragways.core.trace import Usage
from ragways.evaluation.judges import find_judge
from ragways.evaluation.judges.judge import JudgeResources
from ragways.evaluation.record import Record, Score
from ragways.models.call import Call
from ragways.models.client import ModelClient
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes
from tests.models.model_fakes import MemoryCache

_FENCE = re.compile(r"<<<data (\w+)\n(.*?)\ndata \1>>>", re.DOTALL)
_NUMBERED = re.compile(r"^(\d+)\. ", re.MULTILINE)

PIECES: tuple[dict[str, Any], ...] = (
    {"id": "article:1:s0:p0:c0", "kind": "chunk", "title": "Ness Light", "date": "1912",
     "text": "Ness Light was built in 1912 by Ada Holm. It stands on a rock.", "score": 1.0},
    {"id": "article:2:s0:p0:c0", "kind": "chunk", "title": "Ada Holm",
     "text": "Ada Holm was born in Vik.", "score": 0.5},
    {"id": "article:3:s0:p0:c0", "kind": "chunk", "title": "Herring", "text": "Herring is a fish.", "score": 0.1},
)  # fmt: skip


def record(**changes) -> Record:
    base = {
        "question": "q1",
        "text": "Who built Ness Light?",
        "type": "factual",
        "gold": ("Ada Holm", "A. Holm"),
        "paradigm": "naive",
        "repeat": 0,
        "answer": "Ness Light was built by Ada Holm. [1] She was born in Vik. [2]",
        "wanted": ({"title": "Ness Light", "quote": "Ness Light was built in 1912 by Ada Holm."},),
        "ranks": (1,),
        "evidence": PIECES,
        "citations": (
            {"sentence": 0, "piece": PIECES[0]["id"], "document": "article:1", "start": 0, "end": 41,
             "quote": "Ness Light was built in 1912 by Ada Holm."},
            {"sentence": 1, "piece": PIECES[1]["id"], "document": "article:2", "start": 0, "end": 25,
             "quote": "Ada Holm was born in Vik."},
        ),
        "made": {"model": "gpt-4o-mini"},
    }  # fmt: skip
    return from_plain(Record, {**base, **changes})


def fenced(call: Call) -> list[str]:
    """What stands inside the fences of the message, in order."""
    return [match[2] for match in _FENCE.finditer(call.messages[-1].content)]


def outside(call: Call) -> str:
    """What the judge is told by us: all but the fenced texts."""
    return "\n".join(_FENCE.sub("", message.content) for message in call.messages)


def count(text: str) -> int:
    return len(_NUMBERED.findall(text))


def _claims(call: Call) -> object:
    return {"claims": [part.strip() for part in re.split(r"[.\n]", fenced(call)[0]) if part.strip()]}


def _verdicts(at: int) -> Callable[[Call], object]:
    def say(call: Call) -> object:
        numbers = range(1, count(fenced(call)[at]) + 1)
        return {"verdicts": [{"claim": n, "why": "so", "supported": n % 2 == 1} for n in numbers]}

    return say


def _matches(call: Call) -> object:
    claims, gold = (count(text) for text in fenced(call))
    return {
        "matches": [{"claim": n, "why": "so", "gold": [1] if n == 1 and gold else []} for n in range(1, claims + 1)]
    }


SAID: Mapping[str, Callable[[Call], object]] = {
    "judge_claims": _claims,
    "judge_support": _verdicts(1),
    "judge_citations": _verdicts(1),
    "judge_match": _matches,
    "judge_correct": lambda call: {"why": "so", "verdict": "correct"},
    "judge_useful": lambda call: {"why": "so", "useful": "Ness" in fenced(call)[1]},
    "judge_questions": lambda call: {"noncommittal": False, "questions": ["Who built it?", "Whose is it?", "By whom?"]},
}
"""What the agreeable judge says to each task: something valid, made from what it is shown."""


def agreeable(**changes: object) -> ScriptedModel:
    """Says `SAID`, with some lines changed, as often as it is asked."""
    lines = {**SAID, **changes}

    def say(call: Call) -> object:
        line = lines[call.schema_name]
        return line(call) if callable(line) else line

    return ScriptedModel([say] * 10_000, name="judge-1")


def resources(
    model: ScriptedModel | None = None, embedder: object | None = None, cache: bool = False
) -> JudgeResources:
    client = ModelClient(model, cache=MemoryCache() if cache else None)
    return JudgeResources(client, embedder or WordHashes())  # type: ignore[arg-type]


def scored(
    name: str, one: Record, model: ScriptedModel | None = None, embedder: object | None = None
) -> Mapping[str, Score]:
    return asyncio.run(find_judge(name).score(resources(model, embedder), one))  # type: ignore[arg-type]


def value(name: str, one: Record, model: ScriptedModel | None = None, embedder: object | None = None) -> float | None:
    return scored(name, one, model, embedder)[name].value


class KnownVectors:
    """An embedder that was told the vector of each word; a text is the mean of its words."""

    name, parallel, dimension = "told", 1, 3

    def __init__(self, words: Mapping[str, Sequence[float]]) -> None:
        self.words = {word: np.array(row, np.float32) for word, row in words.items()}
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        rows = np.stack([np.mean([self._row(word) for word in text.split()], axis=0) for text in texts])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)

    async def tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        self.asked += texts
        return [np.stack([self._row(word) for word in text.split()]) for text in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def estimate(self, texts: Sequence[str]) -> Usage:
        return Usage()

    async def aclose(self) -> None:
        pass

    def _row(self, word: str) -> NDArray[np.float32]:
        row = self.words[word.strip(".").lower()]
        return np.asarray(row / np.linalg.norm(row), np.float32)
