"""Does a text support a claim? Rows to train the reader's `supports` on, and the weights of the estimate made with it.

    python -m training.support data --instructions GIT --fool-me-twice GIT --data FOLDER --out support.jsonl.xz
    python -m training.support fit --rows support.jsonl.xz       # the table WEIGHTS of ragways.reading.support
    python -m training.support report --rows support.jsonl.xz    # how far the estimate can be believed

Sources are git directories of natural-instructions and fool-me-twice, and the folder of training data. A row is a
claim, a text, whether the text supports it (1) or is silent or says otherwise (0), its set, and its part: `train`, or
`test` (all of FoolMeTwice, a kind that is never trained on, and each 20th text of the others).

| set | source | licence |
|---|---|---|
| snli | natural-instructions, tasks 184, 187 (pairs that agree) and 190 (that do not) | CC BY-SA 4.0 |
| mnli | tasks 199, 200 and 203 | OANC |
| scitail | tasks 1529 and 1554 | Apache-2.0 |
| foolmetwice | google-research/fool-me-twice, dev and test | Apache-2.0 |
| sentences | made here of the texts of the training data | as those texts |

SICK and ANLI, which stand beside them, may not be used commercially and are left out. The table is fitted on half of
the `test` rows of the kinds that the reader was trained on: on rows that it has seen it would look better than it is.
`report` is of the other half, and of FoolMeTwice.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import lzma
import random
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.corpus.structure import sentence_spans
from ragways.models.reader import Reader
from ragways.reading.support import WEIGHTS, Feature, SupportEstimate, chance_of, estimate_support, features

MOST_CHARACTERS = 1200
ROWS = {"snli": 5000, "mnli": 11_000, "scitail": 6600, "foolmetwice": 3000, "sentences": 6000}
"""Rows of each set at most; half of them supported."""
WHOLE_TEXTS = frozenset({"shifts_new_wiki", "xquad", "disfl", "nq", "qed", "fairytale", "iirc"})
"""Sets of the training data whose texts are whole paragraphs in edited English."""
IN_ORDER = frozenset({"shifts_new_wiki", "xquad", "disfl", "fairytale"})
"""Those of them in which one text mostly follows on another of the same article or story."""
SEED = 14


@dataclass(frozen=True, slots=True)
class Row:
    claim: str
    text: str
    supported: int
    set: str

    @property
    def part(self) -> str:
        """By a hash of the text, so that a text is in one part only."""
        kept = self.set == "foolmetwice" or hashlib.sha256(self.text.encode()).digest()[0] % 20 == 0
        return "test" if kept else "train"


def rows(instructions: Path, fool_me_twice: Path, data: Path) -> list[Row]:
    """All rows in an order of chance, each pair once, as many supported as not in each set."""
    chance = random.Random(SEED)
    found: dict[tuple[str, str], Row] = {}
    both_ways: set[tuple[str, str]] = set()
    for row in (*inference_rows(instructions), *fool_me_twice_rows(fool_me_twice), *sentence_rows(data, chance)):
        pair = (row.claim.casefold(), row.text.casefold())
        fits = bool(row.claim) and 0 < len(row.text) <= MOST_CHARACTERS
        if fits and found.setdefault(pair, row).supported != row.supported:
            both_ways.add(pair)
    groups: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for pair, row in found.items():
        if pair not in both_ways:
            groups[row.set, row.supported].append(row)
    chosen: list[Row] = []
    for name, most in ROWS.items():
        size = min(most // 2, len(groups[name, 0]), len(groups[name, 1]))
        chosen += chance.sample(groups[name, 0], size) + chance.sample(groups[name, 1], size)
    chance.shuffle(chosen)
    return chosen


# --- Pairs that people wrote ----------------------------------------------------------------------------------------


def inference_rows(git: Path) -> Iterator[Row]:
    """SNLI, MNLI and SciTail, as natural-instructions words them."""
    for task in ("184_snli_entailment_to_neutral", "187_snli_entailment_to_contradiction"):
        for text, claim, _ in _pairs(git, f"{task}_text_modification"):
            yield Row(claim, text, 1, "snli")
    for text, claim, _ in _pairs(git, "190_snli_classification"):  # none of its pairs agree
        yield Row(claim, text, 0, "snli")
    for text, claim, told in _pairs(git, "199_mnli_classification"):
        if told == "no":  # it cannot be told; "yes" is agreement or disagreement
            yield Row(claim, text, 0, "mnli")
    for text, choices, told in _matched(git, "200_mnli_entailment_classification", r"Statement:(.*)Choices:(.*)"):
        for number, claim in enumerate(re.split(r"\b[123]\. ", choices)[1:], 1):
            yield Row(_one_line(claim), text, int(told == str(number)), "mnli")
    for text, label, claim in _matched(git, "203_mnli_sentence_generation", r"Statement:(.*)Label: (\w+)\."):
        if claim != "n/a":
            yield Row(claim, text, int(label == "entailment"), "mnli")
    for text, claim, told in _matched(git, "1529_scitail1.1_classification", r"Premise:(.*)Hypothesis:(.*)"):
        yield Row(claim, text, int(told == "entails"), "scitail")
    for claim, text, told in _pairs(git, "1554_scitail_classification"):
        yield Row(claim, text, int(told == "entails"), "scitail")


def _pairs(git: Path, task: str) -> Iterator[tuple[str, str, str]]:
    return _matched(git, task, r"Sentence 1:(.*)Sentence 2:(.*)")


def _matched(git: Path, task: str, pattern: str) -> Iterator[tuple[str, str, str]]:
    """The two parts of each input of a task, and its first output."""
    for row in json.loads(_shown(git, f"tasks/task{task}.json"))["Instances"]:
        if match := re.match(pattern, row["input"], re.DOTALL):
            yield _one_line(match[1]), _one_line(match[2]), _one_line(row["output"][0])


def fool_me_twice_rows(git: Path) -> Iterator[Row]:
    """Claims written to be hard to judge, with the sentences that settle them."""
    for name in ("dev", "test"):
        for line in _shown(git, f"dataset/{name}.jsonl").splitlines():
            row = json.loads(line)
            text = " ".join(_one_line(piece["text"]) for piece in row["gold_evidence"])
            yield Row(_one_line(row["text"]), text, int(row["label"] == "SUPPORTS"), "foolmetwice")


def _shown(git: Path, path: str) -> str:
    command = ["git", "--git-dir", str(git), "show", f"HEAD:{path}"]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def _one_line(text: str) -> str:
    return " ".join(text.split())


# --- Sentences, and what they do not say ----------------------------------------------------------------------------

_DATE = r"\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}"
_KINDS: Mapping[str, re.Pattern[str]] = {
    "date": re.compile(rf"\b(?:{_DATE})\b"),
    "year": re.compile(r"(?<![\d.,$£€-])\b1[1-9]\d\d\b|\b20[0-2]\d\b(?![\d.,%-])"),
    "number": re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])"),
    "name": re.compile(r"(?<=[a-z,] )[A-Z][a-z'’-]+(?: [A-Z][a-z'’-]+)*"),
}
"""What is exchanged: of two kinds that hold a stretch, the first."""


def sentence_rows(folder: Path, chance: random.Random) -> Iterator[Row]:
    """A sentence with the passage that holds it; the same with one fact exchanged; a sentence of the next passage.

    What is exchanged comes from the same passage where it can: a claim of words that all stand there can be wrong.
    """
    texts = _texts(folder)
    known = {kind: [fact for text in texts for fact in pattern.findall(text)] for kind, pattern in _KINDS.items()}
    before: list[str] = []
    for text, in_order in texts.items():
        sentences = [text[start:end].strip() for start, end in sentence_spans(text)]
        claims = [sentence for sentence in sentences if 40 <= len(sentence) <= 240]
        if len(sentences) >= 3 and claims:
            yield Row(chance.choice(claims), text, 1, "sentences")
            if (other := exchanged(chance.choice(claims), text, known, chance)) is not None:
                yield Row(other, text, 0, "sentences")
            if before and (stranger := chance.choice(before)) not in text:
                yield Row(stranger, text, 0, "sentences")
        before = claims if in_order else []


def exchanged(claim: str, text: str, known: Mapping[str, Sequence[str]], chance: random.Random) -> str | None:
    """The claim with a date, year, number or name of another in its place; None where it has none."""
    facts: dict[tuple[int, int], str] = {}
    for kind, pattern in _KINDS.items():
        for match in pattern.finditer(claim):
            if not any(start < match.end() and match.start() < end for start, end in facts):
                facts[match.span()] = kind
    if not facts:
        return None
    start, end = chance.choice(sorted(facts))
    kind, old = facts[start, end], claim[start:end]
    here = [fact for fact in _KINDS[kind].findall(text) if fact not in claim and fact not in old and old not in fact]
    like = [fact for fact in chance.sample(known[kind], min(200, len(known[kind]))) if fact not in text]
    like = [fact for fact in like if len(fact.split()) == len(old.split())] or like
    others = here if here and chance.random() < 0.6 else like
    return claim[:start] + chance.choice(others) + claim[end:] if others else None


def _texts(folder: Path) -> dict[str, bool]:
    """Texts of the training data that are whole paragraphs, in their order, on one line each and cut to size; whether
    the next one is mostly of the same article.
    """
    with lzma.open(folder / "questions.jsonl.xz", "rt", encoding="utf-8") as lines:
        sets = {row["c"]: row["from"] for row in map(json.loads, lines)}
    with lzma.open(folder / "contexts.jsonl.xz", "rt", encoding="utf-8") as lines:
        return {
            _cut(_one_line(json.loads(line))): sets[at] in IN_ORDER
            for at, line in enumerate(lines)
            if sets.get(at) in WHOLE_TEXTS
        }


def _cut(text: str) -> str:
    """Whole sentences of the beginning."""
    ends = [end for _, end in sentence_spans(text) if end <= MOST_CHARACTERS]
    return text[: ends[-1]].strip() if ends else ""


def write(found: Iterable[Row], out: Path) -> None:
    """One JSON object a line, under its name only when it is whole."""
    part = out.with_name(out.name + ".part")
    with lzma.open(part, "wt", encoding="utf-8") as file:
        for row in found:
            line = {"claim": row.claim, "text": row.text, "supported": row.supported, "from": row.set, "part": row.part}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    part.replace(out)


# --- The weights of the estimate ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Measured:
    """A row with what the estimate is made of."""

    supported: int
    set: str
    fitted: bool
    estimate: SupportEstimate


async def measure(path: Path, limit: int) -> list[Measured]:
    """The product's own features of the rows that the reader was not trained on, one pass of the reader each."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        kept = [row for row in map(json.loads, lines) if row["part"] == "test"][: limit or None]
    found = []
    async with aclosing(Reader()) as reader:
        for row in kept:
            sentences = [row["text"][start:end] for start, end in sentence_spans(row["text"])]
            estimate = await estimate_support(reader, row["claim"], [("", sentences)])
            even = hashlib.sha256(row["text"].encode()).digest()[1] % 2 == 0
            fitted = even and row["from"] != "foolmetwice"
            found.append(Measured(row["supported"], row["from"], fitted, estimate))
    return found


