"""What tests of generated questions share: small corpora, resources, and a model with a line for each task."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragways.core.trace import Usage
from ragways.evaluation.questions.generate import GeneratedSet, generate
from ragways.index.build import build
from ragways.index.reader import Index
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


ASKED = {"question": "Which tower was lit?", "answer": "The fourth tower", "passages": [1, 2]}
REPLIES: dict[str, object] = {
    "question_factual": ASKED,
    "question_reasoning": ASKED,
    "question_summary": lambda call: {**ASKED, "same": True, "question": f"What became of {entity_of(call)}?"},
    "question_structure": {**ASKED, "passages": [1]},
    "question_digest": "A tower was lit.",
    "question_context": {**ASKED, "passages": [1]},
    "question_evolved": {**ASKED, "passages": [1]},
    "question_unanswerable": lambda call: {"question": f"When was {other_of(call)} painted blue?"},
    "question_grounded": lambda call: grounded(call),
    "question_closed": "Insufficient information",
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


def grounded(call: Call) -> str:
    """The answer from all of the support, and none from a part of it or to what has none."""
    asked, passages = fenced(call, "Question:"), fenced(call, "Passages:")
    many = passages.count("\n\n[") + passages.startswith("[")
    return "Insufficient information" if "painted blue" in asked or many < 2 else "The fourth tower"


def resources(index: Index, model: Any = None, **client: Any) -> Resources:
    return Resources(index, WordHashes(), ModelClient(model, **client), threshold=0.0)


def made(index: Index, model: Any = None, **settings: Any) -> GeneratedSet:
    return asyncio.run(generate(resources(index, model), **settings))


def indexed(folder: Path, texts: dict[str, str], layers: frozenset[str]) -> Index:
    corpus = write(folder / "corpus", texts)
    asyncio.run(build(folder / "index", [corpus], recipe(WordHashes(), layers=layers)))
    return Index.open(folder / "index")
