"""How calibrated the chance of an answer is, what abstaining by it refuses, and the weights it is made from.

    python benchmarks/abstention.py --rows DIR --data DATA [--indexes DIR] [--squad FILE] [--docs NAME=INDEX …]
    python benchmarks/abstention.py --rows DIR [--threshold 0.2 | --fit]

The first asks questions without a model and keeps, for each set and paradigm, what the chance is made from and whether
the answer is right: a file a set in the folder of rows, made once. DATA holds musique, hotpotqa, 2wiki-dev400 and
multihop-rag as published; `--squad` is a file of SQuAD 2.0; `--docs fastapi=INDEX` is an index of the documentation
that `real_docs.jsonl` asks about. The bundled demo is one more. Of the sets the reader was trained on, only the half
that it was not trained on is asked.

Each set has questions that its corpus answers, and others:
    without     the same ones with their gold documents filtered out
    foreign     those of another set
    null        unanswerable ones that belong to the set
    generated   unanswerable ones that `ragways eval generate` made on the corpus
    trick       SQuAD's impossible ones, each written to look answerable by its paragraph

The second fits, for each set, weights on the others alone (sets of one kind are left out together), and says how they
do on it. `--fit` prints the weights of all sets: the table in `src/ragways/reading/sufficiency.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

from ragways.core.runtime import limit_threads

limit_threads()

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from ragways.assemble import opened, recipe_of  # noqa: E402
from ragways.core.trace import Span  # noqa: E402
from ragways.core.types import Answer  # noqa: E402
from ragways.evaluation.datasets import load_questions  # noqa: E402
from ragways.evaluation.metrics import _f1  # noqa: E402
from ragways.evaluation.question import Gold, Question, squad_normal, unmarked  # noqa: E402
from ragways.evaluation.questions.generate import generate  # noqa: E402
from ragways.index.build import build  # noqa: E402
from ragways.reading.sufficiency import WEIGHTS, Features  # noqa: E402
from ragways.retrieval.ask import ask  # noqa: E402
from ragways.retrieval.resources import Resources  # noqa: E402
from ragways.settings import read_settings  # noqa: E402

Floats = NDArray[np.float64]
Row = dict[str, Any]
PARADIGMS = ("naive", "hybrid-words", "fused")
SETS = {
    "musique": ("hipporag", "corpus.json.gz", "questions.json.gz"),
    "hotpotqa": ("hipporag", "corpus.json.gz", "questions.json.gz"),
    "2wiki-dev400": ("hipporag", "corpus.jsonl.gz", "questions.jsonl.gz"),
    "multihop-rag-summaries": ("multihop-rag", "corpus-609-summaries.json.gz", "MultiHopRAG-even.json.gz"),
    "demo": ("plain", "corpus", "questions.jsonl"),
}
"""Format, corpus, questions."""
FOLDERS = {"multihop-rag-summaries": "multihop-rag"}
NO_SHORT_ANSWER = frozenset({"summary"})
"""Types of questions without a short gold answer: whether they are answered right is not known."""
LAYERS = frozenset({"vectors", "words", "graph"})
MOST = {"answerable": 140, "without": 70, "foreign": 30, "null": 60, "generated": 60, "trick": 80}
"""Questions of a kind, drawn with one seed."""
GENERATED = ("swapped", "removed", "moved")
ASKED_BY_RULE = ("setting", "definition", "purpose", "limit", "version", "faq")
ENOUGH = 0.5
"""The F1 from which on a short answer is right."""


@dataclass(frozen=True)
class Source:
    """Where a set is from: its corpus, unless it is indexed; its questions, and those that are sorted already."""

    corpus: Path | None
    questions: Sequence[Question] = ()
    asked: Sequence[Asked] = ()
    generated: bool = False


@dataclass(frozen=True)
class Asked:
    """A question of a kind, the documents that are left out for it, and what a right answer says, as a pattern."""

    kind: str
    question: Question
    without: tuple[str, ...] = ()
    says: str = ""


def kept_from_training(id: str) -> bool:
    """Whether a question is in the half that the reader was not trained on."""
    return hashlib.sha256(id.encode()).digest()[0] % 2 == 1


def right(asked: Asked, answer: Answer) -> bool:
    """Whether an answer is right: a short one by its F1, one of sentences where the gold answer stands in it."""
    said = unmarked(answer.text)
    if asked.says:
        return re.search(asked.says, f"{said} {answer.explanation}", re.IGNORECASE) is not None
    words = squad_normal(said)
    for gold in map(squad_normal, asked.question.answers):
        held = not answer.explanation and f" {gold} " in f" {words} "
        if held or _f1(words.split(), gold.split()) >= ENOUGH:
            return True
    return False


def kinds(use: Resources, questions: Sequence[Question], foreign: Sequence[Question]) -> Iterator[Asked]:
    """The questions of a set, by kind; those with gold documents once more without them."""
    documents = [(key, title) for _, key, title in use.index.documents()]
    for question in questions:
        if question.type == "null":
            yield Asked("null", question)
        elif question.answers and question.type not in NO_SHORT_ANSWER:
            yield Asked("answerable", question)
            keys = {gold.key for gold in question.gold if gold.key}
            titles = {gold.title for gold in question.gold if gold.title}
            without = tuple(key for key, title in documents if title in titles or key.rpartition("#")[2] in keys)
            if without:
                yield Asked("without", question, without)
    yield from (Asked("foreign", question) for question in foreign)


def drawn(asked: Sequence[Asked]) -> list[Asked]:
    found: list[Asked] = []
    for kind, most in MOST.items():
        those = [one for one in asked if one.kind == kind]
        found += those if len(those) <= most else random.Random(0).sample(those, most)
    return found


async def rows_of(use: Resources, name: str, asked: Sequence[Asked]) -> list[Row]:
    """Each question in each paradigm: what its chance is made from, and whether its answer is right."""
    rows: list[Row] = []
    for one in drawn(asked):
        left_out = ", ".join(json.dumps(key, ensure_ascii=False) for key in one.without)
        where = f"path not in ({left_out})" if left_out else None
        for paradigm in PARADIGMS:
            found = await ask(use, one.question.text, paradigm, where=where)
            if (features := next(_features(found.trace), None)) is None:
                continue
            row = {"set": name, "kind": one.kind, "paradigm": paradigm, "id": one.question.id, "features": features}
            truth = one.kind in ("answerable", "without") and right(one, found.answer)
            rows.append({**row, "right": truth, "question": one.question.text, "said": found.answer.text})
    return rows


def _features(span: Span) -> Iterator[dict[str, Any]]:
    if isinstance(features := span.details.get("features"), dict):
        yield features
    for inner in span.children:
        yield from _features(inner)


async def collect(name: str, index: Path, source: Source, foreign: Sequence[Question]) -> list[Row]:
    """The rows of one set; its index is built where there is none."""
    settings = read_settings(index=index, model={"name": "", "base_url": ""}, answer={"threshold": 0.0})
    if source.corpus is not None:
        await build(index, [source.corpus], recipe_of(settings, LAYERS))
    async with opened(settings) as use:
        asked = [*source.asked, *kinds(use, source.questions, foreign)]
        if source.generated:
            made = await generate(use, kinds=GENERATED, count=MOST["generated"] // 3, without_model=True)
            asked += [Asked("generated", question) for question in made.questions]
        if source.generated and source.asked:
            made = await generate(use, kinds=ASKED_BY_RULE, count=10, without_model=True)
            asked += kinds(use, made.questions, ())
        keys = [key for _, key, _ in use.index.documents()]
        full = [replace(one, without=tuple(k for k in keys if k.endswith(one.without))) for one in asked if one.without]
        return await rows_of(use, name, [one for one in asked if not one.without] + full)


def squad(file: Path, folder: Path) -> Source:
    """SQuAD's paragraphs as a corpus of their own, and its questions."""
    questions: list[Question] = []
    tricks: list[Asked] = []
    lines: list[str] = []
    for article in json.loads(file.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            key, title = f"p{len(lines):05d}", article["title"].replace("_", " ")
            lines.append(json.dumps({"id": key, "title": title, "text": paragraph["context"]}))
            for each in paragraph["qas"]:
                answers = tuple(dict.fromkeys(answer["text"] for answer in each["answers"]))
                question = Question(each["id"], each["question"], answers, gold=(Gold(key=key),))
                if each["is_impossible"]:
                    tricks.append(Asked("trick", question))
                else:
                    questions.append(question)
    folder.mkdir(parents=True, exist_ok=True)
    corpus = folder / "squad.jsonl"
    corpus.write_text("\n".join(lines), encoding="utf-8")
    return Source(corpus, questions, tricks)


def documentation(name: str) -> list[Asked]:
    """What `real_docs.jsonl` asks of one documentation in English; with and without the pages that answer it."""
    rows = map(json.loads, Path(__file__).with_name("real_docs.jsonl").read_text(encoding="utf-8").splitlines())
    found = []
    for row in rows:
        if (row["corpus"], row["language"]) == (name, "en"):
            question = Question(row["id"], row["question"])
            kind = "null" if row["kind"] == "unanswerable" else "answerable"
            found.append(Asked(kind, question, says=row["says"]))
            if kind == "answerable":
                found.append(Asked("without", question, tuple(row["pages"]), row["says"]))
    return found


def steps(file: Path) -> list[Question]:
    """The single facts that MuSiQue's questions are made of, each as a question, with what is known by then."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        rows = json.load(stream)
    found = []
    for row in rows:
        known: list[str] = []
        for step in row["question_decomposition"] if kept_from_training(row["id"]) else ():
            text = step["question"]
            for number, answer in enumerate(known, start=1):
                text = text.replace(f"#{number}", answer)
            known.append(step["answer"])
            place = next((each for each in row["paragraphs"] if each["idx"] == step["paragraph_support_idx"]), None)
            if place is not None and ">>" not in text:
                gold = (Gold(title=place["title"], text=place["paragraph_text"]),)
                found.append(Question(f"{row['id']} {len(known)}", text, (step["answer"],), gold=gold))
    return list({question.text: question for question in found}.values())


def sources(options: argparse.Namespace, demo: Path) -> Iterator[tuple[str, Path, Source]]:
    """Name, index and source of all sets at hand."""
    indexes = options.indexes or options.rows / "indexes"
    for name, (format, corpus, questions) in SETS.items():
        folder = demo if name == "demo" else options.data / FOLDERS.get(name, name)
        if folder.is_dir():
            asked = [each for each in load_questions(format, folder / questions) if kept_from_training(each.id)]
            yield name, indexes / name, Source(folder / corpus, asked, generated=name == "demo")
    if (file := options.data / "musique" / "questions.json.gz").exists():
        yield "musique-steps", indexes / "musique", Source(None, steps(file))
    if options.squad:
        yield "squad", indexes / "squad", squad(options.squad, options.rows)
    for name, index in (each.split("=", 1) for each in options.docs):
        yield name, Path(index), Source(None, asked=documentation(name), generated=True)


def gather(options: argparse.Namespace) -> None:
    """Write the rows of every set that has none yet."""
    with resources.as_file(resources.files("ragways") / "demo") as demo:
        found = list(sources(options, demo))
        for name, index, source in found:
            file = options.rows / f"{name}.json"
            if file.exists() or (options.sets and name not in options.sets.split(",")):
                continue
            family = LIKE.get(name, name)
            others = [
                question
                for other, _, its in found
                if other != "demo" and LIKE.get(other, other) != family
                for question in its.questions[:20]
            ]
            rows = asyncio.run(collect(name, index, source, random.Random(0).sample(others, min(40, len(others)))))
            file.write_text(json.dumps(rows), encoding="utf-8")
            print(f"{name}: {len(rows)} rows")


@dataclass(frozen=True)
class Table:
    """The rows of all sets, as arrays: what weights are multiplied with, whether right, and of which set and kind."""

    known: Floats
    right: NDArray[np.bool_]
    sets: NDArray[np.str_]
    families: NDArray[np.str_]
    kinds: NDArray[np.str_]
    paradigms: NDArray[np.str_]

    def of(self, which: NDArray[np.bool_]) -> Table:
        return Table(*(getattr(self, each.name)[which] for each in fields(self)))

    @property
    def answerable(self) -> NDArray[np.bool_]:
        return np.asarray(self.kinds == "answerable")

    @property
    def counts(self) -> Floats:
        """What each row counts. Tricks have no part in the weights: nothing that is known here tells them."""
        found = np.zeros(len(self.sets))
        for name in set(self.sets):
            alike = len(set(self.sets[np.isin(self.families, self.families[self.sets == name])]))
            for share, which in ((ANSWERABLE, self.answerable), (1 - ANSWERABLE, ~self.answerable)):
                those = (self.sets == name) & which & (self.kinds != "trick")
                found[those] = ROWS / alike * share / max(those.sum(), 1)
        return found


NAMES = tuple(name for name in WEIGHTS if name != "constant")
LIKE = {"musique-steps": "musique", "fastapi": "docs", "django": "docs", "postgresql": "docs"}
"""Sets of one kind, which are left out together."""
PENALTY = 1.0
FREE = frozenset({"length", "nested", "form prose"})
"""What a question is like, which may speak for or against an answer."""
ROWS, ANSWERABLE = 400.0, 0.5
"""Rows that each family of sets counts as, and the share of answerable ones: sets have them in many mixtures."""
BINS = 10
THRESHOLDS = tuple(round(0.02 * each, 2) for each in range(2, 26))


def table(folder: Path) -> Table:
    """All rows of a folder. A question whose gold was left out and that is answered right all the same is dropped: the
    corpus holds its answer elsewhere, or it was guessed.
    """
    rows = [row for file in sorted(folder.glob("*.json")) for row in json.loads(file.read_text(encoding="utf-8"))]
    rows = [row for row in rows if not (row["kind"] == "without" and row["right"])]
    known = [Features(**row["features"]).weighed() for row in rows]
    return Table(
        np.array([[each.get(name, 0.0) for name in NAMES] for each in known]),
        np.array([row["right"] for row in rows]),
        np.array([row["set"] for row in rows]),
        np.array([LIKE.get(row["set"], row["set"]) for row in rows]),
        np.array([row["kind"] for row in rows]),
        np.array([row["paradigm"] for row in rows]),
    )


def fit(rows: Table) -> dict[str, float]:
    """Logistic regression with a penalty on large weights. Each family of sets counts the same. What speaks for an
    answer never speaks against it: a weight that would be negative is none, unless `FREE` names it.
    """
    each = rows.counts
    middle, spread = rows.known.mean(axis=0), rows.known.std(axis=0) + 1e-6
    scaled, kept = (rows.known - middle) / spread, list(range(len(NAMES)))
    while True:
        weights = _newton(np.c_[np.ones(len(scaled)), scaled[:, kept]], rows.right.astype(float), each)
        negative = {at for at, weight in zip(kept, weights[1:], strict=True) if weight < 0 and NAMES[at] not in FREE}
        if not negative:
            break
        kept = [at for at in kept if at not in negative]
    found = np.zeros(len(NAMES))
    found[kept] = weights[1:] / spread[kept]
    constant = float(weights[0] - found @ middle)
    return {"constant": constant, **dict(zip(NAMES, found.tolist(), strict=True))}


def _newton(known: Floats, wanted: Floats, each: Floats) -> Floats:
    weights, penalty = np.zeros(known.shape[1]), np.diag([0.0] + [PENALTY] * (known.shape[1] - 1))
    for _ in range(30):
        said = 1 / (1 + np.exp(-known @ weights))
        slope = known.T @ (each * (said - wanted)) + penalty @ weights
        bend = (known * (each * said * (1 - said))[:, None]).T @ known + penalty
        weights = weights - np.linalg.solve(bend, slope)
    return np.asarray(weights)


def chances(rows: Table, weights: Mapping[str, float]) -> Floats:
    total = rows.known @ np.array([weights[name] for name in NAMES]) + weights["constant"]
    return np.asarray(1 / (1 + np.exp(-total)))


def calibration_error(said: Floats, right: NDArray[np.bool_], counts: Floats) -> float:
    """Expected calibration error: over ten bins that count the same, how far the chance is from the share right."""
    order = np.argsort(said, kind="stable")
    part = np.minimum((np.cumsum(counts[order]) / counts.sum() * BINS - 1e-9).astype(int), BINS - 1)
    off = counts[order] * (said[order] - right[order])
    return float(sum(abs(off[part == each].sum()) for each in range(BINS)) / counts.sum())


def figures(rows: Table, said: Floats, thresholds: Floats) -> dict[str, Any]:
    """Calibration and refusals of one set. Tricks are counted apart."""
    plain, asked = rows.kinds != "trick", rows.answerable

    def refused(which: NDArray[np.bool_]) -> float | None:
        return round(float((said[which] < thresholds[which]).mean()), 3) if which.any() else None

    return {
        "answers": int(plain.sum()),
        "thresholds": sorted({round(float(each), 2) for each in thresholds}),
        "right of answerable": round(float(rows.right[asked].mean()), 3),
        "calibration error": round(calibration_error(said[plain], rows.right[plain], rows.counts[plain]), 3),
        "calibration error, answerable": round(
            calibration_error(said[asked], rows.right[asked], rows.counts[asked]), 3
        ),
        "unanswerable refused": refused(plain & ~asked),
        "answerable refused": refused(asked),
        "right refused": refused(asked & rows.right),
        "wrong refused": refused(asked & ~rows.right),
        "refused by kind": {str(kind): refused(rows.kinds == kind) for kind in sorted(set(rows.kinds[~asked]))},
    }


def best_threshold(rows: Table, said: Floats) -> float:
    """The threshold that refuses most unanswerable questions less right answers, in the mean of the sets."""

    def gain(threshold: float) -> float:
        refused, plain = said < threshold, rows.kinds != "trick"
        return float(
            np.mean([
                refused[(rows.sets == name) & plain & ~rows.answerable].mean()
                - refused[(rows.sets == name) & rows.answerable & rows.right].mean()
                for name in sorted(set(rows.sets))
            ])
        )  # fmt: skip

    return max(THRESHOLDS, key=gain)


def left_out(rows: Table) -> tuple[Floats, Floats]:
    """The chance of every answer by weights that were fitted without its family of sets, and the threshold that was
    best for the others.
    """
    said, thresholds = np.zeros(len(rows.sets)), np.zeros(len(rows.sets))
    for family in set(rows.families):
        mine = rows.families == family
        weights = fit(rows.of(~mine))
        said[mine] = chances(rows.of(mine), weights)
        thresholds[mine] = best_threshold(rows.of(~mine), chances(rows.of(~mine), weights))
    return said, thresholds


def report(rows: Table, threshold: float | None) -> dict[str, Any]:
    """For each set, and for each paradigm over all sets; `threshold` instead of those chosen on the other sets."""
    said, chosen = left_out(rows)
    thresholds = chosen if threshold is None else np.full(len(said), threshold)
    groups = [(str(name), rows.sets == name) for name in sorted(set(rows.sets))]
    groups += [(f"all sets, {name}", rows.paradigms == name) for name in PARADIGMS]
    return {name: figures(rows.of(which), said[which], thresholds[which]) for name, which in groups}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True, help="folder of what was asked")
    parser.add_argument("--data", type=Path, help="folder of the data sets: ask")
    parser.add_argument("--indexes", type=Path, help="where indexes are kept (default: with the rows)")
    parser.add_argument("--squad", type=Path)
    parser.add_argument("--docs", nargs="*", default=[])
    parser.add_argument("--sets", default="", help="ask these sets only, joined by commas")
    parser.add_argument("--threshold", type=float, help="instead of those chosen without the set")
    parser.add_argument("--fit", action="store_true", help="print the weights of all sets")
    options = parser.parse_args()
    options.rows.mkdir(parents=True, exist_ok=True)
    if options.data:
        gather(options)
        return
    rows = table(options.rows)
    if options.fit:
        weights = fit(rows)
        found: dict[str, Any] = {name: round(weight, 2) for name, weight in weights.items()}
        found["best threshold"] = best_threshold(rows, chances(rows, weights))
    else:
        found = report(rows, options.threshold)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
