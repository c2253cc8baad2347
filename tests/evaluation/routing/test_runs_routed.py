"""From runs of a scripted model whose quality by arm and type is known, to a router that finds what is best by type."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import numpy as np
import pytest

from ragways.core.types import content_hash
from ragways.evaluation.question import Question
from ragways.evaluation.routing.evaluate import ROUTER, evaluate_router
from ragways.evaluation.routing.fit import fit
from ragways.evaluation.routing.outcomes import gather
from ragways.evaluation.run import Variant, evaluate
from ragways.index.build import build
from ragways.index.open import Index
from ragways.models.client import ModelClient
from ragways.retrieval.resources import Resources
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes, recipe, write

RIGHT = {("factual", 1): 0.9, ("factual", 3): 0.4, ("bridge", 1): 0.1, ("bridge", 3): 0.8}
"""How often the model is right, by the type of the question and the number of passages that it is shown."""
QUESTIONS = [
    Question(f"{type}{n}", f"{words} light number {n}?", ("Anna Brack",), type)
    for n in range(25)
    for type, words in (("factual", "Who built"), ("bridge", "Where was the father born of whoever built"))
]


def luck(*parts: object) -> float:
    return int(content_hash(*map(str, parts))[:8], 16) / 16**8


def reply(call) -> str:
    """Right as often as `RIGHT` says; which question and which arm it is, the prompt tells."""
    text = call.messages[-1].content
    shown = len(re.findall(r"^\[\d+\]", text, re.MULTILINE))
    question = text.rsplit("Question: ", 1)[1].strip()
    type = "bridge" if "father" in question else "factual"
    name = "Anna Brack" if luck(question, shown) < RIGHT[type, shown] else "Tom Hale"
    return f"It was {name}. [1]"


FEATURES = {
    one.text: {
        "question.words": float(len(one.text.split())),
        "question.digits": float(len(re.findall(r"\d", one.text))),
    }
    for one in QUESTIONS
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("routed")
    texts = {
        "Harbour.md": "# Harbour\n\nThe first light stood at the harbour; a mason built it of granite in 1801.\n",
        "Island.md": "# Island\n\nOn the island sheep graze around a light, which the navy built after two wrecks.\n",
        "Reef.md": "# Reef\n\nNobody ever built on the reef, though a floating light was moored there each winter.\n",
        "Tower.md": "# Tower\n\nThe tower lost its light to a storm and was built again with bricks from a mill.\n",
    }
    docs = write(folder / "docs", texts)
    asyncio.run(build(folder / "index", [docs], recipe(WordHashes())))
    variants = [Variant(f"words[k={k}]", "words", {"k": k}) for k in (1, 3)]

    async def ask() -> None:
        index = Index.open(folder / "index")
        try:
            with ScriptedModel([reply] * (len(QUESTIONS) * len(variants))) as model:
                use = Resources(index, WordHashes(), ModelClient(model))
                await evaluate(use, QUESTIONS, variants, folder / "run")
        finally:
            index.close()

    asyncio.run(ask())
    return folder / "run"


def test_the_router_takes_the_arm_that_is_best_by_type(run: Path):
    outcomes = gather([run], quality="accuracy", features=FEATURES)
    assert outcomes.arms == ("words[k=1]", "words[k=3]")
    assert (outcomes.costs["tokens"][:, 1] > outcomes.costs["tokens"][:, 0]).all()
    router = fit(outcomes)
    assert router.guard.passed
    assert router.model == "scripted"
    taken = {(question.type, router.decide(FEATURES[question.text]).arm) for question in QUESTIONS}
    assert taken == {("factual", "words[k=1]"), ("bridge", "words[k=3]")}


def test_its_evaluation_nears_the_known_optimum(run: Path):
    found = evaluate_router(gather([run], quality="accuracy", features=FEATURES))
    known = np.array([[RIGHT[type, k] for k in (1, 3)] for type in ("factual", "bridge")])
    best = float(known.max(axis=1).mean())
    # 50 answers: the standard error of their share of right ones is 5 points.
    assert found.policies.cell("quality", policy=ROUTER, corpus="") == pytest.approx(best, abs=0.1)
    assert found.policies.cell("low", policy=ROUTER, corpus="") > 0
    assert found.closed is not None
    assert found.closed > 0.5
