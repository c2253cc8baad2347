"""Trains the reader: first on questions over single texts, generated ones and claims, then on questions over several.

    python -m training.reader --data DIR --candidates DIR --support FILE --start DIR --out DIR [--seeds 0,1,2]

A teacher of twelve layers (gte-small) learns the first part; the six layers of the product (MiniLM) learn it from the
data and from the teacher's chances. The second part (the halves `choose` of the sets in `--candidates`, with as much of
the first so that it is not forgotten) is learnt by the six layers alone. `--first FILE` starts from what the first part
gave; `--without KIND …` leaves kinds of sets out of the second, to see how the reader does on a kind it has not seen.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from training.data import Row, asked_sets, support_rows
from training.figures import logits_of, single_figures, support_figures
from training.model import ANSWERS, END, EVIDENCE, START, SUPPORTS, ReaderModel, load_encoder, load_reader
from training.parts import first_rows, held_rows, second_rows
from training.tokens import Batch, Tokens, batch, batches, load_tokenizer, tokenised
from training.weights import write_quantised

AGAIN = 30_000
"""Questions over single texts from which the second part takes some again, where the first is not learnt."""
HEAT = 2.0
"""By which logits are divided before a student's are compared with a teacher's."""

Taught = Sequence[NDArray[np.float16]]
"""A teacher's logits (tokens, heads) of each row."""


@dataclass(frozen=True, slots=True)
class Course:
    """How a model is trained: passes over the rows, learning rate, tokens a batch."""

    epochs: int
    rate: float
    budget: int = 32_000


FIRST_TEACHER = Course(2, 1e-4)
FIRST = Course(4, 2e-4)
SECOND = Course(2, 6e-5)


# --- Training -------------------------------------------------------------------------------------------------------


def train(
    model: ReaderModel,
    tokens: Sequence[Tokens],
    course: Course,
    *,
    device: str,
    seed: int,
    taught: Taught | None = None,
) -> ReaderModel:
    """Train on rows; with a teacher's logits of each in `taught`, also to be near the teacher's chances."""
    dice = random.Random(seed)
    model = model.to(device).train()
    lengths = [len(one.laid.ids) for one in tokens]
    steps = course.epochs * len(batches(lengths, course.budget, range(len(tokens))))
    chosen = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(chosen, lr=course.rate, weight_decay=0.01, fused=device == "cuda")
    done, began = 0, time.perf_counter()
    for _ in range(course.epochs):
        order = list(range(len(tokens)))
        dice.shuffle(order)
        together = batches(lengths, course.budget, order)
        dice.shuffle(together)
        for places in together:
            for group in optimiser.param_groups:
                group["lr"] = course.rate * min(1.0, (done + 1) / (0.06 * steps), (steps - done) / (0.94 * steps))
            loss = loss_of(model, batch(tokens, places), device, [taught[at] for at in places] if taught else None)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(chosen, 1.0)
            optimiser.step()
            done += 1
            if done % 200 == 0:
                print(f"  {done}/{steps}  loss {loss.item():.3f}  {time.perf_counter() - began:.0f} s", flush=True)
    trained: ReaderModel = model.eval()
    return trained


def loss_of(model: ReaderModel, given: Batch, device: str, taught: Taught | None) -> Tensor:
    """How far the model is from what is known of a batch of rows, and from a teacher where there is one."""
    ids = torch.from_numpy(given.ids).to(device, non_blocking=True)
    with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
        logits = model(ids)
    spans = _inside(logits, ids)
    wanted, marks, evidence, supports = (
        torch.from_numpy(each).to(device) for each in (given.spans, given.marks, given.evidence, given.supports)
    )
    known = wanted[0] >= 0
    loss = logits.sum() * 0
    if bool(known.any()):
        loss = (
            loss + sum(functional.cross_entropy(spans[..., i], wanted[i], ignore_index=-100) for i in (START, END)) / 2
        )
        right = (wanted[0] > 0).float()[known]
        loss = loss + functional.binary_cross_entropy_with_logits(logits[:, 0, ANSWERS][known], right)
    for said, truth in ((logits[marks[0], marks[1], EVIDENCE], evidence), (logits[:, 0, SUPPORTS], supports)):
        here = ~truth.isnan()
        if bool(here.any()):
            loss = loss + functional.binary_cross_entropy_with_logits(said[here], truth[here])
    return loss if taught is None else loss + _distance(logits, ids, taught, marks, ~supports.isnan())


def _inside(logits: Tensor, ids: Tensor) -> Tensor:
    """The logits of spans, none of which starts or ends where there is no token."""
    return logits[..., : END + 1].masked_fill((ids == 0)[..., None], -1e4)


