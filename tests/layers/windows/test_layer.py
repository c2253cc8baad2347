"""The layer over rows: fold gives what making anew gives, in every history, and what goes is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import BudgetExceeded
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.layers.layer import Sample
from ragways.layers.settings import WindowSettings
from ragways.layers.windows.layer import WINDOWS
from ragways.layers.windows.read import StoredWindows
from ragways.layers.windows.sliding import slide
from ragways.models.call import Call
from ragways.models.client import ModelClient
from ragways.tasks.themes import keywords
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes
from tests.layers.views import LayerRuns
from tests.store.rows import failed_work

SEA = "The harbour has a light. The light was built in 1801. Ships pass the tower. A keeper lives there. He likes tea."
STORM = "A storm took the tower. The keeper died in the storm. Nobody saw the ship. The log was found later."
TEXTS = {
    "sea.txt": SEA,
    "storm.txt": STORM,
    "market.txt": "Fish is sold at the harbour.\n\nMonday and Friday. Ships pass the tower.",
    "short.txt": "One line only.",
    "again.txt": SEA,
}
THEMES = ["lights", "harbours", "ships", "keepers", "tea"]
WHALE = "A whale was seen. It swam away. Nobody knows where."


def window_runs(folder: Path, embedder: WordHashes | None = None, **settings: int) -> LayerRuns:
    return LayerRuns(folder, WINDOWS, embedder, WindowSettings.model_validate(settings))


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[LayerRuns]:
    made = window_runs(tmp_path)
    made.run(TEXTS)
    yield made
    made.close()


def ids_of(runs: LayerRuns) -> dict[str, str]:
    return {
        title: f"article:{number}" for number, title in runs.store.db.execute("SELECT number, title FROM documents")
    }


def all_of(layer: StoredWindows) -> dict[str, object]:
    """All that a reader can tell of the windows, to the last bit."""
    edges = vars(layer.edges).items()
    return {
        "documents": layer.documents,
        "windows": [*map(layer.window_id, range(len(layer)))],
        "sentences": [*map(layer.sentence_id, range(len(layer.sentences)))],
        "arrays": {name: array.tobytes() for name, array in vars(layer.arrays).items()},
        "themes": [layer.themes(id) for id in layer.documents],
        "edges": {name: (each.to.tolist(), each.similarity.tobytes()) for name, each in edges},
        "axes": layer.projection.axes.tobytes(),
        "left out": layer.left_out,
    }


@given(st.integers(0, 40), st.integers(1, 6), st.integers(1, 6))
def test_every_sentence_is_in_a_window_and_no_window_stands_twice(sentences: int, size: int, by: int):
    windows = slide(sentences, WindowSettings(size=size, slide=min(by, size)))
    assert {n for first, end in windows for n in range(first, end)} == set(range(sentences))
    assert len(set(windows)) == len(windows)
    assert all(end - first == min(size, sentences) for first, end in windows)
    assert slide(5, WindowSettings()) == [(0, 3), (1, 4), (2, 5)]


def test_windows_lie_over_the_sentences_of_their_document(runs: LayerRuns):
    layer = runs.open()
    assert layer.left_out == []
    assert WINDOWS.count(runs.view, runs.store) == len(layer) == 10
    for title, document in ids_of(runs).items():
        rows = layer.windows_of(document)
        assert [*map(layer.window_id, rows)] == [f"{document}:w{n}" for n in range(len(rows))]
        assert [layer.row_of(layer.window_id(row)) for row in rows] == list(rows)
        assert {layer.document_of(row) for row in rows} == {document}
        text = TEXTS[f"{title}.txt"]
        spans = [layer.span_of(s) for row in rows for s in layer.sentences_of(row)]
        assert all(text[start:end].endswith(".") for start, end in spans), title
        assert len(rows) == {"sea": 3, "storm": 2, "market": 1, "short": 1, "again": 3}[title]
    market = ids_of(runs)["market"]
    assert [id for id in map(layer.sentence_id, range(len(layer.sentences))) if id.startswith(market)] == [
        f"{market}:s0:p0:t0", f"{market}:s0:p1:t0", f"{market}:s0:p1:t1"
    ]  # fmt: skip
    assert layer.row_of(f"{market}:w1") is None
    assert layer.row_of("article:7:w0") is None


NAMES = st.sampled_from(["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"])
SENTENCES = st.lists(st.sampled_from(SEA.split(". ")[:4] + STORM.split(". ")[:3] + ["It rains"]), max_size=7)
HISTORIES = st.lists(st.dictionaries(NAMES, SENTENCES, min_size=1, max_size=3), min_size=1, max_size=6)


@given(HISTORIES, st.integers(0, 2))
@settings(max_examples=10, deadline=None)
def test_a_view_folded_over_any_history_is_the_one_made_anew(histories: list[dict[str, list[str]]], top: int):
    with TemporaryDirectory() as folder:
        runs = window_runs(Path(folder), top_k=1, top_x=top, top_t=1)
        runs.run({"start.txt": SEA, "again.txt": STORM})
        for changes in histories:
            texts = {name: "".join(f"{sentence}. " for sentence in text) for name, text in changes.items()}
            folded = all_of(runs.run(texts))
            assert runs.findings() == []
        assert all_of(runs.run(make=True)) == folded
        runs.close()


def test_all_that_is_used_is_cached_and_nothing_else(runs: LayerRuns):
    hashes = {content_hash(text) for text in runs.embedder.texts}
    assert len(hashes) == len(runs.embedder.texts), "each text is embedded once"
    assert WINDOWS.used(runs.store, runs.view, runs.use)["vectors"] == hashes


def test_a_part_has_its_windows_numbered_anew_and_the_neighbours_that_are_left(runs: LayerRuns):
    layer, ids = runs.open(), ids_of(runs)
    chosen = [ids["sea"], ids["market"]]
    part = layer.only(frozenset(int(id.split(":")[1]) for id in chosen))
    assert sorted(part.documents) == sorted(chosen)
    assert (len(part), len(part.sentences)) == (4, 8)
    assert part.projection is layer.projection
    windows = [*map(part.window_id, range(len(part)))]
    for row, id in enumerate(windows):
        whole = layer.row_of(id)
        assert whole is not None
        assert part.row_of(id) == row
        assert part.document_of(row) == layer.document_of(whole)
        assert part.themes(part.document_of(row)) == layer.themes(part.document_of(row))
        assert [part.sentence_id(s) for s in part.sentences_of(row)] == [
            layer.sentence_id(s) for s in layer.sentences_of(whole)
        ]
        assert [(part.window_id(n), s) for n, s in part.neighbours(row)] == [
            (layer.window_id(n), s) for n, s in layer.neighbours(whole) if layer.document_of(n) in chosen
        ]
    question = layer.windows[0]
    assert part.nearness(question).windows.tolist() == [
        layer.nearness(question).windows[layer.row_of(id)] for id in windows
    ]


# What is left out, and what is checked


class Stopping(WordHashes):
    """Has a budget that ends at some sentence."""

    at = "It swam away."

    async def embed(self, texts):
        if self.at in texts:
            raise BudgetExceeded("the budget is spent")
        return await super().embed(texts)


def test_documents_that_a_budget_left_out_come_in_with_the_next_run(tmp_path: Path):
    stopping = Stopping()
    runs = window_runs(tmp_path / "index", stopping)
    runs.run(TEXTS)
    documents = runs.run({"more.txt": WHALE}).documents
    assert ids_of(runs)["more"] not in documents
    stopping.at = ""
    layer = runs.run()
    fresh = window_runs(tmp_path / "fresh")
    assert all_of(fresh.run(TEXTS | {"more.txt": WHALE})) == all_of(layer)
    fresh.close()
    runs.close()


def test_vectors_that_the_cache_has_lost_are_made_again_or_their_documents_left_out(runs: LayerRuns):
    expected, storm = all_of(runs.open()), ids_of(runs)["storm"]
    lost = content_hash("Nobody saw the ship.")
    runs.cache.keep_only({"vectors": WINDOWS.used(runs.store, runs.view, runs.use)["vectors"] - {lost}})
    runs.pays = False
    layer = runs.run(make=True)
    assert layer.left_out == [int(storm.split(":")[1])]
    assert not layer.windows_of(storm)
    assert runs.findings() == []
    runs.pays = True
    assert all_of(runs.run()) == expected


def test_a_check_compares_windows_with_the_rows(runs: LayerRuns):
    assert runs.findings() == []
    counts, numbers = np.load(runs.view / "counts.npy"), np.load(runs.view / "numbers.npy")
    np.save(runs.view / "counts.npy", counts[::-1])
    assert {each.name for each in runs.findings()} == {"documents with other sentences than theirs"}
    np.save(runs.view / "numbers.npy", numbers + 1)
    assert {each.name for each in runs.findings()} == {
        "documents without windows", "windows of documents that are not there"
    }  # fmt: skip


def test_a_plan_counts_windows_and_calls_no_model(runs: LayerRuns):
    sources = list(runs.store.sources())
    sample = Sample(sources[:2], len(sources), 5, 0.5, lambda: iter(sources))
    assert WINDOWS.estimate(sample, runs.use).usage == Usage()
    with ScriptedModel([]) as model:
        runs.use.model = ModelClient(model)
        estimate = WINDOWS.estimate(sample, runs.use)
    assert estimate.rows == 10
    assert len(set(estimate.texts)) == 18
    assert estimate.usage.calls == 1
    assert estimate.usage.input > 0
    assert len(estimate.like) * estimate.times == 5


# Themes


def test_documents_are_joined_by_theme(runs: LayerRuns):
    layer, ids = runs.open(), ids_of(runs)
    first, similar = layer.neighbours_by_theme(ids["sea"])[0]
    assert first == ids["again"]
    assert similar > 0.5
    assert len(layer.neighbours_by_theme(ids["sea"])) == 4
    with pytest.raises(KeyError):
        layer.themes("article:7")


def named(*themes: list[str]) -> dict[str, object]:
    """A reply with the themes of so many documents."""
    return {"documents": [{"document": n, "themes": some} for n, some in enumerate(themes, start=1)]}


def test_ten_documents_share_a_call_and_one_that_was_left_out_is_asked_for_alone(tmp_path: Path):
    runs = window_runs(tmp_path)
    runs.run({f"{n}.txt": f"Lighthouse {n} stands by the sea. Its keeper counts ships." for n in range(12)})

    def most_of_them(call: Call) -> object:
        count = call.messages[-1].content.count("stands by the sea")
        return named(*[THEMES] * (count if count in (1, 10) else count - 1))

    with ScriptedModel([most_of_them] * 3) as model:
        use = replace(runs.use, model=ModelClient(model))
        found = asyncio.run(WINDOWS.extract(list(runs.store.sources()), use))
    assert [facts["themes"] for facts in found if facts] == [[(n, t, "model") for n, t in enumerate(THEMES)]] * 12
    shown = [call.messages[-1].content for call in model.calls]
    assert sorted(text.count("stands by the sea") for text in shown) == [1, 2, 10]
    assert use.failed == 0
    runs.close()


def test_themes_are_named_by_a_model_and_cached(tmp_path: Path):
    runs = window_runs(tmp_path)
    with ScriptedModel([named(THEMES)]) as model:
        runs.model = ModelClient(model)
        runs.run({"sea.txt": SEA})
        runs.run({"sea.txt": SEA + "\n\n"})  # touched: the opening and so its themes are the same
        layer = runs.run()
    [document] = layer.documents
    assert layer.themes(document).themes == tuple(THEMES)
    assert layer.themes(document).way == "model"
    assert "harbour has a light" in model.calls[0].messages[-1].content
    assert len(WINDOWS.used(runs.store, runs.view, runs.use)["themes"]) == 1
    runs.close()


def test_a_model_that_comes_later_names_the_themes_of_all(tmp_path: Path):
    runs = window_runs(tmp_path)
    runs.run({"sea.txt": SEA, "storm.txt": STORM})
    with ScriptedModel([named(THEMES)] * 3) as model:
        runs.model = ModelClient(model)
        layer = runs.run({"more.txt": WHALE})
        assert [layer.themes(id).way for id in layer.documents] == ["model"] * 3
        assert {similar for id in layer.documents for _, similar in layer.neighbours_by_theme(id)} == {1.0}
        assert all_of(runs.run(make=True)) == all_of(layer)
    runs.close()


def test_usable_themes_of_a_wrong_reply_are_stored_and_not_requested_again(tmp_path: Path):
    runs = window_runs(tmp_path)
    with ScriptedModel([named(["Tides", "tides", " Salt "])]) as model:
        runs.model = ModelClient(model, asks=2)
        runs.run({"sea.txt": SEA})
        layer = runs.run({"sea.txt": SEA + "\n\n"})
    themes = layer.themes(layer.documents[0])
    assert (themes.themes[:2], themes.way, len(themes.themes)) == (("Tides", "Salt"), "model", 5)
    assert runs.use.failed == 0
    assert failed_work(tmp_path / "index") == []
    runs.close()


def test_a_reply_without_any_theme_is_recorded_and_the_rule_stands_in(tmp_path: Path):
    runs = window_runs(tmp_path)
    with ScriptedModel([named([]), named([" "])]) as model:
        runs.model = ModelClient(model, asks=2)
        layer = runs.run({"sea.txt": SEA})
    [document] = layer.documents
    assert layer.themes(document).way == "rule"
    assert runs.use.failed == 1
    assert [row[:2] for row in failed_work(tmp_path / "index")] == [("themes", 1)]
    runs.close()


def test_keywords_are_frequent_phrases_that_share_no_word():
    def terms(word: str) -> list[str]:
        return [] if word.lower() in ("the", "and", "are", "has") else [word.lower().rstrip("s")]

    text = "Sea walls are old. The sea wall and the tide gate. Tide gates are new. Sea walls crack. Moss grows."
    found = keywords("Sea wall", text, terms)
    assert found[0] == "Sea wall"
    assert "tide gate" in found
    words = [word for phrase in found for word in phrase.lower().split()]
    assert len(words) == len(set(words))
    assert len(found) <= 5
    assert keywords("Seven", "7 7 7", terms) == ("Seven",)
