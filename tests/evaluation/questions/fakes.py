"""What tests of generated questions share: small corpora, resources, and a model with a line for each task."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ragways.core.trace import Usage
from ragways.evaluation.questions.generate import GeneratedSet, generate
from ragways.index.build import build
from ragways.index.open import Index
from ragways.models.call import Call, Reply
from ragways.models.client import ModelClient
from ragways.retrieval.resources import Resources
from tests.fakes import WordHashes, recipe, write

Lines = Mapping[str, object]


class ModelByTask:
    """A model with a line for each task: a text, a dict, or a function of the call. `calls` is what it was asked."""

    name = "by-task"
    base_url = ""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.calls: list[Call] = []

    async def send(self, call: Call) -> Reply:
        self.calls.append(call)
        line = self.lines[call.schema_name]
        said = line(call) if callable(line) else line
        text = said if isinstance(said, str) else json.dumps(said)
        return Reply(text, usage=Usage(calls=1, input=10, output=10), model=self.name)

    async def aclose(self) -> None:
        pass


def asked(call: Call, **changes: object) -> dict[str, object]:
    """A question on what was shown, resting on its first two passages; the answer is how the first of them ends."""
    passages = [n for n in (1, 2) if n <= len(shown(call))]
    return {"question": "Which tower was lit?", "answer": ending(call), "passages": passages, **changes}


def uncited(call: Call) -> dict[str, object]:
    return {"question": "Which tower was lit?", "answer": ending(call)}


def shown(call: Call) -> list[str]:
    """The passages in a call, which stand last in it."""
    told = next(m.content for m in reversed(call.messages) if "<<<data " in m.content)
    data = told.rsplit("<<<data ", 1)[1].split("\n", 1)[1].rsplit("\ndata ", 1)[0]
    return [passage.split("\n", 1)[-1] for passage in re.split(r"(?:^|\n\n)\[\d+\] ", data) if passage]


def ending(call: Call) -> str:
    return " ".join(shown(call)[0].split()[-3:])


def grounded_from(count: int) -> Callable[[Call], str]:
    """A reader that finds the answer in so many passages, in fewer none, and none to what has none."""

    def answer(call: Call) -> str:
        asked = fenced(call, "Question:")
        return NO if "painted blue" in asked or len(shown(call)) < count else ending(call)

    return answer


NO = "Insufficient information"
REPLIES: dict[str, object] = {
    "question_factual": uncited,
    "question_reasoning": uncited,
    "question_summary": lambda call: asked(call, same=True, question=f"What became of {entity_of(call)}?"),
    "question_structure": asked,
    "question_digest": "A tower was lit.",
    "question_context": asked,
    "question_evolved": asked,
    "question_unanswerable": lambda call: {"question": f"When was {other_of(call)} painted blue?"},
    "question_grounded": grounded_from(1),
    "question_closed": NO,
    "question_same": {"same": True},
}
"""Of a model that writes the same question again and again, and finds it good."""


def fenced(call: Call, after: str) -> str:
    """The data that stands after a line of the user's message."""
    text = call.messages[-1].content.split(after, 1)[1]
    return text.split("<<<data ", 1)[1].split("\n", 1)[1].split("\ndata ", 1)[0]


def entity_of(call: Call) -> str:
    return fenced(call, "Entity:")


def other_of(call: Call) -> str:
    said = fenced(call, "The other entity:")
    return "the harbour" if said == "(none)" else said


def resources(index: Index, model: Any = None, **client: Any) -> Resources:
    return Resources(index, WordHashes(), ModelClient(model, **client), threshold=0.0)


def made(index: Index, model: Any = None, **settings: Any) -> GeneratedSet:
    return asyncio.run(generate(resources(index, model), **settings))


def indexed(folder: Path, texts: dict[str, str], layers: frozenset[str], settings: Any = None) -> Index:
    corpus = write(folder / "corpus", texts)
    asyncio.run(build(folder / "index", [corpus], recipe(WordHashes(), settings, layers=layers)))
    return Index.open(folder / "index")
