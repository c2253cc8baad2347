"""The rows of `abstention.py`: questions that a corpus answers and others, answered without a model.

For each set and paradigm: what the chance of an answer is made from, and whether the answer is right. Of the sets that
the reader was trained on, only the half that it was not trained on is taken.

Each set has questions that its corpus answers, and others:
    without     the same ones with their gold documents filtered out
    foreign     those of another set
    null        unanswerable ones that belong to the set
    generated   unanswerable ones that `ragways eval generate` made on the corpus
    trick       SQuAD's impossible ones, each written to look answerable by its paragraph
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from ragways.assemble import opened, recipe_of
from ragways.core.markdown import unmarked
from ragways.core.trace import Span
from ragways.core.types import Answer
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.metrics import token_f1
from ragways.evaluation.question import Gold, Question, squad_normal
from ragways.evaluation.questions.generate import generate
from ragways.index.build import build
from ragways.retrieval.ask import ask
from ragways.retrieval.resources import Resources
from ragways.settings import AnswerSettings, read_settings
from training.data import half_of

Row = dict[str, Any]
PARADIGMS = ("naive", "hybrid-words", "fused")
AUTO = "auto"
SETS = {
    "musique": ("hipporag", "corpus.json.gz", "questions.json.gz"),
    "hotpotqa": ("hipporag", "corpus.json.gz", "questions.json.gz"),
    "2wiki-dev400": ("hipporag", "corpus.jsonl.gz", "questions.jsonl.gz"),
    "multihop-rag": ("multihop-rag", "corpus-full-text.json.gz", "MultiHopRAG-even.json.gz"),
    "multihop-rag-summaries": ("multihop-rag", "corpus-609-summaries.json.gz", "MultiHopRAG-even.json.gz"),
    "demo": ("plain", "corpus", "questions.jsonl"),
}
"""Format, corpus, questions."""
LIKE = {
    "musique-steps": "musique",
    "multihop-rag-summaries": "multihop-rag",
    "fastapi": "docs",
    "django": "docs",
    "postgresql": "docs",
}
"""Sets of one kind, which are left out together."""
FOLDERS = {"multihop-rag-summaries": "multihop-rag"}
NO_SHORT_ANSWER = frozenset({"summary"})
"""Types of questions without a short gold answer: whether they are answered right is not known."""
LAYERS = frozenset({"vectors", "words", "graph"})
MOST = {"answerable": 140, "without": 70, "foreign": 30, "null": 60, "generated": 60, "trick": 80}
"""Questions of a kind, drawn with one seed."""
GENERATED = ("swapped", "removed", "moved")
MADE_BY_RULE = ("entry", "setting", "definition", "heading")
ENOUGH = 0.5
"""The F1 from which on a short answer is right."""


@dataclass(frozen=True)
class Source:
    """Where a set is from: its corpus, unless it is indexed; its questions, and those whose kind is known."""

    corpus: Path | None
    questions: Sequence[Question] = ()
    cases: Sequence[Case] = ()
    generated: bool = False


@dataclass(frozen=True)
class Case:
    """A question of a kind, the documents that are left out for it, and what a right answer says, as a pattern."""

    kind: str
    question: Question
    without: tuple[str, ...] = ()
    says: str = ""


def right(case: Case, answer: Answer) -> bool:
    """Whether an answer is right: a short one by its F1, one of sentences where the gold answer stands in it."""
    text = " ".join(unmarked(answer.text).split())
    if case.says:
        return re.search(case.says, f"{text} {answer.explanation}", re.IGNORECASE) is not None
    words = squad_normal(text)
    for gold in map(squad_normal, case.question.answers):
        contained = not answer.explanation and f" {gold} " in f" {words} "
        if contained or token_f1(words, [gold]) >= ENOUGH:
            return True
    return False


def kinds(use: Resources, questions: Sequence[Question], foreign: Sequence[Question]) -> Iterator[Case]:
    """The questions of a set, by kind; those with gold documents once more without them."""
    documents = [(key, title) for _, key, title in use.index.documents()]
    for question in questions:
        if question.type == "null":
            yield Case("null", question)
        elif question.answers and question.type not in NO_SHORT_ANSWER:
            yield Case("answerable", question)
            keys = {gold.key for gold in question.gold if gold.key}
            titles = {gold.title for gold in question.gold if gold.title}
            without = tuple(key for key, title in documents if title in titles or key.rpartition("#")[2] in keys)
            if without:
                yield Case("without", question, without)
    yield from (Case("foreign", question) for question in foreign)


def drawn(cases: Sequence[Case]) -> list[Case]:
    found: list[Case] = []
    for kind, most in MOST.items():
        those = [one for one in cases if one.kind == kind]
        found += those if len(those) <= most else random.Random(0).sample(those, most)
    return found


async def rows_of(use: Resources, name: str, cases: Sequence[Case]) -> list[Row]:
    """Each question in each paradigm: what its chance is made from, and whether its answer is right; in `auto` whether
    it is refused at the default threshold.
    """
    rows: list[Row] = []
    for one in drawn(cases):
        left_out = ", ".join(json.dumps(key, ensure_ascii=False) for key in one.without)
        where = f"path not in ({left_out})" if left_out else None
        for paradigm in (*PARADIGMS, AUTO):
            result = await ask(use, one.question.text, paradigm, where=where)
            features = next(_features(result.trace), None)
            if features is None and paradigm != AUTO:
                continue
            row: Row = {
                "set": name,
                "kind": one.kind,
                "paradigm": paradigm,
                "id": one.question.id,
                "features": features,
            }
            if paradigm == AUTO and result.route is not None:
                chance = result.answer.chance or 0.0
                row |= {"refused": result.answer.abstained or chance < AnswerSettings().threshold}
            truth = one.kind in ("answerable", "without") and right(one, result.answer)
            rows.append({**row, "right": truth, "question": one.question.text, "answer": result.answer.text})
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
        cases = [*source.cases, *kinds(use, source.questions, foreign)]
        if source.generated:
            made = await generate(use, kinds=GENERATED, count=MOST["generated"] // 3, without_model=True)
            cases += [Case("generated", question) for question in made.questions]
        if source.generated and source.cases:
            made = await generate(use, kinds=MADE_BY_RULE, count=10, without_model=True)
            cases += kinds(use, made.questions, ())
        keys = [key for _, key, _ in use.index.documents()]
        full = [replace(one, without=tuple(k for k in keys if k.endswith(one.without))) for one in cases if one.without]
        return await rows_of(use, name, [one for one in cases if not one.without] + full)


def squad(file: Path, folder: Path) -> Source:
    """SQuAD's paragraphs as a corpus of their own, and its questions."""
    questions: list[Question] = []
    tricks: list[Case] = []
    lines: list[str] = []
    for article in json.loads(file.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            key, title = f"p{len(lines):05d}", article["title"].replace("_", " ")
            lines.append(json.dumps({"id": key, "title": title, "text": paragraph["context"]}))
            for each in paragraph["qas"]:
                answers = tuple(dict.fromkeys(answer["text"] for answer in each["answers"]))
                question = Question(each["id"], each["question"], answers, gold=(Gold(key=key),))
                if each["is_impossible"]:
                    tricks.append(Case("trick", question))
                else:
                    questions.append(question)
    folder.mkdir(parents=True, exist_ok=True)
    corpus = folder / "squad.jsonl"
    corpus.write_text("\n".join(lines), encoding="utf-8")
    return Source(corpus, questions, tricks)


def documentation(name: str) -> list[Case]:
    """What `real_docs.jsonl` asks of one documentation in English; with and without the pages that answer it."""
    rows = map(json.loads, Path(__file__).with_name("real_docs.jsonl").read_text(encoding="utf-8").splitlines())
    found = []
    for row in rows:
        if (row["corpus"], row["language"]) == (name, "en"):
            question = Question(row["id"], row["question"])
            kind = "null" if row["kind"] == "unanswerable" else "answerable"
            found.append(Case(kind, question, says=row["says"]))
            if kind == "answerable":
                found.append(Case("without", question, tuple(row["pages"]), row["says"]))
    return found


def steps(file: Path) -> list[Question]:
    """The single facts that MuSiQue's questions are made of, each as a question, with what is known by then."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        rows = json.load(stream)
    found = []
    for row in rows:
        known: list[str] = []
        for step in row["question_decomposition"] if half_of(row["id"]) == "report" else ():
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
            chosen = [each for each in load_questions(format, folder / questions) if half_of(each.id) == "report"]
            yield name, indexes / name, Source(folder / corpus, chosen, generated=name == "demo")
    if (file := options.data / "musique" / "questions.json.gz").exists():
        yield "musique-steps", indexes / "musique", Source(None, steps(file))
    if options.squad:
        yield "squad", indexes / "squad", squad(options.squad, options.rows)
    for name, index in (each.split("=", 1) for each in options.docs):
        yield name, Path(index), Source(None, cases=documentation(name), generated=True)


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
