"""Experiments of the sources: their declarations hold together, and they run on small data with and without a model."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ragways.core.errors import UsageError
from ragways.core.table import Table
from ragways.core.trace import Usage
from ragways.evaluation.duel.entries import DuelRules
from ragways.evaluation.duel.figures import DuelRound, DuelRounds, duel_figures
from ragways.evaluation.judges import find_judge
from ragways.evaluation.record import AnswerOrigin, AnswerUsage, Record, Records, Score, TraceStep
from ragways.evaluation.resources.sampler import ResourceSample
from ragways.evaluation.resources.usage import usage
from ragways.reproduce.by_type import type_rows
from ragways.reproduce.differences import differences, recreated
from ragways.reproduce.experiment import LocatedData, locate
from ragways.reproduce.figures import (
    Figure,
    VariantRun,
    construction,
    cpu_percent,
    mean,
    median_interval,
    median_tokens,
    memory_percent,
    passed,
    retrieval_with_construction,
    seconds,
    share,
    tokens,
    tokens_with_construction,
    total,
    used,
)
from ragways.reproduce.sources import EXPERIMENTS
from ragways.retrieval.ask import PARADIGMS
from ragways.settings import read_settings
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
                "evidence_list": [] if type == "null" else [
                    {"title": article["title"], "fact": f"built by Anna Brack {n}"}
                ],
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


def test_files_that_cannot_be_used_are_named_with_the_reason(ragways: Run, home: Path):
    folder = multihop(home / "data")
    (folder / "corpus.json").write_text(json.dumps([{"titel": "Tollen", "body": "It is old."}]))
    one_line(ragways("reproduce", "thesis", "--data", "data"), 2, "no document of data/corpus.json is evidence of a",
             "MultiHopRAG.json")  # fmt: skip
    (folder / "MultiHopRAG.json").write_text('{"query": 1')
    one_line(ragways("reproduce", "thesis", "--data", "data"), 2, "MultiHopRAG.json is not valid JSON")


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda one: one.name)
def test_what_is_missing_is_named(experiment, tmp_path: Path):
    with pytest.raises(UsageError, match="holds no data") as error:
        locate(experiment, tmp_path)
    assert experiment.data[0].name in error.value.cure
    with pytest.raises(UsageError):
        locate(experiment, tmp_path / "nowhere")


def records(*tokens_of: tuple[float, ...]) -> list[Record]:
    """A record a repeat of each question, which took so many tokens."""
    return [
        Record(f"q{n}", "?", "", (), "naive", repeat, usage=AnswerUsage(calls=1, input=tokens), seconds=tokens / 1000)
        for n, repeats in enumerate(tokens_of)
        for repeat, tokens in enumerate(repeats)
    ]


def test_figures_are_read_off_a_run_with_interval_and_range():
    columns = ["metric", "type", "mean", "low", "high", "n", "median", "minimum", "maximum"]
    figures = [
        ("accuracy", "", 0.5, 0.2, 0.8, 8, None, None, None),
        ("accuracy", "null", 1.0, None, None, 2, None, None, None),
        ("f1", "", None, None, None, 0, None, None, None),
        ("crag-fine", "", 0.25, -0.5, 0.5, 8, 0.2, 0.1, 0.4),
    ]
    costs = Table.of(
        ["paradigm", "index_calls", "index_layers", "index_tokens", "index_tokens_each"],
        [("naive", 3, "graph, vectors", 800, 200.0)],
    )
    tables = {"costs": costs, "figures": Table.of(["paradigm", *columns], [("naive", *row) for row in figures])}
    run = VariantRun("naive", tables, records((1000, 1200), (2000, 2200), (600, 3000)))
    assert mean("accuracy")(run) == Figure(50, 20, 80, 8)
    assert mean("accuracy", of_type="null")(run) == Figure(100, n=2)
    assert mean("accuracy", of_type="temporal")(run) == mean("f1")(run) == Figure(n=0)
    assert total("accuracy")(run).value == 4
    assert total("crag-fine")(run) == Figure(1.6, -4, 4, 8, 0.8, 3.2)
    found = tokens(run)
    assert found.value == pytest.approx((3600 / 3 + 6400 / 3) / 2)
    assert (found.minimum, found.maximum) == pytest.approx((1200, 6400 / 3))
    assert found.low is not None
    assert found.high is not None
    assert found.low < 1700 < found.high
    assert median_tokens(run).value == (1000 + 2200) / 2
    assert construction("tokens")(run) == Figure(800)
    assert tokens_with_construction(run).value == pytest.approx((3600 / 3 + 6400 / 3) / 2 + 200)
    assert retrieval_with_construction(run).n == 0, "these records have no steps to tell by"
    known = VariantRun(
        "naive", tables, [replace(one, replies_known=1, usage=AnswerUsage(calls=0)) for one in run.records]
    )
    assert seconds(known) == tokens(known) == Figure(n=0)
    assert seconds(run).n == 3


def test_an_answer_without_a_call_counts_in_means_of_tokens_and_money():
    paid, usd = AnswerUsage(calls=1, input=1790, output=0, usd=0.03), used("usd")
    rows = [
        Record(f"q{n}", "?", "", (), "naive", 0, usage=paid if n < 7 else AnswerUsage.of(Usage()),
               made=AnswerOrigin(model="m"), steps=(TraceStep("model call", usage=Usage(1, 1790)),) if n < 7 else ())
        for n in range(9)
    ]  # fmt: skip
    run = VariantRun("naive", {"costs": Table.of(["paradigm", "index_tokens_each"], [("naive", None)])}, rows)
    assert tokens(run).value == retrieval_with_construction(run).value == pytest.approx(1790 * 7 / 9)
    assert usd(run).value == pytest.approx(0.03 * 7 / 9)
    unpriced = [replace(row, usage=replace(row.usage, usd=None)) if row.usage.calls else row for row in rows]
    assert usd(replace(run, records=unpriced)).value is None, "7 unknown prices and two of 0 are no mean of 0"
    assert usage(unpriced).cell("usd", paradigm="naive") is None
    assert usage(rows).cell("usd", paradigm="naive") == pytest.approx(0.03 * 7 / 9)


def scored(*values: dict[str, float | None]) -> VariantRun:
    """A run of one answer to each question, with these values of its metrics."""
    rows = [
        Record(f"q{n}", "?", "", (), "naive", 0, values={name: Score(value) for name, value in given.items()})
        for n, given in enumerate(values)
    ]
    return VariantRun("naive", {}, rows)


def test_shares_and_test_cases_that_passed():
    run = scored(
        {"crag-fine": 1.0, "recall": 0.9, "precision": 0.5}, {"crag-fine": -0.5, "recall": 0.4, "precision": 1.0},
        {"crag-fine": 0.5, "recall": 1.0, "precision": 1.0}, {"crag-fine": None, "recall": None, "precision": 1.0},
    )  # fmt: skip
    right = share("crag-fine", (1.0, 0.5))(run)
    assert right.value == pytest.approx(2 / 3)
    assert right.n == 3
    assert right.low is not None
    assert right.high is not None
    assert 0 <= right.low < right.high <= 1
    cases = passed("recall", "precision")(run)
    assert (cases.value, cases.n) == (2, 3), "2 of 3 test cases; the fourth was not judged"


def test_an_interval_stays_in_the_range_of_its_figure():
    columns = ["metric", "type", "mean", "low", "high", "n", "median", "minimum", "maximum"]
    figures = [("crag-fine", "", 0.5, -1.76, 2.1, 2, None, None, None)]
    run = VariantRun("naive", {"figures": Table.of(["paradigm", *columns], [("naive", *row) for row in figures])}, [])
    assert mean("crag-fine", scale=1)(run) == Figure(0.5, -1, 1, 2)
    assert total("crag-fine")(run) == Figure(1.0, -2, 2, 2)
    spread = tokens(VariantRun("naive", {}, records((1,), (1,), (1000,))))
    assert spread.low == 0, "tokens are never less than none"
    rates = duel_figures(rounds(9.0, 9.0, -9.0))
    assert rates.low is not None
    assert rates.high is not None
    assert -1 <= rates.low < rates.high <= 1


def rounds(*differences: float) -> DuelRounds:
    return DuelRounds(rounds=[DuelRound(f"q{n}", 0, None, each) for n, each in enumerate(differences)])


def test_load_is_in_percent_of_the_machine():
    samples = [ResourceSample(at, label, cpu, 2**20) for at, label, cpu in
               ((0.0, "", 0.0), (2.0, "naive", 0.0), (4.0, "naive", 1.0), (6.0, "kg", 9.0))]  # fmt: skip
    run = VariantRun("naive", {}, [], samples)
    cpu, memory = cpu_percent(run), memory_percent(run)
    assert cpu.minimum == 0.0
    assert cpu.value == pytest.approx((cpu.maximum or 0) / 2)
    assert 0 < (cpu.maximum or 0) <= 50
    assert memory.value is not None
    assert 0 < memory.value < 1


def test_the_interval_of_a_median_by_the_binomial_distribution():
    assert median_interval([3, 1, 2, 5, 4]) == (None, None)
    assert median_interval([6, 3, 1, 2, 5, 4]) == (1, 6)
    assert median_interval(range(1, 21)) == (6, 15)  # a table of the sign test: 5 of 20 at most


def test_the_thesis_without_a_model(ragways: Run, home: Path):
    multihop(home / "data")
    done = ragways("reproduce", "thesis", "--data", "data", "--limit", "4", "--json")
    assert done.code == 0, done.err
    result = done.data[0]
    assert result["questions"] == 4
    assert [row["published_name"] for row in result["rows"]][:2] == ["KG-Graph", "Recursive"]
    naive = next(row for row in result["rows"] if row["paradigm"] == "naive")
    figures = dict(zip((column["label"] for column in result["columns"]), naive["ours"], strict=True))
    assert naive["published"][0] == {"value": 76.0, "minimum": None, "maximum": None}
    assert naive["answered"] == 4
    assert {label: figures[label]["n"] for label in ("all %", "infer.", "null", "seconds")} == {
        "all %": 4, "infer.": 1, "null": 1, "seconds": 4,
    }  # fmt: skip
    assert figures["all %"]["low"] < figures["all %"]["value"] < figures["all %"]["high"]
    assert figures["BERTScore F1"]["n"] == 3, "null questions have no evidence"
    assert 0 < figures["BERTScore F1"]["low"] < figures["BERTScore F1"]["value"]
    assert figures["seconds"]["low"] <= figures["seconds"]["value"]
    differs = {one["about"]: one for one in result["differs"]}
    assert "no model is set" in differs["answers"]["here"]
    assert differs["graph.method"] == {"about": "graph.method", "here": "rules", "there": "model"}
    assert "graph.vectors" not in differs, "all entities have vectors, as there"
    assert differs["questions"]["here"] == (
        "4 were asked, cut by --limit 4 (comparison 1, inference 1, null 1, temporal 1)"
    )
    assert [Path(file).name for file in result["files"]] == ["MultiHopRAG.json", "corpus.json"]
    assert result["warnings"] == []
    records = list(Records(home / result["run"]))
    assert {record.made.preset for record in records} == {"short"}
    assert {record.type for record in records} == {"inference", "comparison", "temporal", "null"}
    kept = (home / result["run"] / "corpus" / "documents.jsonl").read_text().splitlines()
    assert 0 < len(kept) <= 6, "only documents that hold evidence"
    again = ragways("reproduce", "thesis", "--data", "data", "--limit", "4")
    assert "published, with GPT-4o mini" in again.out
    assert "n 1" in again.out
    assert "differs  graph.method: here rules; there model" in again.out
    assert f"ragways eval compare {result['run']}" in again.out
    assert len(list(Records(home / result["run"]))) == len(records), "nothing is asked twice"
    one_line(ragways("reproduce", "thesys", "--data", "data"), 2, "did you mean thesis?")
    one_line(ragways("reproduce", "agentic", "--data", "data"), 2, "holds no data of agentic")


def test_questions_without_any_gold_are_warned_of(ragways: Run, home: Path):
    """A file of another layout can be read and still tell nothing that could be scored."""
    (home / "data").mkdir()
    corpus = [{"title": one["title"], "text": one["body"]} for one in ARTICLES[:3]]
    (home / "data" / "corpus.json").write_text(json.dumps(corpus))
    rows = [
        {"id": f"2hop__{n}", "question": f"Who built Tollen {n}?", "right_answer": f"Anna Brack {n}"} for n in range(3)
    ]
    (home / "data" / "questions.json").write_text(json.dumps(rows))
    shown = ragways("reproduce", "router-bench", "--data", "data", "--limit", "1").out
    assert "warning  no question of questions.json has a gold answer" in shown
    assert "read as hipporag" in shown
    result = ragways("reproduce", "router-bench", "--data", "data", "--limit", "1", "--json").data[0]
    labels = [column["label"] for column in result["columns"]]
    for row in result["rows"]:
        ours = dict(zip(labels, row["ours"], strict=True))
        assert {ours[label]["value"] for label in ("exact %", "sem. F1", "coverage")} == {None}, "unscored is no 0"


def questions_of_windows(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["id", "input", "expectedOutput", "context", "additionalMetadata"])
        for n in (3,):
            rows.writerow([f"{n}", f"Who built the light of Tollen {n}?", f"Anna Brack {n}",
                           json.dumps([ARTICLES[n]["body"]]), '{"evolutions": ["Reasoning"]}'])  # fmt: skip


def test_the_windows_without_a_model_on_both_sets_as_their_repository_has_them(ragways: Run, home: Path):
    articles = {one["title"]: {"title": one["title"], "content": one["body"]} for one in ARTICLES[2:5]}
    questions_of_windows(home / "repository" / "datasets" / "20qa-themes-gpt4omini-reasoning.csv")
    questions_of_windows(home / "repository" / "datasets" / "50qa-seq-multihop.csv")
    (home / "repository" / "data").mkdir()
    (home / "repository" / "data" / "wiki.json").write_text(json.dumps({"metadata": {}, "articles": articles}))
    done = ragways("reproduce", "windows", "--data", "repository", "--json")
    assert done.code == 0, done.err
    assert [result["data"] for result in done.data] == ["50qa", "20qa"]
    for result, precision, cases, sentences in zip(done.data, (0.93, 0.87), (48, 16), (15, 10), strict=True):
        labels = [column["label"] for column in result["columns"]]
        ours, published = (dict(zip(labels, result["rows"][0][side], strict=True)) for side in ("ours", "published"))
        assert ours[f"gold @ {sentences}"]["value"] == 1.0
        assert ours[f"gold @ {sentences}"]["n"] == 1
        assert [row["settings"] for row in result["rows"]] == [*[{"max_sentences": sentences}] * 6, {}]
        assert next(published[label]["value"] for label in labels if label.startswith("passed")) == cases
        assert ours["precision"]["value"] is None
        assert published["precision"]["value"] == precision
        assert any("context-precision: needs a judge" in line for line in result["not_run"])


def passages(folder: Path, ids: str, **more: object) -> None:
    """Questions in the layout that MuSiQue shares with others."""
    folder.mkdir(parents=True)
    corpus = [{"title": one["title"], "text": one["body"]} for one in ARTICLES]
    (folder / "corpus.json").write_text(json.dumps(corpus))
    rows = [{"id": f"{ids}{n}", "question": f"Who built Tollen {n}?", "answer": f"Anna Brack {n}", **more}
            for n in range(4)]  # fmt: skip
    (folder / "questions.json").write_text(json.dumps(rows))


def test_a_set_is_known_by_what_it_holds_and_not_by_the_names_of_its_files(tmp_path: Path):
    router, agentic, unbiased = (EXPERIMENTS[name] for name in ("router-bench", "agentic", "unbiased"))
    passages(tmp_path / "2wiki-dev400", "d", hop_type="bridge")
    (tmp_path / "README.md").write_text("Benchmark data, which is no corpus.")
    with pytest.raises(UsageError, match=r"questions\.json is hipporag, but not MuSiQue"):
        locate(router, tmp_path)
    with pytest.raises(UsageError, match=r"questions\.json is not laid out as 2wiki-results"):
        locate(agentic, tmp_path)
    with pytest.raises(UsageError, match="holds no data of unbiased"):
        locate(unbiased, tmp_path)
    passages(tmp_path / "multihop", "2hop__")
    (found,) = locate(router, tmp_path)
    assert (found.data.name, found.questions_file) == ("MuSiQue", tmp_path / "multihop" / "questions.json")
    assert found.corpus_file == tmp_path / "multihop" / "corpus.json"
    own = tmp_path / "RAGRouter_MuSiQue"
    own.mkdir()
    (own / "Question.json").write_text('{"id": 1, "question": "Who?", "answer": "Brack", "type": "single_hop"}\n' * 2)
    (found,) = locate(router, tmp_path)
    assert (found.data.format, [one.type for one in found.questions]) == ("ragrouter-bench", ["factual"] * 2)
    (tmp_path / "corpus").mkdir()
    (found,) = locate(unbiased, tmp_path)
    assert found.files == (str(tmp_path / "corpus"),)


def test_the_router_benchmark_as_it_is_published_by_type_with_a_model(
    ragways: Run, home: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = home / "data" / "GraphRAGBench_Medical"
    folder.mkdir(parents=True)
    types = ("single_hop", "multi_hop", "summary")
    rows = [{"id": n, "question": f"Who built Tollen {n}?", "answer": f"Anna Brack {n}", "type": types[n % 3],
             "supporting_facts": [{"doc_id": n, "text": f"built by Anna Brack {n}"}]} for n in range(3)]  # fmt: skip
    corpus = [{"id": n, "title": one["title"], "context": one["body"]} for n, one in enumerate(ARTICLES[:4])]
    for name, lines in (("Question.json", rows), ("Corpus.json", corpus)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    with LoopbackServer() as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        done = ragways("reproduce", "router-bench", "--data", "data", "--json")
    assert done.code == 0, done.err
    (result,) = done.data
    assert result["data"] == "Medical"
    assert result["not_run"] == []
    labels = [column["label"] for column in result["columns"]]
    graph = next(row for row in result["rows"] if row["published_name"] == "GraphRAG")
    assert graph["settings"] == {"weighted": False}
    ours, theirs = (dict(zip(labels, graph[side], strict=True)) for side in ("ours", "published"))
    assert [theirs[f"{type} %"]["value"] for type in ("factual", "reasoning", "summary")] == [55.0, 56.0, 43.6]
    assert [ours[f"{type} %"]["n"] for type in ("factual", "reasoning", "summary")] == [1, 1, 1]
    by_type = {row["type"]: row for row in result["by_type"]}
    assert {row["metric"] for type, row in by_type.items() if type} == {"judged-correct"}
    assert [cell["ours"]["n"] for cell in by_type["summary"]["cells"]] == [1, 1, 1, 1]
    assert by_type[""]["cells"][1]["ours"]["value"] == ours["tokens + built"]["value"]
    assert theirs["tokens + built"]["value"] == pytest.approx(71.63e6 / 1896)
    assert ours["to build"]["value"] > 0, "the graph was made by the model"
    assert ours["tokens + built"]["value"] == pytest.approx(ours["tokens"]["value"] + ours["to build"]["value"] / 3)
    assert ours["tokens"]["n"] == 3
    differs = {one["about"]: one for one in result["differs"]}
    assert differs["model"] == {"about": "model", "here": "loopback", "there": "DeepSeek-V3"}
    assert not {"answers", "graph.method", "questions' origin", "temperature", "answer.temperature"} & set(differs)
    assert {(one.made.preset, one.made.temperature) for one in Records(home / result["run"])} == {("shared", 0.3)}
    sent = {one.body.get("temperature") for one in server.requests if one.path.endswith("/chat/completions")}
    assert sent == {0.0, 0.1, 0.3, 0.7}, "to build and judge; iterative's evaluator; to answer; the model alone"


def test_the_table_of_types_and_corpora_as_published():
    """The stars and the thousands of tokens are those that the source itself prints (its figure 5 and table 2)."""
    bench = EXPERIMENTS["router-bench"]
    corpora = {data.name: {row.type: row.cells for row in type_rows(bench, data)} for data in bench.data}
    best = {
        (corpus, type): next(cell.published_name for cell in cells if cell.published_best)
        for corpus, rows in corpora.items()
        for type, cells in rows.items()
        if type
    }
    naive, graph, hybrid, iterative = "NaiveRAG", "GraphRAG", "HybridRAG", "Iterative (Naive)"
    starred = {"MuSiQue": (graph, hybrid, hybrid), "QuALITY": (naive, naive, graph),
               "Legal": (hybrid, iterative, naive), "Medical": (hybrid, iterative, iterative)}  # fmt: skip
    for corpus, names in starred.items():
        assert tuple(best[corpus, type] for type in ("factual", "reasoning", "summary")) == names
        assert [cell.published_name for cell in corpora[corpus][""]] == [naive, graph, hybrid, iterative]
    thousands = {name: [round((cell.published or 0) / 1000) for cell in rows[""]] for name, rows in corpora.items()}
    assert thousands == {"MuSiQue": [13, 9, 22, 20], "QuALITY": [50, 50, 99, 21], "Legal": [46, 184, 230, 20],
                         "Medical": [51, 38, 74, 7]}  # fmt: skip


def test_types_and_corpora_beside_ours_without_a_judge(ragways: Run, home: Path):
    passages(home / "data", "2hop__")
    done = ragways("reproduce", "router-bench", "--data", "data", "--limit", "2", "--json")
    assert done.code == 0, done.err
    rows = {row["type"]: row for row in done.data[0]["by_type"]}
    assert {row["metric"] for type, row in rows.items() if type} == {"accuracy"}
    assert [cell["ours"]["n"] for cell in rows["reasoning"]["cells"]] == [2, 2, 2, 2]
    assert rows["reasoning"]["cells"][0]["ours"]["value"] is not None
    unscored = [cell["ours"]["value"] for type in ("factual", "summary", "") for cell in rows[type]["cells"]]
    assert set(unscored) == {None}, "its questions are of one type, and no model was asked: that is no 0"
    shown = ragways("reproduce", "router-bench", "--data", "data", "--limit", "2").out
    table = shown[shown.index("By type of question and corpus") :]
    assert "MuSiQue: ours were not judged" in table
    assert "not run, for there is no data: QuALITY, Legal, Medical" in table
    lines = table.splitlines()
    factual = next(n for n, line in enumerate(lines) if line.startswith("MuSiQue"))
    assert lines[factual].split() == ["MuSiQue", "factual", *["unscored"] * 4]
    assert lines[factual + 1].split() == ["11.1", "90.2*", "83.7", "10.3"]
    assert sum("n 2: " in line for line in lines) == 1
    assert next(line for line in lines if line.startswith("Legal")).split() == (
        ["Legal", "factual", "54.9", "61.6", "72.2*", "49.5"]
    )
    assert ["tokens", "46,351", "183,673", "229,522", "19,930*"] in [line.split() for line in lines], "those of Legal"


def test_the_agents_run_three_times_with_median_and_range(ragways: Run, home: Path, monkeypatch: pytest.MonkeyPatch):
    (home / "data").mkdir()
    (home / "data" / "corpus.json").write_text(json.dumps(ARTICLES))
    rows = [
        {"ex_num": n, "question": f"Who built Tollen {n}?", "validated_answer": [f"Anna Brack {n}"]} for n in (1, 2)
    ]
    (home / "data" / "monaco.json").write_text(json.dumps(rows))
    with LoopbackServer() as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        done = ragways("reproduce", "agentic", "--data", "data", "--json")
        shown = ragways("reproduce", "agentic", "--data", "data").out
    assert done.code == 0, done.err
    (result,) = done.data
    assert result["runs"] == 3
    assert {(record.paradigm, record.repeat) for record in Records(home / result["run"])} >= {
        ("agent-graph", repeat) for repeat in range(3)
    }
    labels = [column["label"] for column in result["columns"]]
    row = next(row for row in result["rows"] if row["published_name"] == "zero-shot")
    ours, theirs = (dict(zip(labels, row[side], strict=True)) for side in ("ours", "published"))
    assert theirs["fine truth"] == {"value": 40.5, "minimum": 39, "maximum": 45}
    assert ours["tokens p50"]["minimum"] <= ours["tokens p50"]["value"] <= ours["tokens p50"]["maximum"]
    assert ours["exact %"]["minimum"] is not None
    assert "median of 3 runs and their range" in shown
    assert "40.5 (39.0–45.0)" in shown
    assert theirs["reasoning p50"] == {"value": 516, "minimum": 516, "maximum": 516}
    assert theirs["coarse wrong"]["value"] == 0.59
    assert ours["coarse correct"]["low"] >= 0
    unscored = {(row["metric"], row["why"]): row for row in result["tables"]["unscored"]}
    assert unscored["answer-relevancy", "unreadable reply"]["unscored"] == 6, "three runs of two questions"
    counts = result["tables"]["crag"]
    assert [row["coarse"] for row in counts[:3]] == ["+1", "0", "-1"]
    assert sum(row["fine 0"] for row in counts if row["variant"] == "vector") == 6
    asked = [one.body for one in server.requests if one.path.endswith("/chat/completions")]
    assert len(asked) > 0
    differs = {one["about"]: one for one in result["differs"]}
    assert differs["model.reasoning_effort"]["there"] == "medium"


def test_the_unbiased_pairs_with_a_model(ragways: Run, home: Path, demo_corpus: Path, monkeypatch: pytest.MonkeyPatch):
    (home / "data" / "corpus").mkdir(parents=True)
    for file in sorted((demo_corpus / "corpus" / "wiki").glob("*.wiki"))[:4]:
        shutil.copy(file, home / "data" / "corpus")
    done = ragways("reproduce", "unbiased", "--data", "data", "--limit", "1", "--json")
    assert done.code == 0, done.err
    assert done.data[0]["not_run"] == ["the duels: need a judge, set model or judge"]
    assert done.data[0]["duels"] == []
    made = home / "reproduced" / "unbiased-a-corpus" / "questions.jsonl"
    assert all(f'"kind": "{kind}"' in made.read_text() for kind in ("node", "edge")), (
        "rules find no subgraph in so little"
    )
    (home / "asked" / "unbiased-a-corpus").mkdir(parents=True)
    shutil.copy(made, home / "asked" / "unbiased-a-corpus")  # the server's replies make no question that holds
    with LoopbackServer() as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        done = ragways("reproduce", "unbiased", "--data", "data", "--limit", "2", "--out", "asked", "--json")
        shown = ragways("reproduce", "unbiased", "--data", "data", "--limit", "2", "--out", "asked").out
    assert done.code == 0, done.err
    assert "calls (index " in done.err, "calls and cost come first"
    (result,) = done.data
    assert len(result["duels"]) == 7, "every two, and one method against itself"
    assert {duel["verdict"].partition(":")[0] for duel in result["duels"]} == {"no verdict"}, (
        "two questions show nothing"
    )
    assert {duel["published"] for duel in result["duels"]} == {None, 0.21, 0.11, 0.0}
    assert result["duel_result"]["rules"]["trials"] == 2
    assert not result["duel_result"]["test"]["passed"]
    itself = next(duel for duel in result["duels"] if duel["published"] == 0.0)
    assert {result["names"][itself[side]] for side in ("a", "b")} == {"LightRAG", "LightRAG (2)"}
    assert itself["rate"] == 0.0, "a figure although the judge failed its test"
    assert "the judge FAILED its test: figures alone, and no winner" in shown
    aspects = next(pair for pair in result["duel_result"]["pairs"] if pair["n"])["aspects"]
    assert [aspect["name"] for aspect in aspects] == ["comprehensiveness", "relevance", "empowerment", "directness"]
    assert all(aspect["won"] + aspect["tied"] + aspect["lost"] == 4 for aspect in aspects), (
        "two trials of two questions"
    )
    assert "won/tied/lost" in shown
    old = [duel["forced"] for duel in result["duels"]]
    assert {(one["wins_a"], one["wins_b"], one["unread"]) for one in old} == {(2, 0, 0)}, "the server says the first"
    assert result["names"][old[0]["a"]] == "MGRAG", "named first, it stands first"
    settings = {one["about"] for one in result["differs"]}
    assert not {"graph.gleaning", "graph.vectors", "graph.relation_vectors", "graph.method"} & settings
    assert "old way" in shown
    assert "no verdict" in shown


def test_pairs_over_several_corpora_have_a_mean(ragways: Run, home: Path, monkeypatch: pytest.MonkeyPatch):
    (home / "data").mkdir()
    question = {"id": "q", "question": "Who built Tollen 1?", "answers": ["Anna Brack 1"], "type": "node"}
    for name in ("mix", "music"):
        row = {"_id": name, "input": "?", "answers": ["x"], "context": ARTICLES[1]["body"], "label": name}
        (home / "data" / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
        folder = home / "reproduced" / f"unbiased-ultradomain-{name}"
        folder.mkdir(parents=True)
        (folder / "questions.jsonl").write_text(json.dumps(question) + "\n")
    with LoopbackServer() as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        shown = ragways("reproduce", "unbiased", "--data", "data", "--trials", "1").out
    table = shown[shown.index("in pairs: means over the corpora") :].splitlines()
    light = next(n for n, line in enumerate(table) if line.split()[:1] == ["MGRAG"] and "+11%" in line)
    assert table[light].split() == ["MGRAG", "+0%", "+11%", "2"]
    assert table[light + 1].split() == ["LightRAG"]


def test_settings_of_the_user_go_before_the_sources_and_are_declared(tmp_path: Path):
    wanted = read_settings(environment={}, graph={"vectors": "none"}, answer={"prompts": "shared"})
    chosen = recreated(wanted, EXPERIMENTS["unbiased"], tmp_path)
    assert (chosen.graph.vectors, chosen.graph.relation_vectors, chosen.answer.prompts) == ("none", True, "shared")
    located = LocatedData(EXPERIMENTS["unbiased"].data[-1], None, tmp_path)
    found = {
        one.about: str(one) for one in differences(chosen, EXPERIMENTS["unbiased"], located, [], None, 1, DuelRules())
    }
    assert found["graph.vectors"] == "graph.vectors: here none; there all"
    assert found["answer.prompts"] == "answer.prompts: here shared; there native"
    assert found["corpus"] == "corpus: here the one given; there UltraDomain's Mix, Agriculture and Music"
    with_model = recreated(read_settings(environment={}, model={"name": "m"}), EXPERIMENTS["unbiased"], tmp_path)
    assert (with_model.graph.method, with_model.graph.gleaning) == ("model", 1)


@pytest.mark.parametrize(
    ("name", "prompts", "temperature"), [("thesis", "short", 0.0), ("router-bench", "shared", 0.3)]
)
def test_answers_are_asked_for_as_in_the_source(name: str, prompts: str, temperature: float, tmp_path: Path):
    experiment = EXPERIMENTS[name]
    located = LocatedData(experiment.data[-1], None, tmp_path)
    for given, declared in (
        ({}, {}),
        ({"prompts": "native", "temperature": 1.0},
         {"answer.prompts": ("native", prompts), "answer.temperature": ("1.0", str(temperature))}),
    ):  # fmt: skip
        chosen = recreated(read_settings(environment={}, answer=given), experiment, tmp_path)
        assert chosen.answer.prompts == given.get("prompts", prompts)
        assert chosen.answer.temperature == given.get("temperature", temperature)
        found = differences(chosen, experiment, located, [], None, 1, DuelRules())
        assert {one.about: (one.here, one.there) for one in found if one.about.startswith("answer.")} == declared


def test_no_source_holds_copies_back(tmp_path: Path):
    experiment = EXPERIMENTS["thesis"]
    located = LocatedData(experiment.data[-1], None, tmp_path)
    for given, copies in (({}, 0), ({"copies": 1}, 1)):
        chosen = recreated(read_settings(environment={}, guard=given), experiment, tmp_path)
        assert chosen.guard.copies == copies
        found = differences(chosen, experiment, located, [], None, 1, DuelRules())
        assert [one.here for one in found if one.about == "guard.copies"] == ["1"] * copies
