"""What experiments of the sources set, what they declare, what they would cost, and how they are shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragways.apps.reproduce import stacked
from ragways.assemble import chunking_of
from ragways.core.table import Column, Table
from ragways.corpus.structure import cut
from ragways.evaluation.record import Records
from ragways.models.tokens import count_tokens
from ragways.reproduce.differences import differences
from ragways.reproduce.experiment import locate, published, published_table
from ragways.reproduce.prepare import prepare
from ragways.reproduce.sources import EXPERIMENTS
from ragways.retrieval.paradigm import parse_variant
from ragways.retrieval.routing.router import Router
from ragways.settings import Settings, read_settings
from ragways.testing.server import LoopbackServer
from tests.apps.conftest import Run, one_line
from tests.apps.test_reproduce import ARTICLES, multihop, passages


def with_model() -> Settings:
    return read_settings(environment={}, model={"name": "m", "base_url": "http://127.0.0.1:9/v1"})


def creative(folder: Path) -> Path:
    """GraphRAG-Bench's medical questions, one of each kind, with evidence that is one string."""
    folder.mkdir()
    kinds = ("Fact Retrieval", "Complex Reasoning", "Contextual Summarize", "Creative Generation")
    rows = [{"id": f"m{n}", "source": "Medical", "question": f"What is {n}?", "answer": "A keeper.", "evidence": "Ann.",
             "question_type": kind} for n, kind in enumerate(kinds)]  # fmt: skip
    (folder / "medical_questions.json").write_text(json.dumps(rows))
    (folder / "medical_corpus.json").write_text(json.dumps([{"title": "Text", "text": ARTICLES[0]["body"]}]))
    return folder


def test_settings_of_layers_are_the_sources(tmp_path: Path):
    """Every community has a report by the model, every chunk a call, and no edge comes from the layout of documents."""
    data = multihop(tmp_path / "data")
    (located,) = locate(EXPERIMENTS["thesis"], data)
    ready = prepare(with_model(), EXPERIMENTS["thesis"], located, tmp_path / "out")
    communities, graph = ready.settings.communities, ready.settings.graph
    assert (communities.text, communities.members, communities.size) == (0, 2, 10)
    assert (graph.method, graph.structure, graph.passage_tokens, graph.vectors) == ("model", False, 1, "all")
    settings = {variant.published: variant.settings for variant in ready.variants}
    assert settings["KG-Graph"] == {"k": 4, "described": 0}, "with ten chunks it is dearer than naive"
    assert settings["Community global"]["reports"] == 0
    without = prepare(read_settings(environment={}), EXPERIMENTS["thesis"], located, tmp_path / "out")
    assert (without.settings.graph.method, without.settings.graph.structure) == ("rules", True)