def fit(rows: Sequence[Measured], names: Sequence[Feature], ridge: float = 1.0) -> dict[Feature, float]:
    """Weights of a logistic model, by Newton's method, with a little held back from each but the first."""
    table = np.array([[_features(row.estimate)[name] for name in names] for row in rows])
    wanted = np.array([row.supported for row in rows], float)
    weights, held = np.zeros(len(names)), ridge * np.diag([0.0] + [1.0] * (len(names) - 1))
    for _ in range(30):
        chance = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (chance - wanted) + held @ weights
        weights -= np.linalg.solve((table * (chance * (1 - chance))[:, None]).T @ table + held, slope)
    return dict(zip(names, np.round(weights, 2).tolist(), strict=True))


def _features(estimate: SupportEstimate) -> dict[Feature, float]:
    return features(estimate.words, estimate.facts, estimate.reader)


def report(rows: Sequence[Measured]) -> None:
    """For each set: how often a supported row is above one that is not (AUC), for each feature and the estimate; how
    often the estimate is on the right side of one half; and how far its chances are off.
    """
    ways: dict[str, Callable[[SupportEstimate], float]] = {
        "words": lambda one: one.words,
        "names": lambda one: -_features(one)["missing"],
        "reader": lambda one: one.reader or 0.0,
        "without the reader": lambda one: chance_of(one.words, one.facts, None),
        "estimate": lambda one: one.chance,
    }
    print("set", "rows", *(f"AUC {name}" for name in ways), "right", "off", sep=" | ")
    for name in dict.fromkeys([*ROWS, "all"]):
        some = [row for row in rows if not row.fitted and name in (row.set, "all")]
        wanted = np.array([row.supported for row in some], bool)
        chances = np.array([row.estimate.chance for row in some])
        areas = [auc(np.array([way(row.estimate) for row in some]), wanted) for way in ways.values()]
        figures = [*areas, float(((chances > 0.5) == wanted).mean()), calibration_error(chances, wanted)]
        print(name, len(some), *(f"{figure:.3f}" for figure in figures), sep=" | ")


