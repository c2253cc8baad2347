"""Rows and weights of the support estimate, from texts and repositories made here."""

from __future__ import annotations

import json
import lzma
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ragways.reading.support import SupportEstimate
from training.support import Measured, auc, calibration_error, exchanged, fit, rows, write

CLAIM = "Ness Light was built in 1912 by Ada Holm."
TEXT = f"{CLAIM} It cost four thousand crowns in all. In 1920 the widow Olga Berg bought the old tower."
KNOWN = {"date": ["3 May 1901"], "year": ["1833"], "number": ["77"], "name": ["Per Lund"]}


def test_one_fact_is_exchanged_for_another_of_its_kind_from_here_or_elsewhere():
    found = {exchanged(CLAIM, TEXT, KNOWN, random.Random(seed)) for seed in range(60)}
    assert found == {
        "Ness Light was built in 1833 by Ada Holm.",
        "Ness Light was built in 1920 by Ada Holm.",
        "Ness Light was built in 1912 by Per Lund.",
        "Ness Light was built in 1912 by Olga Berg.",
        "Ness Per Lund was built in 1912 by Ada Holm.",
        "Ness Olga Berg was built in 1912 by Ada Holm.",
    }
    assert exchanged("It stands on a rock.", TEXT, KNOWN, random.Random(1)) is None


def git(folder: Path, **files: object) -> Path:
    """A repository with these files."""
    for name, held in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(held if isinstance(held, str) else json.dumps({"Instances": held}))
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    for command in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "x")):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    return folder / ".git"


def instance(given: str, told: str) -> dict[str, object]:
    return {"input": given, "output": [told]}


def pair(number: int, told: str) -> dict[str, object]:
    return instance(f"Sentence 1: Dogs {number} run. Sentence 2: Cats {number} sit.", told)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """What `data` writes from a few rows of each task."""
    folder = tmp_path_factory.mktemp("support")
    choices = "Statement: Jon had a sword. Choices: 1. Jon was armed. 2. Jon was unarmed. 3. Jon sold swords."
    tasks = {
        "184_snli_entailment_to_neutral_text_modification": [pair(1, "x"), pair(2, "x")],
        "187_snli_entailment_to_contradiction_text_modification": [pair(1, "x"), pair(5, "x")],
        "190_snli_classification": [pair(3, "C"), pair(4, "N"), pair(5, "C")],
        "199_mnli_classification": [pair(6, "yes"), pair(7, "no")],
        "200_mnli_entailment_classification": [instance(choices, "1")],
        "203_mnli_sentence_generation": [instance("Statement: It rains.\nLabel: entailment.\nGenre: x.", "It is wet.")],
        "1529_scitail1.1_classification": [instance("Premise: Fish swim. \n Hypothesis: Fish move.", "entails")],
        "1554_scitail_classification": [instance("Sentence 1: Fish fly. Sentence 2: Fish swim.", "neutral")],
    }
    instructions = git(folder / "a", **{f"tasks/task{name}.json": held for name, held in tasks.items()})
    lines = [
        {"text": f"Claim {label}.", "label": label, "gold_evidence": [{"text": f"Text {label}."}]}
        for label in ("SUPPORTS", "REFUTES")
    ]
    jsonl = "\n".join(map(json.dumps, lines))
    fooled = git(folder / "b", **{"dataset/dev.jsonl": jsonl, "dataset/test.jsonl": jsonl})
    contexts = [
        TEXT,
        f"{TEXT} She kept it until she died in the spring of 1931 at home.",
        "Left out. As it is. Too short.",
    ]
    sets = ["shifts_new_wiki", "shifts_new_wiki", "qamr"]
    for name, held in (("contexts", contexts), ("questions", [{"c": at, "from": one} for at, one in enumerate(sets)])):
        (folder / f"{name}.jsonl.xz").write_bytes(lzma.compress("\n".join(map(json.dumps, held)).encode()))
    write(rows(instructions, fooled, folder), folder / "out.xz")
    assert not list(folder.glob("*.part"))
    return [json.loads(line) for line in lzma.open(folder / "out.xz", "rt")]


def test_rows_are_labelled_as_each_task_means_it(made: list[dict[str, object]]):
    said = {(row["claim"], row["text"]): row["supported"] for row in made}
    wanted = {
        ("Cats 1 sit.", "Dogs 1 run."): 1,
        ("Cats 3 sit.", "Dogs 3 run."): 0,
        ("Jon was armed.", "Jon had a sword."): 1,
        ("It is wet.", "It rains."): 1,
        ("Fish move.", "Fish swim."): 1,
        ("Fish fly.", "Fish swim."): 0,
        ("Claim SUPPORTS.", "Text SUPPORTS."): 1,
        ("Claim REFUTES.", "Text REFUTES."): 0,
    }
    assert {pair: said[pair] for pair in wanted if pair in said} == {p: w for p, w in wanted.items() if p in said}
    assert len(wanted.keys() & said.keys()) >= 6, "of each set as many supported as not: some are drawn"
    assert ("Cats 6 sit.", "Dogs 6 run.") not in said, "yes: agreement or not, which it does not tell"
    assert ("Cats 5 sit.", "Dogs 5 run.") not in said, "told both ways"


def test_weights_are_found_again_and_figures_are_those_of_the_definition():
    chance = np.random.default_rng(3)
    known = []
    for _ in range(20_000):
        words, facts, logit = chance.uniform(), chance.uniform(), chance.normal(0, 2)
        right = 1 / (1 + np.exp(-(-1 + 2 * words - 3 * (1 - facts) + 0.5 * logit)))
        estimate = SupportEstimate(right, words, facts, logit)
        known.append(Measured(int(chance.uniform() < right), "x", True, estimate))
    found = fit(known, ["always", "words", "missing", "reader"])
    assert list(found.values()) == pytest.approx([-1, 2, -3, 0.5], abs=0.25)  # 3 standard errors
    chances = np.array([row.estimate.chance for row in known])
    wanted = np.array([bool(row.supported) for row in known])
    assert calibration_error(chances, wanted) < 0.03
    assert calibration_error(1 - chances, wanted) > 0.3
    assert auc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, True, False, True])) == pytest.approx(3.5 / 4)