def test_windows_of_the_router_benchmark_have_512_tokens_wherever_borders_are(tmp_path: Path):
    experiment = EXPERIMENTS["router-bench"]
    passages(tmp_path / "data", "2hop__")
    (located,) = locate(experiment, tmp_path / "data")
    chosen = prepare(read_settings(environment={}), experiment, located, tmp_path / "out").settings
    text = "\n\n".join(f"Paragraph {n} says that the light of Tollen was built in 18{n % 100:02}." for n in range(200))
    tokens = count_tokens(text)
    chunks = cut(text, 0, len(text), chunking_of(chosen.chunking))
    assert len(chunks) == -(-tokens // 412), "each begins 412 tokens behind the one before"
    sizes = [count_tokens(text[start:end]) for start, end in chunks]
    assert all(abs(size - 512) <= 2 for size in sizes[:-2])
    assert (chosen.answer.tokens, chosen.answer.temperature) == (1000, 0.3)


def test_the_creative_questions_are_left_out_and_evidence_without_a_list_is_one_piece(tmp_path: Path):
    experiment = EXPERIMENTS["router-bench"]
    (located,) = locate(experiment, creative(tmp_path / "data"))
    ready = prepare(read_settings(environment={}), experiment, located, tmp_path / "out")
    assert [question.type for question in ready.questions] == ["factual", "reasoning", "summary"]
    assert [[gold.statement for gold in question.gold] for question in ready.questions] == [["Ann."]] * 3
    assert located.data.differs == (), "these are the source's own questions"


LEFT = {
    "thesis": {"one graph", "KG-Graph", "context BERTScore", "global search", "local search", "communities", "reports",
               "entities", "entity vectors", "seconds", "CPU %, memory %"},
    "router-bench": {"PageRank", "entities of a question", "iterative", "titles", "GraphRAG's seeds", "tokens",
                     "entities", "entity vectors", "BERTScore, coverage, faithfulness"},
    "windows": {"corpus", "themes", "sentences", "passed", "precision, recall, relevancy, faithful"},
    "agentic": {"corpus", "relevancy", "CRAG", "model.reasoning_effort", "runs"},
    "unbiased": {"methods", "NaiveRAG", "the judge", "answers in pairs", "last words of alignment", "a win",
                 "questions' origin", "duels", "seconds", "PageRank", "communities", "entity vectors",
                 "equal lengths"},
}  # fmt: skip
BY_A_MODEL = {"prompts", "reports", "entities of a question", "KG-Graph's extraction", "model.reasoning_effort"}
BY_A_JUDGE = {"judge", "the judge", "answers in pairs", "equal lengths", "last words of alignment", "a win",
              "relevancy", "CRAG", "the old procedure", "passed", "precision, recall, relevancy, faithful"}  # fmt: skip


def abouts(name: str, settings: Settings, folder: Path, **data: Any) -> set[str]:
    """What differs, by these settings and on such data."""
    first = replace(EXPERIMENTS[name].data[0], questions=(), corpus=(), folder=(), **data)
    experiment = replace(EXPERIMENTS[name], evidence_only=False, data=(first,))
    (located,) = locate(experiment, folder)
    located = replace(located, corpus_file=folder / "corpus")
    (folder / "corpus").mkdir(exist_ok=True)
    ready = prepare(settings, experiment, located, folder / "out")
    found = list(differences(ready.settings, experiment, located, [], None, 1, ready.rules))
    assert all(one.here and one.there for one in found)
    return {one.about for one in found}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_is_left_of_differences_is_declared(name: str, tmp_path: Path):
    found = abouts(name, with_model(), tmp_path)
    assert found >= LEFT[name]
    assert not found & {"graph.structure", "graph.passage_tokens", "communities.text"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_only_a_model_or_a_judge_does_differs_only_with_one(name: str, tmp_path: Path):
    assert not abouts(name, read_settings(environment={}), tmp_path) & (BY_A_MODEL | BY_A_JUDGE)
    assert not abouts(name, with_model(), tmp_path, judged=False) & BY_A_JUDGE


def test_a_model_under_another_spelling_is_no_difference(tmp_path: Path):
    settings = read_settings(environment={}, model={"name": "openai/gpt-4o-mini", "base_url": "http://127.0.0.1:9/v1"})
    assert not abouts("unbiased", settings, tmp_path) & {"model", "judge"}
    assert {"model", "judge"} <= abouts("unbiased", with_model(), tmp_path)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_variant_in_a_run_is_called_as_every_command_calls_it(name: str):
    for data in EXPERIMENTS[name].data:
        variants = EXPERIMENTS[name].variants_on(data)
        assert len({variant.label for variant in variants}) == len(variants)
        for variant in variants:
            paradigm, settings = parse_variant(variant.label)
            assert (paradigm, {key: str(value) for key, value in variant.settings.items()}) == (
                variant.paradigm, settings,
            )  # fmt: skip


def test_published_figures_are_read_as_they_stand_there():
    thesis, bench = published("thesis", "MultiHop-RAG"), published("router-bench", "Medical")
    assert {name: figure.value for name, figure in thesis["comp."].items()} == {
        "KG-Graph": 68, "Recursive": 70, "Naive": 64, "Community global": 66,
    }  # fmt: skip
    for name in ("Naive", "Community global"):
        by_type = [thesis[label][name].value or 0 for label in ("infer.", "comp.", "temp.", "null")]
        assert sum(by_type) / 4 == thesis["all %"][name].value, "50 questions of each type"
    assert (thesis["CPU %"]["Naive"].value, thesis["CPU %"]["Naive"].maximum) == (None, 12)
    for name in ("NaiveRAG", "GraphRAG", "HybridRAG", "Iterative (Naive)"):
        for type in ("factual", "reasoning", "summary"):
            shares = [bench[f"{type} {verdict}"][name].value or 0 for verdict in ("%", "wrong", "none")]
            assert sum(shares) == pytest.approx(100, abs=0.2)
        parts = sum(bench[label][name].value or 0 for label in ("retrieval + built", "generation"))
        assert parts == pytest.approx(bench["tokens + built"][name].value, rel=0.01)
    assert published_table("router-bench", "Medical", "corpus")["chunks"] == 538
    assert published_table("thesis", "evidence") == {"0": 50, "2": 74, "3": 54, "4": 22}
    assert published("windows", "20qa")["passed, of 20"]["basic_retrieval"].value == 16


# Calls and cost before anything is asked


def plan_of(ragways: Run, name: str, *more: str) -> dict[str, int]:
    done = ragways("reproduce", name, "--data", "data", "--plan", "--json", *more)
    assert done.code == 0, done.err
    return {row["part"]: row["calls"] for row in done.data[0]["parts"]}


def test_a_plan_says_calls_and_asks_nothing(ragways: Run, home: Path, monkeypatch: pytest.MonkeyPatch):
    (home / "data" / "corpus").mkdir(parents=True)
    (home / "data" / "corpus" / "light.txt").write_text(" ".join(one["body"] for one in ARTICLES))
    assert plan_of(ragways, "unbiased")["all"] == 0, "without a model nothing is asked"
    with LoopbackServer() as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "gpt-4o-mini")
        usual, whole = plan_of(ragways, "unbiased"), plan_of(ragways, "unbiased", "--trials", "25")
        assert server.requests == []
    assert usual["duels"] < 11_000, "7 pairs of 150 questions, twice, two replies in two orders"
    assert whole["duels"] > 105_000, "the same 25 times"
    assert usual["answers"] > 5 * 150
    assert usual["questions"] == 200
    assert usual["all"] == sum(calls for part, calls in usual.items() if part != "all")


def test_every_source_has_a_plan_with_its_price(ragways: Run, home: Path, monkeypatch: pytest.MonkeyPatch):
    multihop(home / "data")
    (home / "ragways.toml").write_text("[prices.m]\ninput = 1.0\noutput = 2.0\n")
    monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("RAGWAYS_MODEL__NAME", "m")
    done = ragways("reproduce", "thesis", "--data", "data", "--plan", "--limit", "4", "--json")
    assert done.code == 0, done.err
    rows = {row["part"]: row for row in done.data[0]["parts"]}
    assert rows["all"]["usd"] == pytest.approx(sum(row["usd"] for part, row in rows.items() if part != "all"))
    pieces = 54 + 35 + 10 + 1 + 150  # kg, recursive, naive, communities: global and local
    assert rows["judgements"]["calls"] == 4 * (2 * pieces + 5 * 2), "two judges look at each piece, one at all"
    assert rows["index"]["calls"] > 3


# How it is shown


def test_a_wide_table_is_stacked_and_loses_nothing():
    columns = [Column("name"), *(Column(f"column {n}", align="right") for n in range(9)), Column("words")]
    rows = [["a name", *(f"{n}.{n} (1.0–{n}.9)" for n in range(9)), "words that may be broken " * 4]]
    table = Table.of(columns, rows, title="title", notes=["note"])
    parts = list(stacked(table, 80))
    assert len(parts) > 1
    assert [column.title for part in parts for column in part.columns[1:]] == [one.title for one in columns[1:]]
    assert {part.columns[0].title for part in parts} == {"name"}
    assert [part.title for part in parts] == ["title", *[""] * (len(parts) - 1)]
    assert [part.notes for part in parts] == [*[()] * (len(parts) - 1), ("note",)]
    for part in parts:
        lines = [len(cell) for cell in part.texts()[0] if not cell.startswith("words")]
        assert sum(lines) + len(lines) <= 80
    assert list(stacked(table, 1000)) == [table]


@pytest.mark.parametrize("name", ["router-bench", "thesis"])
def test_eighty_columns_hold_every_published_figure(
    name: str, ragways: Run, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "80")
    if name == "thesis":
        multihop(home / "data")
    else:
        creative(home / "data")
    done = ragways("reproduce", name, "--data", "data", "--limit", "3")
    assert done.code == 0, done.err
    tables = done.out[: done.out.index("\ndata  ")]
    assert max(map(len, done.out[: done.out.index("\nsee it all")].splitlines())) <= 80, "words about figures, too"
    assert "…" not in tables
    data = EXPERIMENTS[name].data[-1 if name == "router-bench" else 0]
    for column in EXPERIMENTS[name].columns_on(data):
        for figure in column.published.values():
            if figure.value is not None:
                assert f"{figure.value:,.{column.digits}f}" in tables, column.label
    assert not re.search(r"differs .*: here .*; there $", done.out)


# A run of an experiment is a run like any other


def test_every_paradigm_has_seconds_though_replies_are_cached_and_a_router_is_fitted_on_the_run(
    ragways: Run, home: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = home / "data" / "GraphRAGBench_Medical"
    folder.mkdir(parents=True)
    rows = [{"id": n, "question": f"Who built Tollen {n % 8}, question {n}?", "answer": f"Anna Brack {n % 8}",
             "type": ("single_hop", "multi_hop")[n % 2],
             "supporting_facts": [{"doc_id": n % 8, "text": f"built by Anna Brack {n % 8}"}]}
            for n in range(20)]  # fmt: skip
    corpus = [{"id": n, "title": one["title"], "context": one["body"]} for n, one in enumerate(ARTICLES)]
    for name, lines in (("Question.json", rows), ("Corpus.json", corpus)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    with LoopbackServer() as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        done = ragways("reproduce", "router-bench", "--data", "data", "--json")
    for name in ("BASE_URL", "NAME"):
        monkeypatch.delenv(f"RAGWAYS_MODEL__{name}")
    assert done.code == 0, done.err
    (result,) = done.data
    records = list(Records(home / result["run"]))
    timed = {record.paradigm for record in records if not record.replies_known}
    assert timed == set(result["names"]), "graph-ppr, hybrid and iterative name the same entities, each by a call"
    place = [column["label"] for column in result["columns"]].index("seconds")
    assert all(row["ours"][place]["value"] > 0 for row in result["rows"])
    assert {row["of the corpus"]: row["ours"] for row in result["tables"]["corpus"]}["chunks"] == len(corpus)
    fitted = ragways("route", "fit", result["run"], "--out", "router.json", "--json")
    assert fitted.code == 0, fitted.err
    arms: dict[str, tuple[str, ...]] = {
        "llm-only": (),
        "naive[k=100;minimum=0.4]": ("vectors",),
        "graph-ppr[weighted=False]": ("graph", "vectors"),
        "hybrid[weighted=False]": ("graph", "vectors"),
        "iterative[base=naive;k=100;memory=True]": ("vectors",),
        "iterative[base=graph-ppr;k=100;weighted=False;memory=True]": ("graph", "vectors"),
    }
    assert {one["arm"] for one in fitted.data["arms"]} == arms.keys()
    assert {one.name: one.needs for one in Router.read(home / "router.json").arms} == arms
    measured = ragways("route", "evaluate", result["run"], "--json")
    assert measured.code == 0, measured.err
    assert arms.keys() <= {one["policy"] for one in measured.data["policies"]}
    options = ("--index", str(Path(result["run"]) / "index"), "--router", "router.json", "--json")
    explained = ragways("route", "explain", "Who built Tollen 3?", *options)
    assert explained.code == 0, explained.err
    decision = explained.data["decision"]
    assert {one["arm"]: one["impossible"] for one in decision["estimates"]} == {
        arm: "no model is set" if arm == "llm-only" else "" for arm in arms
    }


def test_iterative_over_chunks_needs_and_pays_for_no_graph(ragways: Run, home: Path):
    (home / "docs").mkdir()
    (home / "docs" / "light.txt").write_text(" ".join(one["body"] for one in ARTICLES))
    assert ragways("index", "docs").code == 0
    asked = ragways("ask", "Who built Tollen 3?", "--paradigm", "iterative", "--set", "base=naive", "--json")
    assert asked.code == 0, asked.err
    one_line(ragways("ask", "Who built Tollen 3?", "--paradigm", "iterative"), 3, "graph")


def test_another_name_of_a_field_is_named_with_its_file(ragways: Run, home: Path):
    folder = home / "data" / "RAGRouter_MuSiQue"
    folder.mkdir(parents=True)
    (folder / "Question.json").write_text('{"id": 1, "text": "Who?", "answer": "Brack", "type": "single_hop"}\n' * 2)
    one_line(ragways("reproduce", "router-bench", "--data", "data"), 2, "Question.json has no field 'question'",
             "(its fields: id, text, answer, type)", "name the fields of Question.json id, question")  # fmt: skip
    (folder / "Question.json").write_text(
        '{"id": 1, "question": "Who?", "answer": "Brack", "type": "single_hop"}\n' * 2
    )
    (folder / "Corpus.json").write_text('{"id": 1, "title": "Tollen", "text": "Built by Brack."}\n' * 2)
    one_line(ragways("reproduce", "router-bench", "--data", "data"), 2, "Corpus.json has no field 'context'",
             "name the fields of Corpus.json id, title and context")  # fmt: skip