def auc(values: NDArray[np.float64], wanted: NDArray[np.bool_]) -> float:
    """The chance that a value of the wanted is above one of the others; equal ones count half."""
    above = values[wanted][:, None] - values[~wanted][None]
    return float(((above > 0) + (above == 0) / 2).mean())


def calibration_error(chances: NDArray[np.float64], wanted: NDArray[np.bool_], bins: int = 10) -> float:
    """The mean distance, over tenths of the scale, of the chance that was told and the share that was right."""
    place = np.minimum((chances * bins).astype(int), bins - 1)
    parts = [(place == one) for one in range(bins) if (place == one).any()]
    return float(sum(part.mean() * abs(chances[part].mean() - wanted[part].mean()) for part in parts))


def main() -> None:
    parser = argparse.ArgumentParser(description="Rows and weights of the support estimate.")
    ways = parser.add_subparsers(dest="way", required=True)
    data = ways.add_parser("data", help="make the rows")
    data.add_argument("--instructions", type=Path, required=True, help="git directory of natural-instructions")
    data.add_argument("--fool-me-twice", type=Path, required=True, help="git directory of fool-me-twice")
    data.add_argument("--data", type=Path, required=True, help="folder with questions.jsonl.xz and contexts.jsonl.xz")
    data.add_argument("--out", type=Path, required=True)
    for name, said in (("fit", "print the table of weights"), ("report", "measure the estimate")):
        one = ways.add_parser(name, help=said)
        one.add_argument("--rows", type=Path, required=True, help="what `data` wrote")
        one.add_argument("--limit", type=int, default=0, help="rows to look at, for a try")
    options = parser.parse_args()
    if options.way == "data":
        found = rows(options.instructions, options.fool_me_twice, options.data)
        write(found, options.out)
        for key, count in sorted(Counter((row.set, row.part, row.supported) for row in found).items()):
            print(*key, count)
        return
    measured = asyncio.run(measure(options.rows, options.limit))
    if options.way == "report":
        report(measured)
        return
    chosen = [row for row in measured if row.fitted]
    for method, names in WEIGHTS.items():
        print(f'    "{method}": {json.dumps(fit(chosen, list(names)))},')


if __name__ == "__main__":
    main()
