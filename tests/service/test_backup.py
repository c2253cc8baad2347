"""Backup and restore: whole while others write, and nothing is taken from an archive that is not what it says."""

from __future__ import annotations

import asyncio
import io
import json
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ragways
from ragways.apps.cli import full_app
from ragways.assemble import recipe_of
from ragways.core.errors import RagwaysError, StoreFailed, UsageError
from ragways.index.build import build
from ragways.index.check import check
from ragways.index.recipe import Summary
from ragways.index.views import published
from ragways.index.writer import make_views
from ragways.service.audit import Audit
from ragways.service.backup import MANIFEST, backup, restore
from ragways.service.collections import Collections
from ragways.service.feedback import Feedback
from ragways.service.keys import LOCAL, Keys
from ragways.service.state import FILE, State
from ragways.service.work.job import ROOT
from ragways.settings import Settings
from ragways.store.place import VIEWS
from tests.service.places import Place, awaited


async def indexed(place: Place) -> Summary:
    """What an index job does."""
    recipe = recipe_of(Settings(), frozenset({"words"}))
    return await build(place.docs.index, [place.files], recipe, root=ROOT)


@awaited
async def test_what_was_backed_up_comes_back_elsewhere(tmp_path: Path):
    place = Place(tmp_path / "old")
    for n in range(3):
        await place.put(f"a/{n}.txt", f"The lighthouse number {n} was built by Ada Marsh.".encode())
    await indexed(place)
    place.docs = place.collections.refresh(place.docs)
    await place.uploads.indexed(place.docs, {})
    Feedback(place.state).add(place.docs.id, "", '{"question": "Who?"}')
    (place.docs.runs / "0123456789abcdef").mkdir(parents=True)
    (place.docs.runs / "0123456789abcdef" / "figures.json").write_text("{}")
    place.docs.incoming.mkdir(exist_ok=True)
    (place.docs.incoming / "half").write_text("half")
    audit = Audit(place.state)
    for number in range(3):
        audit.note(LOCAL, "test", number=number)
    _, secret = Keys(place.state).add("one")

    done = CliRunner().invoke(full_app(), ["backup", str(tmp_path / "all.tar"), "--data", str(place.data), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["collections"] == 1
    assert (tmp_path / "all.tar").stat().st_mode & 0o77 == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.tar", "old"]
    done = CliRunner().invoke(full_app(), ["restore", str(tmp_path / "all.tar"), "--data", str(tmp_path / "new")])
    assert done.exit_code == 0, done.output

    again = Place(tmp_path / "new")
    assert (again.docs.id, again.docs.documents, again.docs.generation) == (place.docs.id, 3, 1)
    assert not again.docs.incoming.exists()
    files, _ = await again.uploads.listed(again.docs, 0, 10)
    assert [(one.path, one.state) for one in files] == [(f"a/{n}.txt", "indexed") for n in range(3)]
    assert files == (await place.uploads.listed(place.docs, 0, 10))[0]
    assert list(Feedback(again.state).lines(again.docs.id)) == ['{"question": "Who?"}\n']
    assert (again.docs.runs / "0123456789abcdef" / "figures.json").is_file()
    assert Keys(again.state).caller(secret) is not None
    assert Audit(again.state).problems() == []
    assert check(again.docs.index).fit
    # Nothing is made anew: neither views on opening, nor documents by the next job.
    views = again.docs.index / VIEWS
    before = {path: path.stat().st_mtime_ns for path in views.rglob("*")}
    assert before
    with ragways.open(again.docs.index, settings=Settings()) as corpus:
        assert [hit.piece.title for hit in corpus.retrieve("lighthouse number 2", "words").items] == ["2"]
    assert {path: path.stat().st_mtime_ns for path in views.rglob("*")} == before
    summary = await indexed(again)
    assert (summary.unchanged, summary.added, summary.changed, summary.removed) == (3, 0, 0, 0)


NAMES = ("Orla", "Tamsin", "Edda", "Ruben")


@awaited
async def test_each_backup_taken_while_others_write_is_of_one_moment(tmp_path: Path):
    """The writer puts one version into all files, indexes, removes one and indexes again, over and over."""
    place = Place(tmp_path / "old")
    ending, rounds, failed = threading.Event(), threading.Semaphore(0), list[BaseException]()

    def write() -> None:
        try:
            version = 0
            while not ending.is_set():
                version += 1
                for n in range(4):
                    draft = place.data / "draft"
                    draft.write_text(f"The harbour master {NAMES[n]} writes version number{version} of the rules.")
                    draft.rename(place.files / f"{n}.txt")
                asyncio.run(indexed(place))
                (place.files / "3.txt").unlink()
                asyncio.run(indexed(place))  # a removal keeps no older generation
                rounds.release()
        except BaseException as error:
            failed.append(error)
            rounds.release()

    def note() -> None:
        audit, number = Audit(State(place.data / FILE)), 0
        while not ending.wait(0.001):
            number += 1
            audit.note(LOCAL, "round", number=number)

    writers = [threading.Thread(target=write), threading.Thread(target=note)]
    for writer in writers:
        writer.start()
    await asyncio.to_thread(rounds.acquire)
    seen = set()
    try:
        for number in range(6):
            file = tmp_path / f"{number}.tar"
            await asyncio.to_thread(backup, place.data, file)
            restore(file, tmp_path / str(number))
            again = Place(tmp_path / str(number))
            index = again.docs.index
            make_views(index)  # the moment may be between rows and their views
            with ragways.open(index, settings=Settings()) as corpus:
                found = {
                    hit.piece.text.split("number")[1].split()[0] for hit in corpus.retrieve("harbour", "words").items
                }
                assert len(corpus) in (3, 4)
            assert len(found) == 1, "documents of two moments"
            assert check(index).fit
            assert Audit(again.state).problems() == []
            with tarfile.open(file) as tar:
                assert any(f"index/{VIEWS}/" in name for name in tar.getnames())
            seen |= found
            await asyncio.to_thread(rounds.acquire)
    finally:
        ending.set()
        for writer in writers:
            writer.join()
    assert not failed, failed
    assert len(seen) > 1


@awaited
async def test_what_was_damaged_before_is_reported_and_its_views_are_made_again(tmp_path: Path):
    place = Place(tmp_path / "old")
    await place.put("a.txt", b"The lighthouse was built by Ada Marsh.")
    await indexed(place)
    views = published(place.docs.index)
    assert views is not None
    file = views.folder / next(iter(views.files))
    file.write_bytes(bytes(byte ^ 1 for byte in file.read_bytes()))
    backup(place.data, tmp_path / "all.tar")
    back = restore(tmp_path / "all.tar", tmp_path / "new")
    assert back.damaged == (f"collections/{place.docs.id}/index/{VIEWS}/{views.folder.name}",)
    with ragways.open(Place(tmp_path / "new").docs.index, settings=Settings()) as corpus:
        assert [hit.piece.title for hit in corpus.retrieve("lighthouse", "words").items] == ["a"]


def archive(tmp_path: Path) -> Path:
    place = Place(tmp_path / "old")
    asyncio.run(place.put("a.txt", b"text" * 1000))
    backup(place.data, tmp_path / "all.tar")
    return tmp_path / "all.tar"


def altered(source: Path, to: Path, change: Callable[[tarfile.TarFile, tarfile.TarInfo, bytes], bytes | None]) -> None:
    """The archive with what `change` makes of each entry; None leaves it out."""
    with tarfile.open(source) as tar, tarfile.open(to, "w") as out:
        for entry in tar.getmembers():
            file = tar.extractfile(entry)
            text = change(out, entry, file.read() if file else b"")
            if text is not None:
                entry.size = len(text)
                out.addfile(entry, io.BytesIO(text))


def adding(name: str, **fields: Any) -> Callable[[tarfile.TarFile, tarfile.TarInfo, bytes], bytes | None]:
    def change(out: tarfile.TarFile, entry: tarfile.TarInfo, text: bytes) -> bytes:
        if entry.name == "service.sqlite":
            extra = tarfile.TarInfo(name)
            for field, value in fields.items():
                setattr(extra, field, value)
            out.addfile(extra, io.BytesIO(b""))
        return text

    return change


def test_both_ways_the_same_collections_are_counted(tmp_path: Path):
    """Those of the server's own, with or without files; not the indexes that were given to it, whatever is kept of
    them.
    """
    place = Place(tmp_path / "old")
    (tmp_path / "elsewhere").mkdir()
    given = Collections(place.state, place.data, [tmp_path / "elsewhere"]).find("main", "elsewhere")
    assert given is not None
    given.questions.mkdir()
    (given.questions / "some.jsonl").write_text('{"question": "Who?"}\n')
    made, back = backup(place.data, tmp_path / "all.tar"), restore(tmp_path / "all.tar", tmp_path / "new")
    assert made == back
    assert made.collections == 1
    said = CliRunner().invoke(full_app(), ["backup", str(tmp_path / "again.tar"), "--data", str(place.data)]).output
    assert ": 1 collection, " in said


def test_keys_alone_come_back_before_any_server_was_started(tmp_path: Path):
    runner, old, new = CliRunner(), str(tmp_path / "old"), str(tmp_path / "new")
    assert runner.invoke(full_app(), ["key", "add", "ana", "--data", old]).exit_code == 0
    written = runner.invoke(full_app(), ["backup", str(tmp_path / "all.tar"), "--data", old])
    assert ": 0 collections, " in written.output, written.output
    assert runner.invoke(full_app(), ["restore", str(tmp_path / "all.tar"), "--data", new]).exit_code == 0
    assert "ana" in runner.invoke(full_app(), ["key", "list", "--data", new]).output


ID = "0123456789abcdef"
HOSTILE: dict[str, Callable[[tarfile.TarFile, tarfile.TarInfo, bytes], bytes | None]] = {
    "absolute": adding("/tmp/evil"),
    "up": adding(f"collections/{ID}/../../../evil"),
    "dots": adding(f"collections/{ID}/./evil"),
    "stranger": adding("evil"),
    "short id": adding("collections/x/evil"),
    "control": adding(f"collections/{ID}/a\nb"),
    "link": adding(f"collections/{ID}/way", type=tarfile.SYMTYPE, linkname="/tmp"),
    "hard link": adding(f"collections/{ID}/way", type=tarfile.LNKTYPE, linkname="service.sqlite"),
    "device": adding(f"collections/{ID}/null", type=tarfile.CHRTYPE),
    "folder": adding(f"collections/{ID}/folder", type=tarfile.DIRTYPE),
    "twice": adding("service.sqlite"),
    "unlisted": adding(f"collections/{ID}/more.txt"),
    "flipped": lambda out, entry, text: (
        text.replace(b"texttext", b"texttexT") if entry.name.endswith("a.txt") else text
    ),
    "left out": lambda out, entry, text: None if entry.name.endswith("a.txt") else text,
    "no list": lambda out, entry, text: None if entry.name == MANIFEST else text,
    "bad list": lambda out, entry, text: b"[]" if entry.name == MANIFEST else text,
}


@pytest.mark.parametrize("way", HOSTILE)
def test_an_archive_that_is_not_what_it_says_leaves_nothing(tmp_path: Path, way: str):
    source = archive(tmp_path)
    altered(source, tmp_path / "evil.tar", HOSTILE[way])
    with pytest.raises(RagwaysError):
        restore(tmp_path / "evil.tar", tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.tar", "evil.tar", "old"]


def test_half_an_archive_and_no_archive_are_refused(tmp_path: Path):
    source = archive(tmp_path)
    text = source.read_bytes()
    for length in (0, 100, 512, len(text) // 2, len(text) - 11_000):
        (tmp_path / "half.tar").write_bytes(text[:length])
        with pytest.raises((StoreFailed, UsageError)):
            restore(tmp_path / "half.tar", tmp_path / "new")
        assert not (tmp_path / "new").exists()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "mine.txt").write_text("mine")
    for target in (tmp_path / "new", tmp_path / "half.tar"):
        with pytest.raises(UsageError):
            restore(source, target)
    assert (tmp_path / "new" / "mine.txt").read_text() == "mine"
    with pytest.raises(UsageError):
        restore(tmp_path / "none.tar", tmp_path / "other")
    with pytest.raises(UsageError):
        backup(tmp_path / "old", source)
    with pytest.raises(UsageError):
        backup(tmp_path / "nowhere", tmp_path / "x.tar")
