"""How well a reader does on rows that it was not trained on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ragways.models.reader import Reading, best_spans
from training.data import Row
from training.model import ANSWERS, END, EVIDENCE, START, SUPPORTS, ReaderModel
from training.scores import auc, f1, normal
from training.tokens import Tokens, batch, batches, tokenised


def logits_of(model: ReaderModel, tokens: Sequence[Tokens], device: str) -> list[NDArray[np.float16]]:
    """The model's logits (tokens, heads) of each row."""
    found: dict[int, NDArray[np.float16]] = {}
    lengths = [len(one.laid.ids) for one in tokens]
    for places in batches(lengths, 150_000, range(len(tokens))):
        with torch.inference_mode(), torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            said = model(torch.from_numpy(batch(tokens, places).ids).to(device)).half().cpu().numpy()
        found |= {at: said[row, : lengths[at]] for row, at in enumerate(places)}
    return [found[at] for at in range(len(tokens))]


def readings(model: ReaderModel, tokens: Sequence[Tokens], device: str, most: int = 3) -> list[Reading]:
    """What the reader says of each row, as the product's own `Reader` tells it."""
    found = []
    for one, said in zip(tokens, logits_of(model, tokens, device), strict=True):
        told = said.astype(np.float32)
        spans = best_spans(one.laid, told[:, START], told[:, END], most)
        evidence = tuple(told[list(one.laid.marks), EVIDENCE].tolist())
        found.append(Reading(tuple(spans), float(told[0, ANSWERS]), float(told[0, SUPPORTS]), evidence))
    return found


def single_figures(model: ReaderModel, held: Sequence[Row], tokenizer: Tokenizer, device: str) -> dict[str, float]:
    """F1 and exact match by source where there is an answer, and how well "it is here" is told from "it is not"."""
    tokens = tokenised(tokenizer, held)
    told = readings(model, tokens, device, 1)
    values: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for row, reading in zip(held, told, strict=True):
        if row.at == 0 and reading.spans:
            text, best = row.passages[0].shown, reading.spans[0]
            said, gold = text[best.start : best.end], text[row.start : row.end]
            values[row.source].append((f1(said, [gold]), normal(said) == normal(gold)))
    figures = {}
    for source, pairs in values.items():
        figures[f"{source} f1"], figures[f"{source} em"] = (round(float(x), 4) for x in np.mean(pairs, axis=0))
    right = np.array([row.at == 0 for row in held], dtype=bool)
    figures["answers auc"] = round(auc(np.array([reading.answers for reading in told]), right), 4)
    figures["span auc"] = round(auc(np.array([r.spans[0].score if r.spans else -99.0 for r in told]), right), 4)
    return figures


def support_figures(model: ReaderModel, held: Sequence[Row], tokenizer: Tokenizer, device: str) -> dict[str, float]:
    """How well claims that are supported are told from others, by source."""
    told = np.array([reading.supports for reading in readings(model, tokenised(tokenizer, held), device, 1)])
    sources, right = np.array([row.source for row in held]), np.array([row.supports == 1 for row in held], dtype=bool)
    return {
        f"{name} auc": round(auc(told[sources == name], right[sources == name]), 4) for name in sorted(set(sources))
    }