def _distance(logits: Tensor, ids: Tensor, taught: Taught, marks: Tensor, claims: Tensor) -> Tensor:
    """How far a student's chances are from its teacher's; of a claim only that it is supported is compared."""
    wishes = np.zeros(tuple(logits.shape), np.float16)
    for row, each in enumerate(taught):
        wishes[row, : len(each)] = each
    soft = torch.from_numpy(wishes).to(logits.device).float()
    spans, wished = (functional.log_softmax(_inside(each, ids) / HEAT, 1) for each in (logits, soft))
    far = functional.kl_div(spans, wished, log_target=True, reduction="none").sum((1, 2))
    loss = HEAT**2 / 2 * (far * ~claims).mean()
    for said, wish in (
        (logits[:, 0, ANSWERS][~claims], soft[:, 0, ANSWERS][~claims]),
        (logits[marks[0], marks[1], EVIDENCE], soft[marks[0], marks[1], EVIDENCE]),
        (logits[:, 0, SUPPORTS][claims], soft[:, 0, SUPPORTS][claims]),
    ):
        if len(said):
            loss = loss + functional.binary_cross_entropy_with_logits(said, torch.sigmoid(wish))
    return loss


# --- From files to files --------------------------------------------------------------------------------------------


class Training:
    """The steps of a training, over files that the user names."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer = load_tokenizer(options.start / "tokenizer.json")
        self.sets = asked_sets(options.candidates)
        self.held = self.limited(held_rows(options.data))
        self.tested = self.limited(support_rows(options.support, "test"))
        self.began = time.perf_counter()

    def limited(self, rows: list[Row]) -> list[Row]:
        """For a try, as many as asked for; else all of them."""
        return random.Random(0).sample(rows, min(self.options.limit or len(rows), len(rows)))

    def tokens(self, rows: list[Row]) -> list[Tokens]:
        found = tokenised(self.tokenizer, self.limited(rows))
        self.tell("rows", len(found))
        return found

    def figures(self, model: ReaderModel) -> dict[str, float]:
        """On single texts and claims that neither part has seen."""
        single = single_figures(model, self.held, self.tokenizer, self.device)
        return single | support_figures(model, self.tested, self.tokenizer, self.device)

    def tell(self, what: str, figures: object) -> None:
        print(f"{time.perf_counter() - self.began:5.0f} s  {what} {json.dumps(figures)}", flush=True)

    def taught(self, tokens: Sequence[Tokens], seed: int) -> Taught:
        """What a teacher says of rows that it was trained on."""
        teacher = ReaderModel(load_encoder(self.options.start / "gte.npz"))
        teacher = train(teacher, tokens, FIRST_TEACHER, device=self.device, seed=seed)
        self.tell("teacher", self.figures(teacher))
        return logits_of(teacher, tokens, self.device)

    def first(self, tokens: Sequence[Tokens], taught: Taught, seed: int) -> ReaderModel:
        """The six layers after the first part, which are written to `first-SEED.npz`."""
        model = ReaderModel(load_encoder(self.options.start / "minilm.npz"))
        model = train(model, tokens, FIRST, device=self.device, seed=seed, taught=taught)
        self.tell(f"first, seed {seed}", self.figures(model))
        write_quantised(self.options.out / f"first-{seed}.npz", model.weights(), levels=127)
        return model

    def second(self, model: ReaderModel, first: Sequence[Row], seed: int) -> None:
        """The second part: `reader-SEED.npz` with the weights, `reader-SEED.json` with figures."""
        tokens = self.tokens(second_rows(self.sets, first, self.options.without, seed))
        model = train(model, tokens, SECOND, device=self.device, seed=seed)
        name = "-".join(["reader", str(seed), *(f"without-{kind}" for kind in self.options.without)])
        write_quantised(self.options.out / f"{name}.npz", model.weights())
        figures = self.figures(model)
        self.tell(f"second, {name}", figures)
        (self.options.out / f"{name}.json").write_text(json.dumps(figures, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "candidates", "support", "start", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--seeds", default="0", help="the teacher is of the first")
    parser.add_argument("--first", type=Path, help="what the first part gave; it is not learnt again")
    parser.add_argument("--without", nargs="*", default=[], help="kinds of sets that the second part leaves out")
    parser.add_argument("--limit", type=int, default=0, help="rows of each part, for a try")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_float32_matmul_precision("high")
    training = Training(options)
    seeds = [int(seed) for seed in options.seeds.split(",")]
    torch.manual_seed(seeds[0])
    few = options.limit or (AGAIN if options.first else 0)
    rows = first_rows(options.data, options.support, training.sets, seeds[0], few)
    tokens = [] if options.first else training.tokens(rows)
    taught = [] if options.first else training.taught(tokens, seeds[0])
    for seed in seeds:
        torch.manual_seed(seed)
        if options.first:
            model = load_reader(options.first, options.start / "minilm.npz").to(training.device)
        else:
            model = training.first(tokens, taught, seed)
        training.second(model, rows, seed)


if __name__ == "__main__":
    main()
