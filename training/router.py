"""Makes the routers that come with ragways, and tells how they do on corpora that they were not fitted on.

    python -m training.router --data DIR --indexes DIR --runs DIR [--look fused] [SET …]
    python -m training.router --paradigms ROUTERS/paradigms.json
    ragways route fit RUNS/fused/* --out ROUTERS/fused.json --trade 0.03 --common
    ragways route evaluate RUNS/fused/*

ROUTERS is `src/ragways/retrieval/routing/routers`. The first command makes a run for each set of
`training/candidates.py`: every arm on every question. What the reader and `fused` say of questions they were trained on
is too good, so only the halves `report` are asked. Beside them are asked questions of other sets, which this corpus
does not answer, and questions about the corpus as a whole, which are for the reports of communities. `route fit` fits a
router on all of them. `route evaluate` leaves each corpus out in turn, and so does `benchmarks/routing.py`, which tells
it by corpus.

Indexes are built where they are missing (with communities, whose reports are made by rule). No model is used.

With `--paradigms` it writes the router among the five paradigms of RAGRouter-Bench, whose values are the figures that
this source published, and prints what it would have got on each of its corpora, made from the other three.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import time
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np

from ragways.assemble import opened, recipe_of
from ragways.core.trace import Usage
from ragways.core.types import ABSTENTION, Evidence, Query
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.question import Question
from ragways.evaluation.record import AnswerUsage, Record, Records, RunInfo, begin, questions_hash
from ragways.evaluation.routing.models import logit
from ragways.evaluation.routing.outcomes import Floats
from ragways.evaluation.statistics.inference import studentised
from ragways.index.build import build
from ragways.reproduce.experiment import published, published_table
from ragways.reproduce.sources import EXPERIMENTS
from ragways.retrieval.answer import retrieval_only
from ragways.retrieval.ask import PARADIGMS, ask
from ragways.retrieval.routing.auto import arm_of
from ragways.retrieval.routing.features import CUTS, all_features
from ragways.retrieval.routing.look import cut, look
from ragways.retrieval.routing.router import ArmModel, CorpusRange, Guard, Router, Scale
from ragways.settings import read_settings
from training.candidates import SETS
from training.data import half_of

TOKENS = 8000
"""Tokens of evidence that an arm shows at most, as all paradigms do."""
MOST = 200
"""Questions of a set, evenly spaced."""
FOREIGN = 16
"""Questions of other sets that are asked of each."""
LAYERS = {
    "fused": frozenset({"vectors", "words", "graph", "communities"}),
    "hybrid-words": frozenset({"vectors", "words"}),
}
GLOBAL = (
    "What are the main themes of this collection?",
    "Summarise what these documents are about.",
    "Which topics come up most often across the corpus?",
    "Give an overview of the whole collection.",
    "What do all these texts have in common?",
    "What are the most important findings in these documents?",
    "Describe the overall picture that the material paints.",
    "What kinds of people and places appear in this collection?",
    "Which broad trends can be seen over all the documents?",
    "What would a newcomer need to know about this corpus?",
    "How are the major subjects of the collection related to each other?",
    "What are the key takeaways from the documents as a whole?",
)
"""Questions for the reports, in words of our own."""


def report_half(data: Path, name: str) -> list[Question]:
    """The questions of a set on which nothing was trained, those without an answer among them."""
    format, _, questions, _ = SETS[name]
    with resources.as_file(resources.files("ragways") / "demo") as demo:
        folder = demo if name == "demo" else data / name.removesuffix("-summaries")
        loaded = load_questions(format, folder / questions)
    own = [one for one in loaded if half_of(one.id) == "report" and (one.gold or _is_null(one))]
    # Two corpora have the same questions: each gets a half of them, so that leaving one corpus out leaves them out.
    twins = [other for other in SETS if SETS[other][2:] == SETS[name][2:]]
    place = twins.index(name)
    return [one for one in own if len(twins) == 1 or hashlib.sha256(one.id.encode()).digest()[1] % len(twins) == place]


def _is_null(question: Question) -> bool:
    return not question.gold and any(answer.casefold().startswith("insufficient") for answer in question.answers)


def asked(data: Path, name: str, sets: Sequence[str]) -> list[Question]:
    """What a set's corpus is asked: its own questions, some of other kinds of sets, and some about all of it."""
    own = _spaced(report_half(data, name), MOST)
    others = [other for other in sets if SETS[other][3] != SETS[name][3] and other != "demo"]
    foreign = [one for other in others for one in report_half(data, other) if one.gold]
    drawn = sorted(foreign, key=lambda one: hashlib.sha256(f"{name} {one.id}".encode()).digest())[:FOREIGN]
    return [
        *own,
        *(Question(f"foreign {one.id}", one.text, (ABSTENTION,), "null") for one in drawn),
        *(Question(f"global {n}", text, (), "summary") for n, text in enumerate(GLOBAL)),
    ]


