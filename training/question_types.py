"""Fits the weights of question types, `src/ragways/reading/question_type.json`.

    python -m training.question_types --data SETS [--out FILE] [--seed 0]

SETS holds the published sets in their folders (`training/README.md`), of which any may be missing, and `training` with
questions over single texts. Added are the bundled demo's questions, those generated on it, and those in our own
wordings (`question_wordings.py`). Only the half `choose` of each is learnt from. Takes about a minute; the same data
and seed give the same bytes.
"""

# ruff: noqa: E402
from __future__ import annotations

from ragways.core.runtime import limit_threads

limit_threads()  # before numpy is there

import argparse
import asyncio
import json
import lzma
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from ragways.assemble import opened, recipe_of
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.questions.generate import generate
from ragways.index.build import build
from ragways.reading.question_type import (
    FORMAT,
    FORMS,
    SIGNS,
    SIZES,
    TYPES,
    WEIGHTS_FILE,
    QuestionType,
    TypeWeights,
    features,
)
from ragways.settings import read_settings
from training.data import half_of
from training.question_wordings import written

Floats = NDArray[np.float64]
PUBLISHED: Mapping[str, tuple[str, str, Mapping[str, QuestionType]]] = {
    "musique": ("hipporag", "questions.json.gz", {"2hop": "bridge", "3hop": "bridge", "4hop": "bridge"}),
    "hotpotqa": ("hipporag", "questions.json.gz", {"bridge": "bridge", "comparison": "comparison"}),
    "2wiki-dev400": (
        "hipporag",
        "questions.jsonl.gz",
        {"compositional": "bridge", "bridge": "bridge", "comparison": "comparison", "bridge_comparison": "comparison"},
    ),
    "multihop-rag": (
        "multihop-rag",
        "MultiHopRAG-even.json.gz",
        {"inference": "bridge", "comparison": "comparison", "temporal": "temporal", "null": "unanswerable"},
    ),
    "graphrag-bench": (
        "graphrag-bench",
        "medical_questions.json.gz",
        {"Fact Retrieval": "factual", "Complex Reasoning": "bridge", "Contextual Summarize": "summary"},
    ),
    "squality": ("squality", "dev.jsonl.gz", {"plot": "summary", "detail": "summary"}),
    "windows": (
        "windows",
        "50qa.csv.gz",
        {"multi-context": "bridge", "reasoning": "bridge", "comparative": "comparison"},
    ),
}
"""Of each set: its layout, its file, and the type that each of its own kinds is. Other kinds are left out."""
OWN: Mapping[str, QuestionType] = {
    "factual": "factual", "native": "factual", "node": "factual", "reasoning-2": "bridge", "reasoning-3": "bridge",
    "edge": "bridge", "subgraph": "bridge", "comparison": "comparison", "temporal": "temporal", "summary": "summary",
}  # fmt: skip
"""Kinds of the demo's questions and of generated ones. Those without an answer are made to look as if they had one."""
SINGLE = ("shifts_new_wiki", "xquad", "nq", "qed", "disfl", "fairytale")
EACH = 400
"""Questions of each set over single texts, evenly spaced, and of each kind generated on the demo."""
SHARE: Mapping[QuestionType, float] = {"factual": 2.0, "bridge": 2.0, "unanswerable": 0.5}
"""How much a type counts in all, where it is not 1. Sets of a type count by the root of their size."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A question of a set with its type. Sets of one `family` are left out of training together."""

    id: str
    text: str
    type: QuestionType
    set: str
    family: str

    @property
    def half(self) -> str:
        return half_of(self.id)


def gathered(data: Path, seed: int) -> list[Typed]:
    """All questions whose type is known, of all halves."""
    found = []
    for name, (layout, file, kinds) in PUBLISHED.items():
        if (data / name / file).is_file():
            questions = load_questions(layout, data / name / file)
            found += [
                Typed(each.id, each.text, kinds[each.type], name, name) for each in questions if each.type in kinds
            ]
    found += _single(data / "training" / "questions.jsonl.xz")
    with resources.as_file(resources.files("ragways") / "demo") as demo:
        bundled = load_questions("plain", demo / "questions.jsonl")
        found += [Typed(each.id, each.text, OWN[each.type], "demo", "demo") for each in bundled if each.type in OWN]
        found += asyncio.run(_generated(demo / "corpus", seed))
    found += [Typed(wording, text, type, "our wordings", "our wordings") for wording, text, type in written(seed)]
    return found


