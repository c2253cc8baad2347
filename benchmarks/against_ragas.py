"""Our judged metrics against those of ragas, where one scripted judge tells both the same.

    python -m benchmarks.against_ragas [--cases 40] [--seed 1] [--json]

Runs in an environment that has ragas (0.4.3, with langchain-community 0.4.1) and the packages of ragways. Each case
draws claims, verdicts and questions; both sides are told these, each in its own format, and what they make of them is
compared: the arithmetic, and what is asked about what, not the prompts.

ragas rounds factual correctness to two digits, and its recall is a / (a + g), where `a` are the claims of the answer
that are supported and `g` the gold claims that the answer lacks: two lists of different claims. Ours counts gold claims
alone. The two agree where both lists have equally many supported claims; where they do not, the figure of ragas is made
again from the verdicts that we keep.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.core.trace import Usage
from ragways.evaluation.judges import find_judge
from ragways.evaluation.judges.judge import JudgeResources
from ragways.evaluation.record import EvidenceItem, Record
from ragways.models.call import Call
from ragways.models.client import ModelClient
from ragways.testing.scripted import ScriptedModel

os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")

QUESTION, ANSWER, GOLD = "Which question was asked?", "This is the answer.", "This is the gold answer."
WORDS = ("who", "which", "built", "asked", "light", "question", "was", "by")


@dataclass(frozen=True)
class Case:
    """What the judge thinks: of each claim of the answer, whether the gold and the evidence support it; of each gold
    claim, whether answer and evidence do; of each piece, whether it is useful; and the questions it would write.
    """

    right: tuple[bool, ...]
    faithful: tuple[bool, ...]
    given: tuple[bool, ...]
    recalled: tuple[bool, ...]
    useful: tuple[bool, ...]
    questions: tuple[str, ...]
    noncommittal: bool

    @classmethod
    def draw(cls, dice: random.Random) -> Case:
        def some(count: int) -> tuple[bool, ...]:
            return tuple(dice.random() < 0.6 for _ in range(count))

        said, gold = dice.randint(1, 6), dice.randint(1, 6)
        words = [" ".join(dice.sample(WORDS, 4)) for _ in range(3)]
        return cls(some(said), some(said), some(gold), some(gold), some(dice.randint(1, 8)), tuple(words),
                   dice.random() < 0.1)  # fmt: skip

    def verdict(self, claim: str, against: str) -> bool:
        """Claims are called `said 1` or `gold 2`; evidence is what speaks of pieces."""
        kind, number = claim.split()
        found = "piece" in against
        lists = {("said", True): self.faithful, ("said", False): self.right,
                 ("gold", True): self.recalled, ("gold", False): self.given}  # fmt: skip
        return lists[kind, found][int(number) - 1]

    def claims(self, text: str) -> list[str]:
        kind, count = ("gold", len(self.given)) if text.strip() == GOLD else ("said", len(self.right))
        return [f"{kind} {n}" for n in range(1, count + 1)]

    @property
    def pieces(self) -> list[str]:
        return [f"piece {n}" for n in range(1, len(self.useful) + 1)]


class Words:
    """An embedder of both worlds: a text is the sum of its words, each a direction drawn by its letters."""

    name, parallel, dimension = "words", 1, 16

    def rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found = np.stack([np.sum([self._word(word) for word in text.lower().split()], axis=0) for text in texts])
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.rows(texts)

    async def tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return [self.rows(text.split()) for text in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def estimate(self, texts: Sequence[str]) -> Usage:  # noqa: ARG002 - the protocol's
        return Usage()

    async def aclose(self) -> None:
        """Nothing to close."""

    def embed_query(self, text: str) -> list[float]:
        return [float(one) for one in self.rows([text])[0]]

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def _word(self, word: str) -> NDArray[np.float64]:
        return np.random.default_rng(list(word.encode())).standard_normal(self.dimension)


async def ours(case: Case) -> dict[str, Any]:
    """Our figures, and the verdicts that those of factual correctness were made from."""

    def fences(call: Call) -> list[str]:
        parts = call.messages[-1].content.split("<<<data ")[1:]
        return [part.partition("\n")[2].rpartition("\ndata ")[0] for part in parts]

    def say(call: Call) -> object:
        first, *rest = fences(call)
        if call.schema_name == "judge_claims":
            return {"claims": case.claims(first)}
        if call.schema_name == "judge_useful":
            return {"why": "", "useful": case.useful[int(rest[0].split()[-1]) - 1]}
        if call.schema_name == "judge_questions":
            return {"noncommittal": case.noncommittal, "questions": case.questions}
        claims = [line.partition(". ")[2] for line in rest[0].splitlines()]
        return {"verdicts": [{"claim": n, "why": "", "supported": case.verdict(claim, first)}
                             for n, claim in enumerate(claims, start=1)]}  # fmt: skip

    record = Record(
        "q", QUESTION, "", (GOLD,), "naive", 0, ANSWER, evidence=tuple(EvidenceItem(text=one) for one in case.pieces)
    )
    resources = JudgeResources(ModelClient(ScriptedModel([say] * 1000)), Words())
    names = ("faithfulness", "context-recall", "context-precision", "context-precision-unreferenced",
             "answer-relevancy", "factual")  # fmt: skip
    scores = {
        name: score for judge in names for name, score in (await find_judge(judge).score(resources, record)).items()
    }
    supported = {name: [row["supported"] for row in scores[name].details["claims"]]
            for name in ("factual-precision", "factual-recall")}  # fmt: skip
    return {"values": {name: score.value for name, score in scores.items()}, "supported": supported}


class RagasJudge:
    """The same judge, in the format of ragas: it looks at which schema is asked for and at the last input."""

    def __init__(self, case: Case) -> None:
        self._case = case

    async def generate(self, prompt: Any, n: int = 1, **_: object) -> object:
        text = prompt.text
        data = json.loads(text.rpartition("\ninput: ")[2].rpartition("Output:")[0])
        schema = text.partition("as specified in JSON Schema:\n")[2].partition("Do not use single quotes")[0]
        title = json.loads(schema)["title"]
        said = [json.dumps(self._say(title, data, at)) for at in range(n)]
        return SimpleNamespace(generations=[[SimpleNamespace(text=one) for one in said]])

    def _say(self, title: str, data: dict[str, Any], at: int) -> object:
        case = self._case
        if title == "StatementGeneratorOutput":
            return {"statements": case.claims(data["answer"])}
        if title == "ClaimDecompositionOutput":
            return {"claims": case.claims(data["response"])}
        if title == "NLIStatementOutput":
            supported = [(claim, int(case.verdict(claim, data["context"]))) for claim in data["statements"]]
            return {
                "statements": [{"statement": claim, "reason": "", "verdict": verdict} for claim, verdict in supported]
            }
        if title == "Verification":
            return {"reason": "", "verdict": int(case.useful[int(data["context"].split()[-1]) - 1])}
        if title == "ContextRecallClassifications":
            supported = [(claim, int(case.verdict(claim, "piece"))) for claim in case.claims(data["answer"])]
            return {
                "classifications": [{"statement": claim, "reason": "", "attributed": one} for claim, one in supported]
            }
        if title == "ResponseRelevanceOutput":
            return {"question": case.questions[at], "noncommittal": int(case.noncommittal)}
        raise ValueError(title)


async def theirs(case: Case) -> dict[str, float]:
    metrics, schema = import_module("ragas.metrics"), import_module("ragas.dataset_schema")
    made = {
        "faithfulness": metrics.Faithfulness(),
        "context-recall": metrics.LLMContextRecall(),
        "context-precision": metrics.LLMContextPrecisionWithReference(),
        "context-precision-unreferenced": metrics.LLMContextPrecisionWithoutReference(),
        "answer-relevancy": metrics.ResponseRelevancy(),
        "factual-precision": metrics.FactualCorrectness(mode="precision"),
        "factual-recall": metrics.FactualCorrectness(mode="recall"),
    }
    sample = schema.SingleTurnSample(
        user_input=QUESTION, response=ANSWER, reference=GOLD, retrieved_contexts=case.pieces
    )
    found = {}
    for name, metric in made.items():
        metric.llm = RagasJudge(case)
        if hasattr(metric, "embeddings"):
            metric.embeddings = Words()
        found[name] = float(await metric.single_turn_ascore(sample))
    return found


async def compare(cases: int, seed: int) -> list[dict[str, Any]]:
    """A row a metric: the largest difference, and how many recalls had to be made again as ragas counts them."""
    dice = random.Random(seed)
    rows: dict[str, dict[str, Any]] = {}
    for _ in range(cases):
        case = Case.draw(dice)
        mine, other = await ours(case), await theirs(case)
        for name, value in other.items():
            row = rows.setdefault(name, {"metric": name, "cases": 0, "difference": 0.0, "counted_otherwise": 0})
            said, otherwise = _comparable(name, mine)
            row["cases"] += 1
            row["difference"] = max(row["difference"], abs(said - value))
            row["counted_otherwise"] += otherwise
    return list(rows.values())


def _comparable(name: str, mine: dict[str, Any]) -> tuple[float, bool]:
    """Our value as ragas rounds and counts it, and whether that is another count than ours."""
    value = mine["values"][name]
    if name == "factual-precision":
        return round(value, 2), False
    if name != "factual-recall":
        return value, False
    right, given = sum(mine["supported"]["factual-precision"]), mine["supported"]["factual-recall"]
    lacking = len(given) - sum(given)
    return round(right / (right + lacking + 1e-8), 2), right != sum(given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    rows = asyncio.run(compare(chosen.cases, chosen.seed))
    if chosen.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        note = f"  ({row['counted_otherwise']} counted as ragas does)" if row["counted_otherwise"] else ""
        print(f"{row['metric']:32} {row['cases']:4} cases, largest difference {row['difference']:.2e}{note}")


if __name__ == "__main__":
    main()