def _spaced(questions: Sequence[Question], most: int) -> list[Question]:
    if len(questions) <= most:
        return list(questions)
    return [questions[int(n * len(questions) / most)] for n in range(most)]


async def make_run(data: Path, index: Path, folder: Path, name: str, by: str, sets: Sequence[str]) -> None:
    """The run of one set: what every arm shows for every question.

    All arms but that of the reports show the first of one look, so it is taken once for all of them, and nothing is
    answered: `tests/retrieval/routing/test_look.py` holds that the paradigms themselves show the same.
    """
    _, corpus, _, _ = SETS[name]
    settings = read_settings(index=index)
    if not index.is_dir():
        with resources.as_file(resources.files("ragways") / "demo") as demo:
            source = (demo if name == "demo" else data / name.removesuffix("-summaries")) / corpus
            await build(index, [source], recipe_of(settings, LAYERS["fused"]))
    questions = asked(data, name, sets)
    async with opened(settings) as use:
        # The index of the other kind of look is the same without its graph.
        use.index.layers = use.index.layers & LAYERS[by]
        variants = {f"{by}[k={k}]": {"k": k} for k in CUTS}
        reports: dict[str, dict[str, int]] = {"community-global": {}} if "communities" in LAYERS[by] else {}
        begin(folder, RunInfo(index=f"{use.index.identity} {by}", variants=variants | reports, data={"set": name},
                              questions=questions_hash(questions)))  # fmt: skip
        gold, records, see = GoldIndex(use.index), Records(folder), look(use)
        done = {record.question for record in records.here()}
        for question in questions:
            if question.id in done:
                continue
            began = time.perf_counter()
            looked = await see(Query(question.text))
            features = await all_features(use, question.text, looked)
            seconds = time.perf_counter() - began
            shown = {arm: await cut(use, looked, own["k"], TOKENS) for arm, own in variants.items()}
            with retrieval_only():
                for arm in reports:
                    shown[arm] = (await ask(use, question.text, arm)).answer.evidence
            for arm, evidence in shown.items():
                records.append(_record(question, arm, evidence, gold, features, seconds))


def _record(
    question: Question, arm: str, evidence: Evidence, gold: GoldIndex, features: dict[str, float], seconds: float
) -> Record:
    return Record(
        question=question.id,
        text=question.text,
        type=question.type,
        gold=question.answers,
        paradigm=arm,
        repeat=0,
        abstained=True,
        way="retrieval only",
        wanted=question.gold,
        ranks=tuple(gold.ranks(question, evidence.hits)),
        shown=tuple(gold.places(question, evidence.items)),
        usage=AnswerUsage.of(Usage(), evidence=evidence.tokens),
        features=features,
        seconds=round(seconds, 4),
    )


# The router among the paradigms of RAGRouter-Bench

BENCH = EXPERIMENTS["router-bench"]
CORPORA = ("MuSiQue", "QuALITY", "Legal", "Medical")
PARADIGM_ARMS = tuple(one for one in BENCH.variants if one.published != "Iterative (Graph)")
"""Its five; of the sixth it gives no figures by type."""
SENT = 8000
"""Tokens of a context that are sent at most; its figures are of contexts before they were cut to that."""
TOLERANCE = 0.05
"""The router is taken by its name, so a loss as small as that does not turn it off."""


def published_values(corpus: str) -> Floats:
    """The share judged correct, by type and arm. Of the model alone it is 0 over all types, so it is 0 of each."""
    found = published(BENCH.name, corpus)
    given = [[found[f"{type} %"].get(arm.published) for arm in PARADIGM_ARMS] for type in BENCH.types]
    return np.array([[(one.value if one else 0.0) or 0.0 for one in row] for row in given]) / 100


def type_shares(corpus: str) -> Floats:
    """The share of each type among the questions: that by which the figures by type give those over all types."""
    found = published(BENCH.name, corpus)["judged %"]
    every = [found[arm.published].value or 0.0 for arm in PARADIGM_ARMS]
    sums = np.vstack([published_values(corpus).T, np.ones(len(BENCH.types))])
    return np.asarray(np.linalg.lstsq(sums, np.append(np.array(every) / 100, 1.0))[0])