def _single(file: Path) -> list[Typed]:
    if not file.is_file():
        return []
    by_source = defaultdict[str, dict[str, None]](dict)
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for said in map(json.loads, lines):
            by_source[said["from"]][said["q"]] = None
    found = []
    for source in SINGLE:
        texts = list(by_source[source])
        kept = texts[:: max(1, len(texts) // EACH)][:EACH]
        found += [Typed(text, text, "factual", "single texts", "single texts") for text in kept]
    return found


async def _generated(corpus: Path, seed: int) -> list[Typed]:
    """Questions that ragways makes itself on the bundled demo."""
    with TemporaryDirectory() as folder:
        settings = read_settings(index=Path(folder) / "index")
        await build(settings.index, [corpus], recipe_of(settings, frozenset({"vectors", "words", "graph", "windows"})))
        async with opened(settings) as use:
            made = await generate(use, kinds=OWN.keys() - {"temporal"}, count=EACH, seed=seed, without_model=True)
    return [
        Typed(each.text, each.text, OWN[each.type], "generated", "demo") for each in made.questions if each.type in OWN
    ]


# The fit


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen on the halves `choose` alone, each family left out in turn and by two folds: in how many
    families a word must occur and how often, how many words and pairs are kept, and the penalties on the weights of
    signs and of words. None of it matters much: a third or three times of each is about a point.
    """

    families: int = 3
    least: int = 4
    most: int = 1200
    signs: float = 0.0006
    words: float = 0.002


def fit(rows: Sequence[Typed], choice: Choice | None = None) -> TypeWeights:
    """The weights that make the types of these questions likely: a softmax with a penalty on large weights."""
    choice = choice or Choice()
    found = [features(row.text) for row in rows]
    plain = [*FORMS, *SIGNS, *SIZES]
    names = plain + vocabulary(rows, found, choice)
    places = {name: at for at, name in enumerate(names)}
    known = np.zeros((len(rows), len(names) + 1))
    for at, each in enumerate(found):
        for name, value in each.items():
            if name in places:
                known[at, places[name]] = value
    known[:, -1] = 1
    is_type = np.array([[row.type == type for type in TYPES] for row in rows], dtype=float)
    penalty = np.array([choice.signs] * len(plain) + [choice.words] * (len(names) - len(plain)) + [1e-6])
    fitted = softmax_fit(known, is_type, balance(rows), penalty).round(2) + 0.0  # no minus zero
    kept = {name: tuple(row.tolist()) for name, row in zip(names, fitted, strict=False) if name in plain or row.any()}
    return TypeWeights(tuple(fitted[-1].tolist()), kept)


def vocabulary(rows: Sequence[Typed], found: Sequence[Mapping[str, float]], choice: Choice) -> list[str]:
    """Words and pairs that questions of several families have, so that no set's subject or form is learnt by heart; the
    most frequent where there are too many.
    """
    count = Counter[str]()
    families = defaultdict[str, set[str]](set)
    for row, each in zip(rows, found, strict=True):
        for name in each:
            if name.startswith('"'):
                count[name] += 1
                families[name].add(row.family)
    usual = [name for name in count if len(families[name]) >= choice.families and count[name] >= choice.least]
    return sorted(sorted(usual, key=lambda name: (-count[name], name))[: choice.most])


def balance(rows: Sequence[Typed]) -> Floats:
    """What each question counts: types by `SHARE`, the sets of a type by the root of their size; 1 in all."""
    size = Counter((row.type, row.set) for row in rows)
    of_type = defaultdict[QuestionType, float](float)
    for (type, _), number in size.items():
        of_type[type] += math.sqrt(number)
    each = [SHARE.get(row.type, 1.0) / of_type[row.type] / math.sqrt(size[row.type, row.set]) for row in rows]
    return np.array(each) / sum(each)


def softmax_fit(known: Floats, is_type: Floats, counts: Floats, penalty: Floats, rounds: int = 300) -> Floats:
    """Weights by feature and type, by Newton steps with a bound of the curvature that holds everywhere (Böhning 1992),
    so that it is factored once and no step can go wrong; with momentum.
    """
    curvature = 0.5 * (known.T * counts) @ known + np.diag(penalty)
    inverse = np.linalg.inv(curvature)
    weights: Floats = np.zeros((known.shape[1], is_type.shape[1]))
    before = weights
    for at in range(rounds):
        ahead = weights + at / (at + 3) * (weights - before)
        totals = known @ ahead
        odds = np.exp(totals - totals.max(axis=1, keepdims=True))
        missed = odds / odds.sum(axis=1, keepdims=True) - is_type
        slope = known.T @ (missed * counts[:, None]) + penalty[:, None] * ahead
        before, weights = weights, ahead - inverse @ slope
    return np.asarray(weights, dtype=float)


def text_of(weights: TypeWeights) -> str:
    """The weights as the file has them: a feature a line."""
    lines = ",\n".join(
        f"  {json.dumps(name, ensure_ascii=False)}: {list(row)}" for name, row in weights.features.items()
    )
    told = {
        "format": FORMAT,
        "made by": "training/question_types.py",
        "types": list(TYPES),
        "constant": list(weights.constant),
    }
    head = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in told.items())
    return f'{{\n{head},\n "features": {{\n{lines}\n }}\n}}\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a folder a set")
    parser.add_argument("--out", type=Path, default=WEIGHTS_FILE)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = [row for row in gathered(options.data, options.seed) if row.half == "choose"]
    text = text_of(fit(rows))
    options.out.write_text(text, encoding="utf-8")
    print(f"{len(rows)} questions, {len(text.encode())} bytes")
    print(dict(Counter(f"{row.set}: {row.type}" for row in rows)))


if __name__ == "__main__":
    main()
