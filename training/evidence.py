"""What a trained reader says of the candidates of every question, in several groupings, for fitting and for figures.

    python -m training.evidence --candidates DIR --start DIR --prior FILE --reader FILE --out FILE.json.xz [SET …]

`--prior` is a JSON object {"linked": [weights, bias], "plain": [weights, bias]} over the features of `fused`.
"""

from __future__ import annotations

import argparse
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from training.data import Asked, AskedSet, asked_sets, grouped
from training.figures import readings
from training.model import ReaderModel, load_reader
from training.tokens import load_tokenizer, tokenised

Said = dict[str, list[list[Any]]]
"""By question: what was said of each group, as JSON keeps it."""


def prior_of(asked: Asked, prior: dict[str, Any]) -> list[float]:
    """The logit that `fused` gives to each candidate."""
    (linked, bias), (plain, other) = prior["linked"], prior["plain"]
    weights = asked.linked * np.array(linked) + (1 - asked.linked) * np.array(plain)
    total = np.array(asked.features) @ weights + asked.linked * bias + (1 - asked.linked) * other
    return [float(x) for x in total]


def groups_of(order: list[int]) -> list[tuple[str, int, list[int]]]:
    """Name, characters of a window, and ranks of the candidates that are read together."""
    best = order[:24]
    found = [("alone", 340, [at]) for at in best]
    found += [("six", 260, best[n : n + 6]) for n in range(0, 24, 6)]
    found += [("four", 380, best[n : n + 4]) for n in range(0, 12, 4)]
    found += [("three", 500, best[n : n + 3]) for n in range(0, 6, 3)]
    found += [
        ("pair", 340, [first, second]) for n, first in enumerate(best[:3]) for second in best[:12] if second != first
    ]
    return [(name, size, group) for name, size, group in found if group]


def said_of(model: ReaderModel, tokenizer: Tokenizer, one: AskedSet, prior: dict[str, Any], device: str) -> Said:
    """For each question of a set, what the reader says of each group: scheme, places among the candidates, the logits
    of evidence, of "answers", and the best spans with passage, words and score.
    """
    rows, owners = [], []
    for asked in one.asked:
        scores = prior_of(asked, prior)
        order = sorted(range(len(scores)), key=lambda n: -scores[n])
        for scheme, size, group in groups_of(order):
            rows.append(grouped(asked, one.passages, [asked.candidates[n] for n in group], size))
            owners.append((asked.id, scheme, group))
    told = readings(model, tokenised(tokenizer, rows), device)
    said: Said = {}
    for row, (id, scheme, group), reading in zip(rows, owners, told, strict=True):
        spans = [[s.passage, row.passages[s.passage].shown[s.start : s.end], round(s.score, 2)] for s in reading.spans]
        evidence = [round(x, 3) for x in reading.evidence]
        said.setdefault(id, []).append([scheme, group, evidence, round(reading.answers, 3), spans])
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*")
    for name in ("candidates", "start", "prior", "reader", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = load_tokenizer(options.start / "tokenizer.json")
    model = load_reader(options.reader, options.start / "minilm.npz").to(device).eval()
    prior = json.loads(options.prior.read_text())
    told: dict[str, Said] = {}
    for name, one in asked_sets(options.candidates).items():
        if not options.sets or name in options.sets:
            told[name] = said_of(model, tokenizer, one, prior, device)
            print(name, len(told[name]), flush=True)
    with lzma.open(options.out, "wt", encoding="utf-8", preset=1) as file:
        json.dump(told, file, ensure_ascii=False)


if __name__ == "__main__":
    main()