def spent_tokens(name: str) -> float:
    """Tokens a question: those of retrieval with its share of construction, and of a context cut to what is sent."""
    rows = [published(BENCH.name, corpus) for corpus in CORPORA]
    spent = [(row["retrieval + built"][name].value, row["generation"][name].value) for row in rows]
    return float(np.mean([(before or 0.0) + min(SENT, context or 0.0) for before, context in spent]))


def left_out() -> dict[str, tuple[float, float, float]]:
    """By corpus: the share judged correct of the router made from the other three, of their best fixed arm, and of the
    arm that is the best fixed one here.
    """
    found = {}
    for corpus in CORPORA:
        others = [other for other in CORPORA if other != corpus]
        best = np.mean([published_values(other) for other in others], axis=0).argmax(axis=1)
        fixed = int(np.mean([type_shares(other) @ published_values(other) for other in others], axis=0).argmax())
        here, shares = published_values(corpus), type_shares(corpus)
        routed = float(shares @ here[np.arange(len(best)), best])
        found[corpus] = routed, float((shares @ here)[fixed]), float((shares @ here).max())
    return found


def paradigm_router() -> Router:
    """For each arm and type the mean of the four corpora; at chances between the types the logits are between, too.

    Types of ours that are neither factual nor a summary count as reasoning. No feature of the corpus is used: with any
    of those published, the left-out figures were no better than always the best fixed arm's.
    """
    values = np.mean([published_values(corpus) for corpus in CORPORA], axis=0)
    means = np.mean([type_shares(corpus) @ published_values(corpus) for corpus in CORPORA], axis=0)
    factual, reasoning, summary = logit(values)
    gains = np.array([routed - fixed for routed, fixed, _ in left_out().values()])
    low, _ = studentised(gains, level=0.9)
    arms = []
    for a, variant in enumerate(PARADIGM_ARMS):
        found = arm_of(variant.label, PARADIGMS.find)
        arms.append(
            ArmModel(
                variant.label,
                float(means[a]),
                float((factual + reasoning + summary)[a] / 3),
                {
                    "question.type.factual": float((factual - reasoning)[a]),
                    "question.type.summary": float((summary - reasoning)[a]),
                },
                {"tokens": spent_tokens(variant.published)},
                tuple(sorted(found.paradigm.needs_with(found.settings))),
                model=variant.paradigm in ("llm-only", "iterative"),
            )
        )
    return Router(
        quality="judged-correct",
        cost="tokens",
        trade=0.0,
        fixed=arms[int(means.argmax())].name,
        arms=tuple(arms),
        features={f"question.type.{type}": Scale(1 / 3, 1.0) for type in ("factual", "summary")},
        guard=Guard(
            float(gains.mean()), low or 0.0, (low or 0.0) >= -TOLERANCE, TOLERANCE,
            f"each of {len(CORPORA)} corpora was left out in turn, by the figures that RAGRouter-Bench published",
            sum(published_table(BENCH.name, corpus)["questions"] for corpus in CORPORA),
        ),
        corpora={c: CorpusRange({}, published_table(BENCH.name, c)["questions"]) for c in CORPORA},
        model=BENCH.model,
        look="",
        made={"source": "RAGRouter-Bench, tables 13, 15 and 16: published by its authors, not measured here"},
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--look", choices=sorted(LAYERS), default="fused")
    for name in ("data", "indexes", "runs", "paradigms"):
        parser.add_argument(f"--{name}", type=Path)
    options = parser.parse_args()
    if options.paradigms:
        options.paradigms.write_text(paradigm_router().text(), encoding="utf-8")
        print("judged correct, in %: made from the other corpora, their best fixed arm, the best fixed arm here")
        for corpus, figures in left_out().items():
            print(f"{corpus:<8}", *(f"{100 * figure:5.1f}" for figure in figures))
        return
    if not (options.data and options.indexes and options.runs):
        parser.error("--data, --indexes and --runs are needed")
    every = [name for name in SETS if name != "2wiki"]
    for name in options.sets or every:
        folder = options.runs / options.look / name
        asyncio.run(make_run(options.data, options.indexes / name, folder, name, options.look, every))
        print(f"{name}: {folder}", flush=True)


if __name__ == "__main__":
    main()
