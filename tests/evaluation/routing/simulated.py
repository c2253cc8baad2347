"""Outcomes drawn from arms whose quality by type of question is known."""

from __future__ import annotations

import numpy as np

from ragways.evaluation.routing.outcomes import Floats, Outcomes

ARMS = ("fused[k=3]", "fused[k=10]", "iterative", "community-global")
TYPES = ("factual", "bridge", "comparison", "summary")
KNOWN = np.array([[0.85, 0.80, 0.60, 0.10], [0.30, 0.55, 0.85, 0.10], [0.35, 0.80, 0.55, 0.20], [0.1, 0.15, 0.2, 0.8]])
"""Quality by type and arm."""


def simulated(
    seed: int,
    *,
    questions: int = 300,
    quality: Floats = KNOWN,
    corpora: int = 1,
    noise: int = 8,
    repeats: int = 1,
    model: str = "scripted",
    temperature: float = 1.0,
) -> tuple[Outcomes, Floats]:
    """Outcomes and the true quality by question and arm. Some features tell the type, though not surely."""
    chance = np.random.default_rng(seed)
    types = chance.integers(len(quality), size=questions)
    truth = quality[types]
    arms = ARMS[: quality.shape[1]]
    told = 0.9 * np.eye(len(quality))[types] + chance.uniform(0, 0.1, size=(questions, len(quality)))
    corpus = np.arange(questions) % corpora
    of_corpus = np.random.default_rng(0).normal(size=(corpora, 2))[corpus]
    features = np.hstack([told, chance.normal(size=(questions, noise)), of_corpus])
    names = (
        *(f"question.type.{name}" for name in TYPES[: len(quality)]),
        *(f"look.noise{n}" for n in range(noise)),
        "corpus.size",
        "corpus.links",
    )
    drawn = (chance.uniform(size=(*truth.shape, repeats)) < truth[:, :, None]).astype(np.float64)
    tokens = np.repeat(np.array([[400.0, 1200.0, 3000.0, 6000.0]])[:, : len(arms)], questions, axis=0)
    tokens = tokens * chance.uniform(0.8, 1.2, size=tokens.shape)
    outcomes = Outcomes(
        metric="accuracy",
        corpora=tuple(f"corpus {n}" for n in range(corpora)),
        arms=arms,
        questions=tuple(f"q{n}" for n in range(questions)),
        texts=tuple(f"a {TYPES[one]} question of number {n}" for n, one in enumerate(types)),
        types=tuple(TYPES[one] for one in types),
        corpus=corpus.astype(np.intp),
        quality=drawn,
        costs={"tokens": tokens, "calls": np.ones_like(tokens), "usd": tokens / 1e6, "seconds": tokens / 1e3,
               "evidence": tokens * 0.9},
        names=names,
        features=features,
        chance=np.full(drawn.shape, np.nan),
        abstained=np.zeros(drawn.shape),
        model=model,
        temperature=temperature,
    )  # fmt: skip
    return outcomes, truth
