"""Records, and a judge whose every reply is a function of the call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ragways.core.plain import from_plain
from ragways.core.trace import Usage
from ragways.evaluation.duel.entries import DuelRules, duel_entries
from ragways.evaluation.duel.replies import duel_judge
from ragways.evaluation.duel.result import DuelResult, duel_result
from ragways.evaluation.duel.trials import Trials
from ragways.evaluation.record import Record
from ragways.models.call import Call, Reply
from ragways.models.client import ModelClient

FENCED = re.compile(r"<<<data (\w+)\n(.*?)\ndata \1>>>", re.DOTALL)
NAMES = ("comprehensiveness", "relevance", "empowerment", "directness")


def record(paradigm: str, question: str = "q", answer: str = "An answer.", **changes: Any) -> Record:
    base: dict[str, Any] = {"text": f"What of {question}?", "type": "", "gold": (), "repeat": 0}
    return from_plain(Record, {**base, "question": question, "paradigm": paradigm, "answer": answer, **changes})


def points(*values: int) -> dict[str, int]:
    return dict(zip(NAMES, values, strict=True))


def both(first: int, second: int) -> dict[str, object]:
    return {"why": f"{first} beside {second}", "first": points(*[first] * 4), "second": points(*[second] * 4)}


def fences(call: Call) -> tuple[str, ...]:
    """What is fenced in the question as it was first asked."""
    asked = next(message.content for message in call.messages if message.role == "user")
    return tuple(text for _, text in FENCED.findall(asked))


class Says:
    """A model that says what the function makes of a call: a text, or an object to be sent as JSON."""

    base_url = ""

    def __init__(self, say: Callable[[Call], object], name: str = "judge") -> None:
        self.say, self.name = say, name
        self.calls: list[Call] = []

    async def send(self, call: Call) -> Reply:
        self.calls.append(call)
        said = self.say(call)
        if isinstance(said, BaseException):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)
        return Reply(text, usage=Usage(calls=1, input=10, output=5), model=self.name)

    async def aclose(self) -> None:
        pass


def worth(question: str, answer: str) -> int:
    """Points as the answer itself says of what was asked: "of 3 … 4 points"; without such words, 3; none where it is
    about another number than the question.
    """
    asked = re.search(r"\d+", question)
    number = asked[0] if asked else ""
    if found := re.search(rf"\b{number}\b.*?(\d) points", answer):
        return int(found[1])
    named = re.findall(r"\d+", re.sub(r"\d+ points", "", answer))
    return 0 if number and named and number not in named else 3


def marked(call: Call, most: int = 5) -> dict[str, object]:
    """A fair judge, who never gives more than `most`."""
    asked = next(message.content for message in call.messages if message.role == "user")
    question = next(line for line in asked.splitlines() if line.startswith("Question: "))
    first, second = fences(call)
    return both(min(most, worth(question, first)), min(most, worth(question, second)))


def apart(first: str, second: str) -> dict[str, object]:
    """Differences as a fair judge lists them: the answers, without what both begin with."""
    same = len(first) if second.startswith(first) else len(second) if first.startswith(second) else 0
    return {"first": [first[same:]] if first[same:] else [], "second": [second[same:]] if second[same:] else []}


async def fight(
    records: list[Record], folder: Path, judge: Says, rules: DuelRules, generator: Says | None = None, **named: Any
) -> DuelResult:
    entries = duel_entries(records, rules, **named)
    await Trials(ModelClient(judge), ModelClient(generator), folder, rules, at_once=4).run(entries)
    return duel_result(entries, folder, duel_judge(judge.name, rules.mode), rules)
