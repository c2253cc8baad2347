"""Documents come, change and go one by one; the index is the same whatever way it came about."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragways.core.errors import EmbedderChanged, StoreBusy, StoreFailed, UsageError, WrongVersion
from ragways.core.trace import Budget, Usage, current_meter, spending
from ragways.corpus.structure import PRESETS
from ragways.index.build import build, remove
from ragways.index.folder import FORMAT, derive
from ragways.index.layer import BuildContext, Changes, Layer
from ragways.index.reader import Index
from ragways.index.store import Store
from ragways.index.update import ChangeLog, Summary
from tests.fakes import WordHashes, contents, recipe, reseal, write

TEXTS = {
    "harbour.txt": "The harbour has a light. The light was built in 1801.\n\nShips pass the tower by night.",
    "storm.txt": "A storm took the tower. The keeper died in the storm of 1883.",
    "ship.txt": "The ship was lost in the storm. Its keeper of the log survived.",
    "market.md": "# Market\n\nFish is sold at the harbour.\n\n## Days\n\nMonday and Friday.",
}


def run(folder: Path, paths: list[Path], **changes) -> Summary:
    return asyncio.run(build(folder, paths, recipe(**changes)))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus", TEXTS)


def test_a_folder_becomes_an_index_and_a_second_run_costs_nothing(tmp_path: Path, corpus: Path):
    embedder = WordHashes()
    first = run(tmp_path / "index", [corpus], embedder=embedder)
    assert (first.added, first.unchanged, first.failed) == (4, 0, [])
    embedded = len(embedder.texts)
    assert embedded == first.chunks == first.embedded > 4
    before = contents(tmp_path / "index")
    second = run(tmp_path / "index", [corpus], embedder=embedder)
    assert (second.added, second.unchanged, second.chunks) == (0, 4, 0)
    assert len(embedder.texts) == embedded
    assert contents(tmp_path / "index") == before


def test_a_touched_file_with_the_same_text_embeds_nothing(tmp_path: Path, corpus: Path):
    embedder = WordHashes()
    run(tmp_path / "index", [corpus], embedder=embedder)
    embedded = len(embedder.texts)
    os.utime(corpus / "storm.txt", (1, 1))
    assert run(tmp_path / "index", [corpus], embedder=embedder).unchanged == 4
    assert len(embedder.texts) == embedded


def test_a_changed_file_embeds_only_what_changed(tmp_path: Path, corpus: Path):
    embedder = WordHashes()
    run(tmp_path / "index", [corpus], embedder=embedder)
    before = len(embedder.texts)
    (corpus / "market.md").write_text(TEXTS["market.md"].replace("Monday", "Tuesday"))
    summary = run(tmp_path / "index", [corpus], embedder=embedder)
    assert (summary.changed, summary.unchanged) == (1, 3)
    assert embedder.texts[before:] == ["Market: Days\nTuesday and Friday."]
    (corpus / "market.md").write_text(TEXTS["market.md"])
    run(tmp_path / "index", [corpus], embedder=embedder)
    run(tmp_path / "fresh", [corpus])
    assert contents(tmp_path / "index") == contents(tmp_path / "fresh")


def test_a_file_that_vanished_goes_from_the_index_without_a_trace(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus])
    (corpus / "ship.txt").unlink()
    assert run(index, [corpus]).removed == 1
    write(tmp_path / "three" / "corpus", {name: text for name, text in TEXTS.items() if name != "ship.txt"})
    run(tmp_path / "fresh", [tmp_path / "three" / "corpus"])
    assert contents(index) == contents(tmp_path / "fresh")
    for file in index.rglob("*"):
        if file.is_file():
            assert b"log survived" not in file.read_bytes(), file


NAMES = sorted(TEXTS)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(["put", "change", "remove"]), st.sampled_from(NAMES)), min_size=1, max_size=6)
)
def test_any_sequence_of_changes_gives_what_a_fresh_build_would(tmp_path_factory, actions):
    home = tmp_path_factory.mktemp("sequence")
    corpus = home / "corpus"
    write(corpus, {"always.txt": "A light that stays."})
    held: dict[str, str] = {}
    for turn, (action, name) in enumerate(actions):
        if action == "remove":
            held.pop(name, None)
            (corpus / name).unlink(missing_ok=True)
        else:
            held[name] = TEXTS[name] + (f"\n\nAdded in turn {turn}: a ship." if action == "change" else "")
            write(corpus, {name: held[name]})
            os.utime(corpus / name, (turn + 1, turn + 1))
        run(home / "index", [corpus])
    write(home / "other" / "corpus", {"always.txt": "A light that stays.", **held})
    run(home / "fresh", [home / "other" / "corpus"])
    assert contents(home / "index") == contents(home / "fresh")


def test_layers_are_told_which_documents_came_changed_and_went(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
):
    told: list[Changes | None] = []

    def listen(context: BuildContext, generation: int, layers: list[Layer]) -> None:
        told.append(context.changes)
        derive(context, generation, layers)

    monkeypatch.setattr("ragways.index.run.derive", listen)
    index = tmp_path / "index"
    run(index, [corpus])
    numbers = numbers_of(index)
    write(corpus, {"storm.txt": "No storm.", "new.txt": "New here."})
    (corpus / "ship.txt").unlink()
    run(index, [corpus])
    fresh = numbers_of(index)
    asyncio.run(remove(index, ["corpus/new.txt"]))
    run(index, [corpus], layers=frozenset({"words", "vectors", "graph"}))
    assert told == [
        None,
        Changes(
            frozenset({fresh["corpus/new.txt"]}),
            frozenset({numbers["corpus/storm.txt"]}),
            frozenset({numbers["corpus/ship.txt"]}),
        ),
        Changes(frozenset(), frozenset(), frozenset({fresh["corpus/new.txt"]})),
        None,
    ]


def numbers_of(index: Path) -> dict[str, int]:
    with closing(Store.open(index)) as store:
        return dict(store.db.execute("SELECT key, number FROM documents"))


@given(st.sets(st.integers(0, 3)), st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=9))
def test_what_counts_of_a_document_is_the_generation_before(before: set[int], steps: list[tuple[bool, int]]):
    """However often a run puts and drops a document: it came, changed, went, or nothing of the kind."""
    log, now, touched = ChangeLog(), set(before), set[int]()
    for puts, number in steps:
        if puts:
            log.put(number, existed=number in now)
            now.add(number)
            touched.add(number)
        elif number in now:
            log.drop({number})
            now.discard(number)
    assert log.changes() == Changes(frozenset(now - before), frozenset(before & now & touched), frozenset(before - now))


def test_the_order_of_adding_does_not_matter(tmp_path: Path, corpus: Path):
    for order, names in (("forth", NAMES), ("back", NAMES[::-1])):
        for name in names:
            run(tmp_path / order, [corpus / name])
    assert contents(tmp_path / "forth") == contents(tmp_path / "back")


def test_remove_by_title_key_or_id(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus])
    opened = Index.open(index)
    ids = {title: id for id, _, title in opened.documents()}
    opened.close()
    assert asyncio.run(remove(index, ["market", "corpus/storm.txt", ids["harbour"]])).removed == 3
    opened = Index.open(index)
    assert [title for _, _, title in opened.documents()] == ["ship"]
    assert {id.rsplit(":", 3)[0] for id, _ in opened.words.search("storm tower harbour", 10)} == {ids["ship"]}
    opened.close()
    with pytest.raises(UsageError, match="no document"):
        asyncio.run(remove(index, ["nobody"]))
    assert run(index, [corpus]).added == 3  # an index mirrors its folder


def test_a_removed_record_comes_back_as_a_removed_file_does(tmp_path: Path):
    rows = [{"title": "One", "text": "A light."}, {"title": "Two", "text": "A storm."}]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    run(tmp_path / "index", [tmp_path / "rows.json"])
    asyncio.run(remove(tmp_path / "index", ["Two"]))
    again = run(tmp_path / "index", [tmp_path / "rows.json"])
    assert (again.added, again.unchanged) == (1, 1)


def test_a_build_that_dies_goes_on_where_it_was(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {f"{n}.txt": f"Tower number {n} has a light." for n in range(600)})
    index = tmp_path / "index"
    dying = WordHashes(fail_after=400)
    with pytest.raises(RuntimeError):
        run(index, [corpus], embedder=dying)
    rest = WordHashes()
    run(index, [corpus], embedder=rest)
    assert set(dying.texts).isdisjoint(rest.texts)
    assert len(dying.texts) + len(rest.texts) == 600
    run(tmp_path / "fresh", [corpus])
    assert contents(index) == contents(tmp_path / "fresh")


KILLED = """
import asyncio, sys
from pathlib import Path
from ragways.index.build import build
from tests.fakes import recipe
print("ready", flush=True)
asyncio.run(build(Path(sys.argv[1]), [Path(sys.argv[2])], recipe()))
"""


def test_kill_minus_nine_at_any_moment_leaves_an_index_that_goes_on(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {f"{n}.txt": f"Tower number {n} has a light.\n\nShip {n}." for n in range(400)})
    index = tmp_path / "index"
    root = Path(__file__).parents[2]
    for wait in (0.02, 0.08, 0.15, 0.3):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(index), str(corpus)], cwd=root, stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(wait)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    run(index, [corpus])
    run(tmp_path / "fresh", [corpus])
    assert contents(index) == contents(tmp_path / "fresh")


def test_a_reader_sees_the_index_before_or_after_a_change_and_nothing_between(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus / "harbour.txt"])
    seen: list[tuple[int, int]] = []

    class Looking(WordHashes):
        async def embed(self, texts):
            reader = Index.open(index)
            seen.append((reader.counts()["documents"], len(reader.vectors)))
            reader.close()
            return await super().embed(texts)

    old = Index.open(index)
    old_hits = old.words.search("harbour light", 10)
    run(index, [corpus], embedder=Looking())
    assert seen
    assert set(seen) == {(1, len(old.vectors))}
    assert old.counts()["documents"] == 1
    assert old.words.search("harbour light", 10) == old_hits
    assert set(old.pieces(id for id, _ in old_hits)) == {id for id, _ in old_hits}
    old.close()
    new = Index.open(index)
    assert new.counts()["documents"] == 4  # harbour.txt was there already, and is not there twice
    new.close()


def test_two_writers_do_not_mix(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.index.database.WAIT_SECONDS", 0.1)
    writer = Store.create_or_open(tmp_path / "index")
    with pytest.raises(StoreBusy, match="another process"):
        run(tmp_path / "index", [corpus])
    writer.close()
    assert run(tmp_path / "index", [corpus]).added == 4


def test_another_embedder_or_chunking_is_refused_with_the_cure(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus])
    with pytest.raises(EmbedderChanged, match="--rebuild"):
        run(index, [corpus], embedder=WordHashes("other"))
    with pytest.raises(EmbedderChanged, match="chunking"):
        run(index, [corpus], chunking=PRESETS["thesis"])
    asyncio.run(build(index, [corpus], recipe(WordHashes("other")), rebuild=True))
    opened = Index.open(index)
    assert opened.embedder == "other"
    opened.close()


def test_a_store_of_another_version_is_refused_and_rebuilt_on_demand(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus])
    db = sqlite3.connect(index / "index.sqlite")
    db.execute("UPDATE meta SET value = '999' WHERE key = 'version'")
    db.commit()
    db.close()
    reseal(index)
    for attempt in (lambda: Index.open(index), lambda: run(index, [corpus])):
        with pytest.raises(WrongVersion, match="999"):
            attempt()
    asyncio.run(build(index, [corpus], recipe(), rebuild=True))
    assert contents(index)["documents"]


def test_a_damaged_store_says_so(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus])
    (index / "index.sqlite").write_bytes(b"not a database at all" * 500)
    with pytest.raises(StoreFailed, match="damaged"):
        Index.open(index)
    asyncio.run(build(index, [corpus], recipe(), rebuild=True))
    assert contents(index)["documents"]


def test_derived_files_can_be_thrown_away(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus])
    before = contents(index)
    shutil.rmtree(index / "derived")
    assert contents(index) == before


def test_derived_files_of_another_format_are_made_again(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus])
    before = contents(index)
    derived = index / "derived" / "1"
    for other in (None, "format-1"):
        (derived / "vectors" / "1" / "rows.npy").unlink()
        (derived / f"format-{FORMAT}").unlink()
        if other is not None:
            (derived / other).touch()
        assert contents(index) == before
        assert (derived / "vectors" / "1" / "rows.npy").is_file()
        assert [file.name for file in derived.glob("format*")] == [f"format-{FORMAT}"]
    [only] = (index / "derived").iterdir()
    assert only == derived


def test_nothing_of_another_format_is_taken_over_by_a_run_that_adds(tmp_path: Path, corpus: Path):
    """A run that only adds puts new words on top of those there are, which must not be words of another kind."""
    from ragways.index.words import Words

    index, derived = tmp_path / "index", tmp_path / "index" / "derived" / "1"
    run(index, [corpus])
    (derived / f"format-{FORMAT}").rename(derived / "format-1")
    shutil.rmtree(derived / "words")
    Words.build(derived / "words", [])
    (corpus / "added.txt").write_text("Something else.")
    run(index, [corpus])
    grown = contents(index)
    run(tmp_path / "anew", [corpus])
    assert grown == contents(tmp_path / "anew")
    assert Words(index / "derived" / "2" / "words").search("harbour ship lighthouse", 9)


def test_derived_files_of_another_format_serve_while_a_build_goes_on(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
):
    from ragways.index.folder import writing

    monkeypatch.setattr("ragways.index.database.WAIT_SECONDS", 0.05)
    index = tmp_path / "index"
    run(index, [corpus])
    before = contents(index)
    mark = index / "derived" / "1" / f"format-{FORMAT}"
    mark.unlink()
    with writing(index, rebuild=False):
        assert contents(index) == before
    assert not mark.is_file()
    assert contents(index) == before
    assert mark.is_file()


def test_derived_files_of_another_format_that_cannot_be_read_are_said_to_be(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
):
    """As those of an earlier version are, whose segments have other files, while somebody writes."""
    from ragways.index.folder import writing

    monkeypatch.setattr("ragways.index.database.WAIT_SECONDS", 0.05)
    index, derived = tmp_path / "index", tmp_path / "index" / "derived" / "1"
    run(index, [corpus])
    before = contents(index)
    (derived / f"format-{FORMAT}").rename(derived / "format-19")
    for file in derived.rglob("documents.ends.npy"):
        file.unlink()
    with writing(index, rebuild=False):
        opened = Index.open(index)
        for layer in ("vectors", "words"):
            with pytest.raises(WrongVersion, match=f"'{layer}' of this index was made by another version"):
                getattr(opened, layer)
        opened.close()
    assert contents(index) == before


def test_a_run_killed_before_it_forgot_is_made_up_for(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch):
    index = tmp_path / "index"
    run(index, [corpus])
    (corpus / "ship.txt").unlink()

    def killed(*_):
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr("ragways.index.work_cache.WorkCache.forget", killed)
        with pytest.raises(RuntimeError):
            run(index, [corpus])
    run(index, [corpus])
    write(tmp_path / "three" / "corpus", {name: text for name, text in TEXTS.items() if name != "ship.txt"})
    run(tmp_path / "fresh", [tmp_path / "three" / "corpus"])
    assert contents(index) == contents(tmp_path / "fresh")


def test_layers_can_be_added_later(tmp_path: Path, corpus: Path):
    embedder = WordHashes()
    run(tmp_path / "index", [corpus], embedder=embedder, layers=frozenset({"words"}))
    assert not embedder.texts
    run(tmp_path / "index", [corpus], embedder=embedder)
    run(tmp_path / "fresh", [corpus])
    assert contents(tmp_path / "index") == contents(tmp_path / "fresh")


class Paying(WordHashes):
    """An embedder that costs a dollar a text."""

    async def embed(self, texts):
        reservation = current_meter().reserve(Usage(calls=1, usd=float(len(texts))))
        reservation.settle(Usage(calls=1, usd=float(len(texts))))
        return await super().embed(texts)


def test_a_budget_stops_before_it_is_passed_and_keeps_what_is_done(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {f"{n}.txt": f"Tower number {n} has a light." for n in range(600)})
    index, embedder = tmp_path / "index", Paying()
    with spending(Budget(usd=450)) as meter:
        summary = run(index, [corpus], embedder=embedder)
    assert summary.stopped
    assert summary.usage.usd == meter.spent.usd <= 450
    held = contents(index)
    assert len(held["documents"]) == len(held["vectors"]) == summary.added > 0
    assert run(index, [corpus], embedder=embedder).stopped == ""
    assert len(embedder.texts) == len(set(embedder.texts)) == 600
    run(tmp_path / "fresh", [corpus])
    assert contents(index) == contents(tmp_path / "fresh")


def test_a_file_that_breaks_is_reported_and_its_earlier_version_kept(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus])
    (corpus / "storm.txt").write_bytes(b"\x00\x01\x02" * 100)
    summary = run(index, [corpus])
    assert [skip.key for skip in summary.failed] == ["corpus/storm.txt"]
    assert len(contents(index)["documents"]) == 4


BROKEN = '{"title": "Alma", "text": "The secret of Alma is 42."}\nbroken\n{"title": "Ida", "text": "Ida sails."}\n'


def test_what_was_read_of_a_file_that_breaks_goes_with_the_file(tmp_path: Path):
    corpus, index = write(tmp_path / "corpus", {"x.jsonl": BROKEN, "o.txt": "Another text."}), tmp_path / "index"
    for _ in range(2):  # whenever it is read
        summary = run(index, [corpus])
        assert [skip.key for skip in summary.failed] == ["corpus/x.jsonl"]
        assert len(contents(index)["documents"]) == 3
    (corpus / "x.jsonl").unlink()
    assert run(index, [corpus]).removed == 2
    run(tmp_path / "fresh", [corpus])
    assert contents(index) == contents(tmp_path / "fresh")


def test_a_file_that_a_budget_left_half_read_goes_as_a_whole(tmp_path: Path):
    rows = "".join(json.dumps({"title": f"T{n}", "text": f"Tower number {n} has a light."}) + "\n" for n in range(3000))
    corpus, index = write(tmp_path / "corpus", {"x.jsonl": rows, "o.txt": "Another text."}), tmp_path / "index"
    with spending(Budget(usd=1500)):
        summary = run(index, [corpus], embedder=Paying())
    assert summary.stopped
    assert 0 < summary.added < 3000
    (corpus / "x.jsonl").unlink()
    assert run(index, [corpus]).removed > 0
    run(tmp_path / "fresh", [corpus])
    assert contents(index) == contents(tmp_path / "fresh")


def test_a_file_of_which_a_document_was_removed_goes_with_the_others(tmp_path: Path):
    corpus, index = write(tmp_path / "corpus", {"x.jsonl": BROKEN.replace("broken\n", "")}), tmp_path / "index"
    run(index, [corpus])
    asyncio.run(remove(index, ["Alma"]))
    assert len(contents(index)["documents"]) == 1
    again = run(index, [corpus])
    assert (again.added, again.unchanged) == (1, 1)  # the file still has it
    asyncio.run(remove(index, ["Alma"]))
    (corpus / "x.jsonl").unlink()
    assert run(index, [corpus]).removed == 1
    assert not contents(index)["documents"]
    store = Store.open(index)
    assert not store.files
    store.close()


def test_two_folders_of_one_name_are_not_mixed_up(tmp_path: Path):
    one = write(tmp_path / "one" / "docs", {"a.txt": "One."})
    two = write(tmp_path / "two" / "docs", {"a.txt": "Two."})
    run(tmp_path / "index", [one])
    with pytest.raises(UsageError, match="already"):
        run(tmp_path / "index", [two])
    both = run(tmp_path / "index", [tmp_path])
    assert (both.added, both.unchanged) == (1, 1)
    with pytest.raises(UsageError, match="would both be called"):
        run(tmp_path / "other", [one, two])


def test_a_file_below_two_named_folders_is_there_once(tmp_path: Path):
    folder = write(tmp_path / "corpus", {"news/a.txt": "A storm.", "b.txt": "A light."})
    run(tmp_path / "index", [folder])
    again = run(tmp_path / "index", [folder / "news", folder / "b.txt"])
    assert (again.added, again.unchanged) == (0, 2)
    assert len(contents(tmp_path / "index")["documents"]) == 2


def test_rebuild_starts_anew_and_forgets_the_rest(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus])
    other = write(tmp_path / "other", {"gull.txt": "A gull over the harbour."})
    asyncio.run(build(index, [other], recipe(), rebuild=True))
    run(tmp_path / "fresh", [other])
    assert contents(index) == contents(tmp_path / "fresh")


def test_rebuild_leaves_a_first_build_of_another_process_alone(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ragways.index.database.WAIT_SECONDS", 0.1)
    writer = Store.create_or_open(tmp_path / "index")
    with pytest.raises(StoreBusy):
        asyncio.run(build(tmp_path / "index", [corpus], recipe(), rebuild=True))
    writer.commit()
    writer.close()
    Index.open(tmp_path / "index").close()


def test_a_damaged_cache_of_vectors_is_cured_by_rebuild(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus])
    (index / "work_cache.sqlite").write_bytes(b"junk" * 5000)
    with pytest.raises(StoreFailed, match="--rebuild"):
        run(index, [corpus])
    asyncio.run(build(index, [corpus], recipe(), rebuild=True))
    run(tmp_path / "fresh", [corpus])
    assert contents(index) == contents(tmp_path / "fresh")


def test_derived_files_that_are_written_wrong_are_named_with_their_cure(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus])
    before = contents(index)
    (index / "derived" / "1" / "vectors" / "1" / "rows.npy").write_bytes(b"junk")
    reseal(index)
    opened = Index.open(index)
    with pytest.raises(StoreFailed, match="remove the folder"):
        opened.vectors  # noqa: B018
    opened.close()
    shutil.rmtree(index / "derived" / "1")
    assert contents(index) == before


def test_a_file_that_is_left_out_now_is_kept_and_said(tmp_path: Path, corpus: Path):
    from ragways.corpus.source import LoadOptions

    index = tmp_path / "index"
    run(index, [corpus])
    summary = run(index, [corpus], options=LoadOptions(max_bytes=70))
    assert summary.failed
    assert all("its earlier version is kept" in skip.reason for skip in summary.failed)
    assert len(contents(index)["documents"]) == 4


def test_an_index_inside_the_corpus_is_not_read(tmp_path: Path, corpus: Path):
    for _ in range(2):
        summary = run(corpus / "index", [corpus])
        assert not summary.failed
    assert summary.unchanged == 4


def test_a_full_disk_loses_nothing(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch):
    index = tmp_path / "index"
    run(index, [corpus / "harbour.txt"])
    before = contents(index)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("ragways.index.vectors.np.save", full)
        with pytest.raises(StoreFailed, match="full"):
            run(index, [corpus])
    assert contents(index)["documents"] == before["documents"]
    run(index, [corpus])
    run(tmp_path / "fresh", [corpus / "harbour.txt"])
    run(tmp_path / "fresh", [corpus])
    assert contents(index) == contents(tmp_path / "fresh")


def test_an_empty_folder_is_an_empty_index(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    summary = run(tmp_path / "index", [tmp_path / "empty"])
    assert summary.added == 0
    opened = Index.open(tmp_path / "index")
    assert opened.words.search("anything", 5) == []
    assert opened.vectors.search(opened.vectors.matrix[:].sum(axis=0), 5) == []
    opened.close()
