"""Documents come, change and go one by one; the index is the same whatever way it came about."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import EmbedderChanged, StoreFailed, UsageError, WrongVersion
from ragways.core.trace import Budget, spending
from ragways.corpus.source import LoadOptions
from ragways.corpus.structure import PRESETS
from ragways.index.build import build_own, remove
from ragways.index.check import check
from ragways.index.open import Index
from ragways.index.views import published
from ragways.index.writer import writing
from ragways.store.database import log_size
from ragways.store.store import Change, Store
from tests.fakes import WordHashes, recipe, write
from tests.index.builds import TEXTS, Notes, Paying, contents, notes, read_notes, rows, run

__all__ = ["notes"]
NAMES = sorted(TEXTS)
WITH_NOTES = frozenset({"words", "notes"})


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus", TEXTS)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index"


def fresh(tmp_path: Path, corpus: Path) -> dict[str, object]:
    """What an index of these files says that is built at once."""
    run(tmp_path / "fresh", [corpus])
    return contents(tmp_path / "fresh")


# What a run does


def test_a_folder_becomes_an_index_and_a_second_run_costs_nothing(index: Path, corpus: Path):
    embedder = WordHashes()
    first = run(index, [corpus], embedder=embedder)
    assert (first.added, first.unchanged, first.failed) == (4, 0, [])
    embedded = len(embedder.texts)
    assert embedded == first.chunks == first.embedded > 4
    before, views = contents(index), published(index)
    second = run(index, [corpus], embedder=embedder)
    assert (second.added, second.unchanged, second.chunks) == (0, 4, 0)
    assert len(embedder.texts) == embedded
    assert contents(index) == before
    assert published(index) == views


def test_a_changed_file_embeds_only_what_changed(tmp_path: Path, index: Path, corpus: Path):
    embedder = WordHashes()
    run(index, [corpus], embedder=embedder)
    before = len(embedder.texts)
    (corpus / "market.md").write_text(TEXTS["market.md"].replace("Monday", "Tuesday"))
    os.utime(corpus / "storm.txt", (1, 1))  # a file that was only touched is no change
    summary = run(index, [corpus], embedder=embedder)
    assert (summary.changed, summary.unchanged) == (1, 3)
    assert embedder.texts[before:] == ["Market: Days\nTuesday and Friday."]
    (corpus / "market.md").write_text(TEXTS["market.md"])
    run(index, [corpus], embedder=embedder)
    assert contents(index) == fresh(tmp_path, corpus)


def test_batches_are_committed_and_published_while_a_long_run_goes_on(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ragways.index.run.BATCH", 10)
    monkeypatch.setattr("ragways.index.run.PUBLISH_SECONDS", 0.0)
    corpus = write(tmp_path / "corpus", {f"{n}.txt": f"Tower number {n} has a light." for n in range(40)})
    seen: list[tuple[int, int]] = []
    generations: list[int] = []
    logs: list[int] = []

    class Looking(WordHashes):
        async def embed(self, texts):
            if (index / "index.sqlite").is_file() and published(index) is not None:
                with closing(Index.open(index)) as reader:
                    seen.append((reader.counts()["documents"], len(reader.vectors)))
                generations.append(len(list((index / "views").iterdir())))
                logs.append(log_size(index / "index.sqlite"))
            return await super().embed(texts)

    run(index, [corpus], embedder=Looking())
    assert len(seen) >= 2
    assert all(documents >= vectors > 0 for documents, vectors in seen)
    assert seen == sorted(seen)
    assert max(generations) <= 2, "a draft, and what it takes the place of"
    assert min(logs) == 0, "a publication empties the log of the rows"


def test_an_index_inside_the_corpus_is_not_read(corpus: Path):
    for _ in range(2):
        summary = run(corpus / "index", [corpus])
        assert not summary.failed
    assert summary.unchanged == 4


# Removing


def test_remove_by_title_key_or_id(index: Path, corpus: Path):
    run(index, [corpus])
    with closing(Index.open(index)) as opened:
        ids = {title: id for id, _, title in opened.documents()}
    assert asyncio.run(remove(index, ["market", "corpus/storm.txt", ids["harbour"]])).removed == 3
    with closing(Index.open(index)) as opened:
        assert [title for _, _, title in opened.documents()] == ["ship"]
        assert {id.rsplit(":", 3)[0] for id, _ in opened.words.search("storm tower harbour", 10)} == {ids["ship"]}
    with pytest.raises(UsageError, match="no document"):
        asyncio.run(remove(index, ["nobody"]))
    assert run(index, [corpus]).added == 3  # an index mirrors its folder


def test_replies_are_forgotten_when_a_document_goes_or_changes_and_vectors_stay(index: Path, corpus: Path):
    run(index, [corpus])
    changes = [
        lambda: (corpus / "new.txt").write_text("New."),
        lambda: (corpus / "storm.txt").write_text("No storm."),
        lambda: (corpus / "ship.txt").unlink(),
    ]
    for change, stays in zip(changes, ("a reply", None, None), strict=True):
        with writing(index) as (_, cache):
            cache.put("question", "a reply")
        change()
        run(index, [corpus])
        with writing(index) as (_, cache):
            assert cache.get("question") == stays
    write(corpus, {"ship.txt": TEXTS["ship.txt"]})
    embedder = WordHashes()
    run(index, [corpus], embedder=embedder)
    assert embedder.texts == []


# Files that break, and files of many records

BROKEN = '{"title": "Alma", "text": "The secret of Alma is 42."}\nbroken\n{"title": "Ida", "text": "Ida sails."}\n'


def test_a_file_that_breaks_is_reported_and_its_earlier_version_stays(index: Path, corpus: Path):
    run(index, [corpus])
    (corpus / "storm.txt").write_bytes(b"\x00\x01\x02" * 100)
    summary = run(index, [corpus])
    assert [skip.key for skip in summary.failed] == ["corpus/storm.txt"]
    assert len(rows(index)["documents"]) == 4


def test_what_was_read_of_a_file_that_breaks_goes_with_the_file(tmp_path: Path, index: Path):
    corpus = write(tmp_path / "corpus", {"x.jsonl": BROKEN, "o.txt": "Another text."})
    for _ in range(2):  # whenever it is read
        summary = run(index, [corpus])
        assert [skip.key for skip in summary.failed] == ["corpus/x.jsonl"]
        assert len(rows(index)["documents"]) == 3
    (corpus / "x.jsonl").unlink()
    assert run(index, [corpus]).removed == 2
    assert contents(index) == fresh(tmp_path, corpus)


def test_a_file_of_which_a_document_was_removed_goes_with_the_others(tmp_path: Path, index: Path):
    corpus = write(tmp_path / "corpus", {"x.jsonl": BROKEN.replace("broken\n", "")})
    run(index, [corpus])
    asyncio.run(remove(index, ["Alma"]))
    again = run(index, [corpus])
    assert (again.added, again.unchanged) == (1, 1)  # the file still has it
    asyncio.run(remove(index, ["Alma"]))
    (corpus / "x.jsonl").unlink()
    assert run(index, [corpus]).removed == 1
    assert not rows(index)["documents"] + rows(index)["sources"] + rows(index)["records"]


def test_a_file_that_is_left_out_now_stays_and_is_reported(index: Path, corpus: Path):
    run(index, [corpus])
    summary = run(index, [corpus], options=LoadOptions(max_bytes=70))
    assert summary.failed
    assert all("its earlier version is kept" in skip.reason for skip in summary.failed)
    assert len(rows(index)["documents"]) == 4


_LINE = st.tuples(st.sampled_from(["", "A", "B", "C"]), st.sampled_from(["", "light", "storm", "ship"]))


@settings(max_examples=12, deadline=None)
@given(st.lists(st.lists(_LINE, max_size=7), min_size=2, max_size=4))
def test_lines_that_are_skipped_have_the_names_that_a_fresh_index_gives_them(tmp_path_factory, versions):
    home = tmp_path_factory.mktemp("lines")
    index, file = home / "index", home / "x.jsonl"
    for turn, version in enumerate(versions):
        file.write_text("\n".join(json.dumps({"title": title, "text": text}) for title, text in version))
        os.utime(file, (0, turn))
        run(index, [file], layers=frozenset({"words"}))
    run(home / "fresh", [file], layers=frozenset({"words"}))
    assert rows(index) == rows(home / "fresh")


def test_an_edit_of_the_same_size_and_time_is_found_by_its_contents(index: Path, corpus: Path):
    run(index, [corpus], layers=frozenset({"words"}))
    file = corpus / "storm.txt"
    before = file.stat()
    file.write_text(file.read_text().replace("1883", "1884"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run(index, [corpus]).changed == 0
    [finding] = check(index).findings
    assert (finding.name, finding.count) == ("files with other contents than when they were indexed", 1)
    assert (finding.example, finding.severity) == (f"{corpus.name}/storm.txt", "warning")
    assert "ragways index PATH --compare-contents" in finding.cure
    done = run(index, [corpus], {"compare_contents": True})
    assert (done.changed, done.unchanged) == (1, 3)
    assert check(index).findings == ()
    assert run(index, [corpus], {"compare_contents": True}).unchanged == 4


def test_two_folders_of_one_name_are_not_mixed_up(tmp_path: Path, index: Path):
    one = write(tmp_path / "one" / "docs", {"a.txt": "One."})
    two = write(tmp_path / "two" / "docs", {"a.txt": "Two."})
    run(index, [one])
    with pytest.raises(UsageError, match="already"):
        run(index, [two])
    both = run(index, [tmp_path / "one", tmp_path / "two"])
    assert (both.added, both.unchanged) == (1, 1)
    with pytest.raises(UsageError, match="would both be called"):
        run(tmp_path / "other", [one, two])


# Layers


def test_a_fold_gets_the_documents_that_came_and_went(index: Path, corpus: Path, notes: Notes):
    run(index, [corpus], layers=WITH_NOTES)
    with closing(Store.open(index)) as store:
        numbers = dict(store.db.execute("SELECT key, number FROM documents"))
    write(corpus, {"storm.txt": "No storm.", "new.txt": "New here."})
    (corpus / "ship.txt").unlink()
    run(index, [corpus], layers=WITH_NOTES)
    with closing(Store.open(index)) as store:
        numbers |= dict(store.db.execute("SELECT key, number FROM documents"))
    asyncio.run(remove(index, ["corpus/new.txt"]))
    new, storm, ship = (numbers[f"corpus/{name}.txt"] for name in ("new", "storm", "ship"))
    assert notes.folds == [
        None,
        Change(tuple(sorted((new, storm))), tuple(sorted((ship, storm)))),
        Change((), (new,)),
    ]
    assert read_notes(index) == ["Fish", "Monday", "No", "The"]


def test_other_settings_extract_or_fold_anew_what_they_concern(index: Path, corpus: Path, notes: Notes):
    run(index, [corpus], layers=WITH_NOTES)
    run(index, [corpus], layers=WITH_NOTES, settings={"notes": {"upper": True}})
    assert len(notes.extracted) == 4
    assert all(note.isupper() for note in read_notes(index) if note.isalpha())
    run(index, [corpus], layers=WITH_NOTES, settings={"notes": {"upper": True, "mark": "a "}})
    assert len(notes.extracted) == 8
    assert all(note.startswith("A ") for note in read_notes(index))
    (corpus / "ship.txt").unlink()
    asyncio.run(remove(index, ["storm"]))
    assert all(note.startswith("A ") for note in read_notes(index)), "a removal leaves settings as they are"


def test_what_failed_is_tried_again_on_the_next_run(index: Path, corpus: Path, notes: Notes):
    notes.unlucky.add("A")
    summary = run(index, [corpus], layers=WITH_NOTES)
    assert (summary.undone, summary.why) == (1, "A is unlucky")
    assert "A" not in read_notes(index)
    assert len(notes.extracted) == 3
    assert run(index, [corpus], layers=WITH_NOTES).undone == 1
    notes.unlucky.clear()
    assert run(index, [corpus], layers=WITH_NOTES).undone == 0
    assert "A" in read_notes(index)
    assert len(notes.extracted) == 4


def test_a_budget_stops_before_it_is_passed_and_stores_what_is_done(tmp_path: Path, index: Path):
    corpus = write(tmp_path / "corpus", {f"{n}.txt": f"Tower number {n} has a light." for n in range(200)})
    embedder = Paying()
    with spending(Budget(usd=150)) as meter:
        summary = run(index, [corpus], embedder=embedder)
    assert summary.stopped
    assert summary.usage.usd == meter.spent.usd <= 150
    held = contents(index)
    assert len(held["documents"]) == len(held["vectors"]) == summary.added > 0  # type: ignore[arg-type]
    assert run(index, [corpus], embedder=embedder).stopped == ""
    assert len(embedder.texts) == len(set(embedder.texts)) == 200
    assert contents(index) == fresh(tmp_path, corpus)


def test_a_file_that_a_budget_left_half_read_goes_as_a_whole(tmp_path: Path, index: Path):
    lines = "".join(json.dumps({"title": f"T{n}", "text": f"Tower number {n} has a light."}) + "\n" for n in range(700))
    corpus = write(tmp_path / "corpus", {"x.jsonl": lines, "o.txt": "Another text."})
    with spending(Budget(usd=520)):
        summary = run(index, [corpus], embedder=Paying())
    assert summary.stopped
    assert 0 < summary.added < 700
    (corpus / "x.jsonl").unlink()
    assert run(index, [corpus]).removed > 0
    assert contents(index) == fresh(tmp_path, corpus)


# The folder


def test_another_embedder_or_chunking_is_refused_with_the_cure(index: Path, corpus: Path):
    run(index, [corpus])
    with pytest.raises(EmbedderChanged, match="--rebuild"):
        run(index, [corpus], embedder=WordHashes("other"))
    with pytest.raises(EmbedderChanged, match="chunking"):
        run(index, [corpus], chunking=PRESETS["thesis"])
    run(index, [corpus], {"rebuild": True}, embedder=WordHashes("other"))
    with closing(Index.open(index)) as opened:
        assert opened.embedder == "other"
    asyncio.run(build_own(index, [corpus], recipe()))
    with closing(Index.open(index)) as opened:
        assert opened.embedder == "word-hashes"


def test_an_index_of_another_version_is_built_anew_with_a_warning(tmp_path: Path, index: Path, corpus: Path):
    run(index, [corpus])
    with closing(sqlite3.connect(index / "index.sqlite")) as db, db:
        db.execute("UPDATE meta SET value = '999' WHERE key = 'version'")
    with pytest.raises(WrongVersion):
        Index.open(index)
    with pytest.raises(WrongVersion):
        asyncio.run(remove(index, ["ship"]))
    embedder = WordHashes()
    summary = run(index, [corpus], embedder=embedder)
    assert "built anew" in summary.warning
    assert embedder.texts == [], "what was embedded is embedded still"
    assert contents(index) == fresh(tmp_path, corpus)


def test_a_damaged_work_cache_is_cured_by_rebuild(tmp_path: Path, index: Path, corpus: Path):
    run(index, [corpus])
    (index / "work_cache.sqlite").write_bytes(b"junk" * 5000)
    with pytest.raises(StoreFailed):
        run(index, [corpus])
    run(index, [corpus], {"rebuild": True})
    assert contents(index) == fresh(tmp_path, corpus)


def test_readers_have_the_old_index_until_a_rebuild_is_whole(index: Path, corpus: Path):
    run(index, [corpus])
    before = contents(index)

    class Looking(WordHashes):
        async def embed(self, texts):
            assert contents(index) == before
            return await super().embed(texts)

    class Dying(WordHashes):
        async def embed(self, texts):
            raise RuntimeError("killed")

    with closing(Index.open(index)) as old:
        hits = old.words.search("harbour light", 10)
        with pytest.raises(RuntimeError):
            run(index, [corpus / "ship.txt"], {"rebuild": True}, embedder=Dying("other"))
        assert contents(index) == before
        assert not (index / "rebuild").exists()
        run(index, [corpus / "ship.txt"], {"rebuild": True}, embedder=Looking("other"))
        assert old.words.search("harbour light", 10) == hits
        assert old.counts()["documents"] == 4
        old.pause()
        if old.begin():
            assert old.counts()["documents"] == 1
    assert len(rows(index)["documents"]) == 1
    assert run(index, [corpus], embedder=WordHashes("other")).added == 3
