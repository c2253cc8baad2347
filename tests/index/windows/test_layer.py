"""The layer built by the real builder: the same whatever way the documents came, and gone when they go."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import BudgetExceeded, UsageError
from ragways.core.trace import Budget, spending
from ragways.core.types import content_hash
from ragways.index.build import build, remove
from ragways.index.health import check
from ragways.index.layers import LAYERS
from ragways.index.reader import Index
from ragways.index.windows import neighbours, sliding
from ragways.index.windows.layer import WINDOWS
from ragways.index.windows.reader import Windows
from ragways.index.windows.slots import SlotEdges
from ragways.index.work_cache import WorkCache
from ragways.models.client import ModelClient
from ragways.pictures.heatmap import heatmap
from ragways.tasks.themes import keywords
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes, recipe, write
from tests.index.whole import windows_said

SEA = "The harbour has a light. The light was built in 1801. Ships pass the tower. A keeper lives there. He likes tea."
STORM = "A storm took the tower. The keeper died in the storm. Nobody saw the ship. The log was found later."
TEXTS = {
    "sea.txt": SEA,
    "storm.txt": STORM,
    "market.md": "# Market\n\nFish is sold at the harbour.\n\n## Days\n\nMonday and Friday. Ships pass the tower.",
    "short.txt": "One line only.",
    "again.txt": SEA,
}
THEMES = ["lights", "harbours", "ships", "keepers", "tea"]


def index_of(folder: Path, paths: list[Path], embedder: WordHashes | None = None, **changes) -> Index:
    layers = frozenset({"vectors", "windows"})
    asyncio.run(build(folder, paths, recipe(embedder, layers=layers, **changes)))
    return Index.open(folder)


def paid_hashes(folder: Path) -> set[str]:
    db = sqlite3.connect(folder / "work_cache.sqlite")
    try:
        return {row[0] for row in db.execute("SELECT hash FROM vectors UNION SELECT hash FROM results")}
    finally:
        db.close()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus", TEXTS)


def test_windows_lie_over_the_sentences_of_their_document(tmp_path: Path, corpus: Path):
    index = index_of(tmp_path / "index", [corpus])
    layer = index.windows
    assert layer is index.windows
    assert layer.left_out == ()
    for document, _, title in index.documents():
        rows = layer.windows_of(document)
        assert [layer.windows.ids[row] for row in rows] == [f"{document}:w{n}" for n in range(len(rows))]
        assert {layer.document_of(row) for row in rows} == {document}
        text = index.document(document).text  # type: ignore[union-attr]
        spans = [layer.sentence_at[s].tolist() for row in rows for s in layer.sentences_of(row)]
        assert all(text[start:end].endswith(".") for start, end in spans), title
        assert len(rows) == {"sea": 3, "storm": 2, "Market": 1, "short": 1, "again": 3}[title]
    for row, id in enumerate(layer.sentences.ids):
        _, start, end = index.place(id)  # type: ignore[misc]
        assert layer.sentence_at[row].tolist() == [start, end]
    index.close()


def test_neighbours_are_of_the_document_and_of_others_with_their_cosine(tmp_path: Path, corpus: Path):
    index = index_of(tmp_path / "index", [corpus])
    layer = index.windows
    for row in range(len(layer)):
        near = layer.neighbours(row)
        own = set(layer.windows_of(layer.document_of(row)))
        assert {n for n, _ in near} == set(range(len(layer))) - {row}  # ten of each are all there are
        assert all((n in own) == (place < len(own) - 1) for place, (n, _) in enumerate(near))
        matrix = layer.windows.matrix
        assert all(abs(float(matrix[row] @ matrix[n]) - similar) < 1e-6 for n, similar in near)
    index.close()


def test_what_stands_twice_is_embedded_once(tmp_path: Path, corpus: Path):
    embedder = WordHashes()
    index_of(tmp_path / "index", [corpus], embedder).close()
    assert len(embedder.texts) == len(set(embedder.texts))


def test_the_order_of_adding_does_not_matter(tmp_path: Path, corpus: Path):
    whole = index_of(tmp_path / "whole", [corpus])
    expected = windows_said(whole.windows)
    whole.close()
    for number, order in enumerate(list(permutations(TEXTS))[::59]):
        folder, part = tmp_path / f"index{number}", tmp_path / str(number) / "corpus"
        for name in order:
            write(part, {name: TEXTS[name]})
            index_of(folder, [part]).close()
        assert windows_said(Index.open(folder).windows) == expected


def test_adding_and_removing_leaves_the_layer_as_it_was_and_no_vector_behind(tmp_path: Path, corpus: Path):
    folder = tmp_path / "index"
    index = index_of(folder, [corpus])
    before, hashes = windows_said(index.windows), paid_hashes(folder)
    index.close()
    secret = "The vault holds gold. The vault is deep. Guards watch the vault. Nobody enters. Ships pass the tower."
    write(corpus, {"secret.txt": secret})
    index_of(folder, [corpus]).close()
    assert content_hash("The vault is deep.") in paid_hashes(folder)
    asyncio.run(remove(folder, ["secret"]))
    index = Index.open(folder)
    assert windows_said(index.windows) == before
    assert paid_hashes(folder) == hashes
    index.close()


NAMES = st.sampled_from(["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"])
SENTENCES = st.lists(st.sampled_from(SEA.split(". ")[:4] + STORM.split(". ")[:3] + ["It rains"]), max_size=7)


HISTORIES = st.lists(st.lists(st.tuples(NAMES, SENTENCES), min_size=1, max_size=3), min_size=1, max_size=4)


@given(HISTORIES, st.integers(0, 2))
@settings(max_examples=8, deadline=None)
def test_any_history_gives_the_layer_of_a_fresh_build(histories: list[list[tuple[str, list[str]]]], top: int):
    """Documents come, change and go, several in a run."""
    few = {"windows": {"top_k": 1, "top_x": top, "top_t": 1}}
    # So that nothing is computed whole.
    with patch.object(neighbours, "_MANY", 0), TemporaryDirectory() as folder:
        corpus = write(Path(folder) / "corpus", {"start.txt": SEA, "again.txt": STORM})
        index_of(Path(folder) / "index", [corpus], settings=few).close()
        for changes in histories:
            for name, sentences in changes:
                if sentences:
                    write(corpus, {name: ". ".join(sentences) + "."})
                else:
                    (corpus / name).unlink(missing_ok=True)
            index = index_of(Path(folder) / "index", [corpus], settings=few)
            said = windows_said(index.windows)
            assert check(index.folder).findings == ()
            kept = paid_hashes(index.folder)
            index.close()
        fresh = index_of(Path(folder) / "fresh", [corpus], settings=few)
        assert windows_said(fresh.windows) == said
        assert paid_hashes(fresh.folder) == kept
        fresh.close()


def test_a_change_reads_no_text_of_other_documents_and_keeps_their_files(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "index"
    index = index_of(folder, [corpus])
    names = {title: id for id, _, title in index.documents()}
    index.close()
    read: list[str] = []
    real = sliding.WindowedDocument.window_texts

    def noted(slid: sliding.WindowedDocument) -> list[str]:
        read.append(slid.id)
        return real(slid)

    monkeypatch.setattr(sliding.WindowedDocument, "window_texts", noted)
    monkeypatch.setattr(WorkCache, "keep_only", lambda *_: pytest.fail("the whole work cache was looked through"))
    write(corpus, {"more.txt": "A whale was seen. It swam away. Nobody knows where."})
    index = index_of(folder, [corpus])
    assert len(set(read)) == 1
    assert set(read).isdisjoint(names.values())
    before = {path.stat().st_ino for path in (folder / "derived").rglob("across.to.npy")}
    assert len(before) == 1, "the edges of before are linked, and a patch holds what changed"
    index.close()
    read.clear()
    asyncio.run(remove(folder, ["more"]))
    assert not read


def test_beyond_the_border_a_check_tells_how_many_neighbours_are_found(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
):
    index_of(tmp_path / "exact", [corpus]).close()
    assert check(tmp_path / "exact").figures["window_edges_recall"] == 1.0
    monkeypatch.setattr(neighbours, "EXACT_ROWS", 5)
    index = index_of(tmp_path / "index", [corpus])
    assert check(index.folder).findings == ()
    assert check(index.folder).figures["window_edges_recall"] == 1.0  # of ten windows each looks at all
    to, similarity = index.windows.across.of(0)
    index.close()
    monkeypatch.setattr(SlotEdges, "of", lambda *_: (to[:4], similarity[:4]))
    assert check(tmp_path / "index").figures["window_edges_recall"] < 1.0


def test_documents_left_out_by_a_budget_come_in_with_the_next_run(tmp_path: Path, corpus: Path):
    folder = tmp_path / "index"
    index_of(folder, [corpus]).close()
    write(corpus, {"more.txt": "A whale was seen. It swam away. Nobody knows where."})

    class Stopping(WordHashes):
        async def embed(self, texts):
            if "It swam away." in texts:
                raise BudgetExceeded("the budget is spent")
            return await super().embed(texts)

    index = index_of(folder, [corpus], Stopping())
    [more] = [id for id, _, title in index.documents() if title == "more"]
    assert index.windows.left_out == (more,)
    index.close()
    index = index_of(folder, [corpus])
    said = windows_said(index.windows)
    assert index.windows.left_out == ()
    index.close()
    fresh = index_of(tmp_path / "fresh", [corpus])
    assert windows_said(fresh.windows) == said
    fresh.close()


def test_a_model_that_comes_later_names_the_themes_of_all(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {"sea.txt": SEA, "storm.txt": STORM})
    index_of(tmp_path / "index", [corpus]).close()
    write(corpus, {"more.txt": "A whale was seen."})
    with ScriptedModel([{"themes": THEMES}] * 3) as model:
        index = index_of(tmp_path / "index", [corpus], model=lambda _: ModelClient(model))
    layer = index.windows
    assert [layer.themes(id).way for id in layer.documents] == ["model"] * 3
    assert {similar for id in layer.documents for _, similar in layer.neighbours_by_theme(id)} == {1.0}
    index.close()


def test_only_new_texts_are_embedded(tmp_path: Path, corpus: Path):
    embedder = WordHashes()
    index_of(tmp_path / "index", [corpus], embedder).close()
    done = len(embedder.texts)
    (corpus / "storm.txt").write_text(STORM + " The sea was calm.")
    index_of(tmp_path / "index", [corpus], embedder).close()
    new = embedder.texts[done:]
    assert len(new) == len(set(new))
    assert "The sea was calm." in new
    assert sum("The sea was calm." in text for text in new) >= len(new) - 1  # and the themes, at most


def test_themes_are_named_by_a_model_and_kept(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {"sea.txt": SEA})
    with ScriptedModel([{"themes": THEMES}]) as model:
        index = index_of(tmp_path / "index", [corpus], model=lambda _: ModelClient(model))
        write(corpus, {"sea.txt": SEA + "\n\n"})  # touched: the text and so its themes are the same
        index.close()
        index = index_of(tmp_path / "index", [corpus], model=lambda _: ModelClient(model))
    [document] = index.windows.documents
    assert index.windows.themes(document).themes == tuple(THEMES)
    assert index.windows.themes(document).way == "model"
    assert "harbour has a light" in model.calls[0].messages[-1].content
    index.close()


def test_a_reply_without_five_themes_is_recorded_and_the_rule_stands_in(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {"sea.txt": SEA})
    with ScriptedModel([{"themes": ["one"]}, {"themes": ["one", "One"]}]) as model:
        index = index_of(tmp_path / "index", [corpus], model=lambda _: ModelClient(model, asks=2))
    [document] = index.windows.documents
    assert index.windows.themes(document).way == "rule"
    db = sqlite3.connect(tmp_path / "index" / "work_cache.sqlite")
    assert db.execute("SELECT kind, tries FROM failures").fetchall() == [("themes", 1)]
    db.close()
    index.close()


def test_removing_forgets_the_models_themes(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {"sea.txt": SEA, "storm.txt": STORM})
    with ScriptedModel([{"themes": THEMES}, {"themes": THEMES}]) as model:
        index_of(tmp_path / "index", [corpus], model=lambda _: ModelClient(model)).close()
    asyncio.run(remove(tmp_path / "index", ["storm"]))
    db = sqlite3.connect(tmp_path / "index" / "work_cache.sqlite")
    assert db.execute("SELECT kind, count(*) FROM results GROUP BY kind").fetchall() == [("themes", 1)]
    db.close()
    index = Index.open(tmp_path / "index")
    layer = index.windows
    assert [layer.themes(id).way for id in layer.documents] == ["model"]
    index.close()


def test_a_budget_that_ends_the_naming_leaves_themes_by_the_rule(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {"sea.txt": SEA, "storm.txt": STORM})
    with ScriptedModel([{"themes": THEMES}]) as model, spending(Budget(calls=1)):
        index = index_of(tmp_path / "index", [corpus], model=lambda _: ModelClient(model))
    layer = index.windows
    assert sorted(layer.themes(id).way for id in layer.documents) == ["model", "rule"]
    assert layer.left_out == ()
    index.close()


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


def test_documents_are_joined_by_theme(tmp_path: Path, corpus: Path):
    index = index_of(tmp_path / "index", [corpus])
    layer = index.windows
    names = {title: id for id, _, title in index.documents()}
    first, similar = layer.neighbours_by_theme(names["sea"])[0]
    assert first == names["again"]
    assert similar > 0.5
    assert len(layer.neighbours_by_theme(names["sea"])) == 4
    index.close()


def test_a_document_without_vectors_is_left_out_whole(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch):
    real = LAYERS["windows"].derive

    def forget_one(context, folder) -> None:
        context.work_cache._db.execute("DELETE FROM vectors WHERE hash = ?", (content_hash("Nobody saw the ship."),))
        real(context, folder)

    from dataclasses import replace

    monkeypatch.setitem(LAYERS._loaded(), "windows", replace(WINDOWS, derive=forget_one))
    index = index_of(tmp_path / "index", [corpus])
    layer = index.windows
    storm = next(id for id, _, title in index.documents() if title == "storm")
    assert layer.left_out == (storm,)
    assert not [id for id in layer.windows.ids if id.startswith(storm)]
    index.close()


def test_settings_hold_until_others_are_given(tmp_path: Path, corpus: Path):
    folder, two = tmp_path / "index", {"windows": {"size": 2, "top_k": 1, "top_x": 2, "top_t": 1}}
    index = index_of(folder, [corpus], settings=two)
    assert max(len(index.windows.neighbours(row)) for row in range(len(index.windows))) == 3
    index.close()
    asyncio.run(remove(folder, ["again"]))
    index = Index.open(folder)
    layer = index.windows
    assert {len(layer.sentences_of(row)) for row in range(len(layer))} == {1, 2}
    assert {len(layer.neighbours_by_theme(id)) for id in layer.documents} == {1}
    index.close()


def test_an_empty_index_has_an_empty_layer(tmp_path: Path):
    index = index_of(tmp_path / "index", [write(tmp_path / "corpus", {"x.txt": "A thing. Another."})])
    index.close()
    asyncio.run(remove(tmp_path / "index", ["x"]))
    index = Index.open(tmp_path / "index")
    assert len(index.windows) == 0
    index.close()


def test_the_folder_opens_without_pickles(tmp_path: Path, corpus: Path):
    index = index_of(tmp_path / "index", [corpus])
    folder = index.folder / "derived" / str(index.generation) / "windows"
    for path in folder.rglob("*.npy"):
        np.load(path, allow_pickle=False)
    assert len(Windows.open(folder.parent)) == 10
    index.close()


# The heat map


def page_data(page: str) -> dict[str, list[str]]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, list[str]] = json.loads(found[1])
    return data


def test_the_heat_map_is_one_page_that_needs_nothing_else(tmp_path: Path):
    hostile = "<script>alert(1)</script> & \u2028 are shown. </script><b>So is this.</b> And this. More text. The end."
    corpus = write(tmp_path / "corpus", {"<i>sea.txt": hostile})
    index = index_of(tmp_path / "index", [corpus])
    [(document, _, _)] = index.documents()
    page = heatmap(index, document)
    assert "<i>sea" not in page
    assert "alert(1)</script>" not in page
    assert not re.search(r"https?://", page)
    data = page_data(page)
    assert len(data["names"]) == len(index.windows.windows_of(document))
    assert data["texts"][0].startswith("<script>alert(1)")
    assert f"{len(data['names'])} windows, in reading order" in page
    index.close()


def test_a_long_document_is_sampled_and_the_page_says_so(tmp_path: Path):
    text = " ".join(f"Sentence number {n} tells about thing {n % 7}." for n in range(90))
    index = index_of(tmp_path / "index", [write(tmp_path / "corpus", {"long.txt": text})])
    [(document, _, _)] = index.documents()
    page = heatmap(index, document, limit=20)
    names = page_data(page)["names"]
    assert len(names) == 20
    assert (names[0], names[-1]) == (f"{document}:w0", f"{document}:w87")
    assert "a sample: 20 of 88 windows" in page
    with pytest.raises(UsageError):
        heatmap(index, "article:1")
    index.close()
