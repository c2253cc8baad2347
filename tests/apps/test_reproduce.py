"""Experiments of the sources: their declarations hold together, and they run on small data with and without a model."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ragways.core.errors import UsageError
from ragways.evaluation.judges import find_judge
from ragways.evaluation.record import Records
from ragways.evaluation.resources.usage import MeanUsage, ParadigmUsage
from ragways.evaluation.score import MetricScore, ParadigmScores, TypeScores
from ragways.reproduce.experiment import locate, mean, seconds, tokens, total
from ragways.reproduce.sources import EXPERIMENTS
from ragways.retrieval.ask import PARADIGMS
from ragways.testing.server import LoopbackServer
from tests.apps.conftest import Run, one_line

ARTICLES = [
    {"title": f"Tollen {n}", "body": f"The light of Tollen {n} was built by Anna Brack {n} in 18{n:02}. "
     f"Anna Brack {n} was born in Harl {n}. The keeper of Tollen {n} was Carl Dorn {n}.", "source": "The Gazette",
     "published_at": f"2023-10-{n + 1:02}T00:00:00+00:00", "url": f"https://example.org/{n}"}
    for n in range(8)
]  # fmt: skip


def multihop(folder: Path) -> Path:
    folder.mkdir()
    (folder / "corpus.json").write_text(json.dumps(ARTICLES))
    rows = []
    for n, article in enumerate(ARTICLES[:6]):
        for type in ("inference", "comparison", "temporal", "null"):
            rows.append({
                "query": f"Who built the light of Tollen {n}, {type}?", "question_type": f"{type}_query",
                "answer": "Insufficient information." if type == "null" else f"Anna Brack {n}",
                "evidence_list": [] if type == "null" else [{"title": article["title"], "fact": "x"}],
            })  # fmt: skip
    (folder / "MultiHopRAG.json").write_text(json.dumps(rows))
    return folder


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda one: one.name)
def test_declarations_hold_together(experiment):
    for way in experiment.variants:
        PARADIGMS.find(way.paradigm).check(way.settings)
    assert len({way.label for way in experiment.variants}) == len(experiment.variants)
    names = {way.published for way in experiment.variants}
    for data in experiment.data:
        for column in experiment.columns_on(data):
            assert set(column.published) <= names, column.label
            if column.judge:
                find_judge(column.judge)
    assert experiment.differs
    assert any(column.published for data in experiment.data for column in experiment.columns_on(data))


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda one: one.name)
def test_what_is_missing_is_named(experiment, tmp_path: Path):
    with pytest.raises(UsageError, match="holds no data") as error:
        locate(experiment, tmp_path)
    assert experiment.data[0].name in error.value.cure
    with pytest.raises(UsageError):
        locate(experiment, tmp_path / "nowhere")


def test_figures_are_read_off_a_row():
    used = ParadigmUsage("naive", 8, 0, 8, MeanUsage(calls=2.0, tokens=1200.0), None, None, 0, None, seconds=1.5)
    metrics = {"accuracy": MetricScore(0.5, n=8), "f1": MetricScore()}
    row = ParadigmScores(
        "naive", 8, 8, 1, 0, 0, metrics, {"null": TypeScores(0, 0, {"accuracy": MetricScore(1.0, n=2)})}, used
    )
    assert mean("accuracy")(row) == 50
    assert mean("accuracy", of_type="null")(row) == 100
    assert mean("accuracy", of_type="temporal")(row) is None
    assert mean("f1")(row) is None
    assert total("accuracy")(row) == 4
    assert [value.n(row) for value in (mean("accuracy"), total("accuracy"), mean("accuracy", of_type="null"))] == [
        8,
        8,
        2,
    ]
    assert mean("accuracy", of_type="temporal").n(row) == 0
    assert (tokens(row), seconds(row)) == (1200, 1.5)
    assert tokens(replace(row, resources=replace(used, total=MeanUsage(calls=0, tokens=0)))) is None


def test_the_thesis_without_a_model(ragways: Run, home: Path):
    multihop(home / "data")
    done = ragways("reproduce", "thesis", "--data", "data", "--limit", "8", "--json")
    assert done.code == 0, done.err
    result = done.data[0]
    assert result["questions"] == 8
    assert [row["published_name"] for row in result["rows"]][:2] == ["KG-Graph", "Recursive"]
    naive = next(row for row in result["rows"] if row["paradigm"] == "naive")
    assert naive["published"][0] == 76.0
    assert naive["ours"][0] is not None
    assert naive["answered"] == 8
    assert "no model is set" in result["differs"][0]
    assert "order" not in result["differs"][0]
    assert result["differs"][1] == (
        "questions: 8 were asked here, cut by --limit 8 (comparison 2, inference 2, null 2, temporal 2)"
    )
    assert not any("draw of 50" in line for line in result["differs"])
    counted = dict(zip((column["label"] for column in result["columns"]), naive["n"], strict=True))
    assert counted == {"all %": 8, "infer.": 2, "comp.": 2, "temp.": 2, "null": 2, "tokens": None, "seconds": None}
    assert result["warnings"] == []
    records = list(Records(home / result["run"]))
    assert {record.type for record in records} == {"inference", "comparison", "temporal", "null"}
    kept = (home / result["run"] / "corpus" / "documents.jsonl").read_text().splitlines()
    assert 0 < len(kept) <= 6, "only documents that hold evidence"
    again = ragways("reproduce", "thesis", "--data", "data", "--limit", "8")
    assert "published, with GPT-4o mini" in again.out
    assert "n 2" in again.out
    assert f"ragways eval compare {result['run']}" in again.out
    assert len(list(Records(home / result["run"]))) == len(records), "nothing is asked twice"
    one_line(ragways("reproduce", "thesys", "--data", "data"), 2, "did you mean thesis?")
    one_line(ragways("reproduce", "agentic", "--data", "data"), 2, "holds no data of agentic")


def test_questions_without_any_gold_are_warned_of(ragways: Run, home: Path):
    """A file of another layout can be read and still tell nothing that could be scored."""
    (home / "data").mkdir()
    corpus = [{"title": one["title"], "text": one["body"]} for one in ARTICLES]
    (home / "data" / "corpus.json").write_text(json.dumps(corpus))
    rows = [{"id": f"{n}", "question": f"Who built Tollen {n}?", "right_answer": f"Anna Brack {n}"} for n in range(3)]
    (home / "data" / "questions.json").write_text(json.dumps(rows))
    done = ragways("reproduce", "router-bench", "--data", "data", "--limit", "2", "--json")
    assert done.code == 0, done.err
    (warning,) = done.data[0]["warnings"]
    assert "no question of questions.json has a gold answer" in warning
    assert "read as hipporag" in warning
    assert all(row["n"][-2] in (0, None) for row in done.data[0]["rows"])
    assert (
        "warning  no question of questions.json"
        in ragways("reproduce", "router-bench", "--data", "data", "--limit", "2").out
    )


def test_the_windows_without_a_model(ragways: Run, home: Path):
    (home / "data").mkdir()
    articles = {one["title"]: {"title": one["title"], "content": one["body"]} for one in ARTICLES}
    (home / "data" / "wiki-articles.json").write_text(json.dumps({"metadata": {}, "articles": articles}))
    with (home / "data" / "50qa.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "input", "expectedOutput", "context"])
        rows.writerow(["1", "Who built the light of Tollen 3?", "Anna Brack 3", json.dumps([ARTICLES[3]["body"]])])
    done = ragways("reproduce", "windows", "--data", "data", "--json")
    assert done.code == 0, done.err
    labels = [column["label"] for column in done.data[0]["columns"]]
    ours = dict(zip(labels, done.data[0]["rows"][0]["ours"], strict=True))
    assert ours["gold @ 15"] is not None
    assert ours["precision"] is None
    assert any("context-precision: needs a judge" in line for line in done.data[0]["not_run"])


def test_the_unbiased_pairs_with_a_model(ragways: Run, home: Path, demo_corpus: Path, monkeypatch: pytest.MonkeyPatch):
    (home / "data" / "corpus").mkdir(parents=True)
    for file in sorted((demo_corpus / "corpus" / "wiki").glob("*.wiki"))[:8]:
        shutil.copy(file, home / "data" / "corpus")
    done = ragways("reproduce", "unbiased", "--data", "data", "--limit", "3", "--json")
    assert done.code == 0, done.err
    assert done.data[0]["not_run"] == ["the duels: need a judge, set model or judge"]
    assert done.data[0]["duels"] is None
    made = home / "reproduced" / "unbiased-a-corpus" / "questions.jsonl"
    assert len(made.read_text().splitlines()) == 3
    (home / "asked" / "unbiased-a-corpus").mkdir(parents=True)
    shutil.copy(made, home / "asked" / "unbiased-a-corpus")  # the server's replies make no question that holds
    with LoopbackServer() as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        done = ragways("reproduce", "unbiased", "--data", "data", "--limit", "2", "--out", "asked", "--json")
    assert done.code == 0, done.err
    pairs = done.data[0]["duels"]["pairs"]
    assert len(pairs) == 6
    assert {pair["verdict"]["outcome"] for pair in pairs} == {"no verdict"}, "two questions show nothing"
