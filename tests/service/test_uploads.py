"""Uploads: whole or not there, inside their folder whatever they are called, and within their quotas."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import pkgutil
import string
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.service.errors import BadRequest, Conflict, Full, NotFound, ServiceError, TooLarge
from ragways.service.uploads import LONGEST, UploadedFile, check_path
from tests.service.places import Place, awaited


@awaited
async def test_a_file_is_kept_with_its_checksum_and_replaced_at_one_stroke(tmp_path: Path):
    place = Place(tmp_path)
    kept = await place.put("a/b.txt", b"one ", b"two")
    assert kept == UploadedFile("a/b.txt", 7, hashlib.sha256(b"one two").hexdigest(), "new")
    before = (place.files / "a" / "b.txt").stat().st_ino
    assert (await place.put("a/b.txt", b"other")).size == 5
    assert (place.files / "a" / "b.txt").read_bytes() == b"other"
    assert (place.files / "a" / "b.txt").stat().st_ino != before
    assert list(place.docs.incoming.iterdir()) == []
    same = (place.files / "a" / "b.txt").stat()
    await place.put("a/b.txt", b"other")  # the same bytes: nothing to index again
    assert (place.files / "a" / "b.txt").stat().st_mtime_ns == same.st_mtime_ns


HOSTILE = [
    "", "/etc/passwd", "../up.txt", "a/../../up.txt", "a//b", "a/", ".hidden", "a/.git/config", "a\\b", "C:up.txt",
    "a\0b", "a\nb", "a\u202eb", "a\u2028b", "con", "NUL.txt", "a/aux", " a", "a ", "a.", "..", ".", "a/./b",
    "index.sqlite", "node_modules/x.js", "ragways.toml", "x" * 201, "/".join("x" * 13),
    "a" * 100 + ("/" + "a" * 100) * 6, "\ud800", "\ufeffa", "a\ufffd",
]  # fmt: skip


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path)[:40])
@awaited
async def test_hostile_names_are_refused_and_nothing_is_written(tmp_path: Path, path: str):
    place = Place(tmp_path)
    with pytest.raises(BadRequest):
        await place.put(path, b"x")
    assert list(place.files.rglob("*")) == []
    assert not place.docs.incoming.exists()


SIGNS = st.text(st.sampled_from(string.ascii_letters + "./\\ ~%\0\n-_:" + "äÄß\u0301\u202e\u200b"), max_size=30)


@given(st.one_of(SIGNS, st.text(max_size=60), st.sampled_from(HOSTILE)))
def test_whatever_a_name_is_it_stays_in_its_folder(tmp_path_factory: pytest.TempPathFactory, path: str):
    try:
        name = check_path(path)
    except BadRequest:
        return
    folder = Path("/data/files")
    assert os.path.normpath(folder / name) == str(folder / name)
    assert (folder / name).is_relative_to(folder)
    assert len(name.encode()) <= LONGEST
    assert not any(part.startswith(".") for part in name.split("/"))
    assert check_path(name) == name


@awaited
async def test_names_are_one_whatever_form_their_letters_have(tmp_path: Path):
    place = Place(tmp_path)
    await place.put("cafe\u0301.txt", b"1")
    await place.put("café.txt", b"2")
    assert await place.names() == ["café.txt"]
    with pytest.raises(Conflict, match="large and small"):
        await place.put("CAFÉ.txt", b"3")
    with pytest.raises(Conflict, match="one name"):
        await place.put("café.txt/inside.txt", b"4")
    await place.put("folder/inside.txt", b"5")
    with pytest.raises(Conflict, match="one name"):
        await place.put("folder", b"6")
    assert list(place.docs.incoming.iterdir()) == []


@awaited
async def test_no_link_is_followed(tmp_path: Path):
    place = Place(tmp_path / "data")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (place.files / "way").symlink_to(outside)
    (place.files / "leak.txt").symlink_to(outside / "secret.txt")
    with pytest.raises(ServiceError):
        await place.put("way/new.txt", b"x")
    assert await place.names() == []
    with pytest.raises(NotFound):
        await place.uploads.opened(place.docs, "leak.txt")
    await place.put("leak.txt", b"mine")  # takes the link's place; what it led to is as it was
    await place.uploads.delete(place.docs, "leak.txt")
    assert (outside / "secret.txt").read_text() == "secret"
    assert sorted(path.name for path in outside.iterdir()) == ["secret.txt"]


@awaited
async def test_quotas(tmp_path: Path):
    place = Place(tmp_path, upload=10, files=2, total=15)
    with pytest.raises(TooLarge):
        await place.put("long.txt", b"12345", b"678901")
    await place.put("a.txt", b"1234567890")
    with pytest.raises(Conflict, match="15 bytes"):
        await place.put("b.txt", b"123456")
    await place.put("b.txt", b"12345")
    with pytest.raises(Conflict, match="2 files"):
        await place.put("c.txt", b"")
    await place.put("a.txt", b"123")  # in the place of what is there
    assert list(place.docs.incoming.iterdir()) == []
    assert sorted(path.name for path in place.files.iterdir()) == ["a.txt", "b.txt"]


@awaited
async def test_an_upload_that_ends_early_leaves_what_was_there(tmp_path: Path):
    place = Place(tmp_path)
    await place.put("a.txt", b"before")

    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * (2 << 20)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await place.uploads.put(place.docs, "a.txt", broken())

    begun = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        yield b"x" * (2 << 20)
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(place.uploads.put(place.docs, "a.txt", endless()))
    await begun.wait()
    assert len(list(place.docs.incoming.iterdir())) == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (place.files / "a.txt").read_bytes() == b"before"
    assert list(place.docs.incoming.iterdir()) == []


@pytest.mark.parametrize("half", ["UploadDraft.place", "remove_file"])
@awaited
async def test_who_hangs_up_in_the_middle_leaves_folder_and_table_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: str
):
    place = Place(tmp_path)
    await place.put("other.txt", b"other")
    if half == "remove_file":
        await place.put("a.txt", b"whole")
    name, go_on, done = f"ragways.service.uploads.{half}", threading.Event(), asyncio.Event()
    real, loop = pkgutil.resolve_name(name.replace("uploads.", "uploads:")), asyncio.get_running_loop()

    def slow(*given: object) -> object:
        """The disk is done, and has not said so yet."""
        value = real(*given)
        loop.call_soon_threadsafe(done.set)
        go_on.wait(60)
        return value

    monkeypatch.setattr(name, slow)
    task = asyncio.create_task(
        place.uploads.delete(place.docs, "a.txt") if half == "remove_file" else place.put("a.txt", b"whole")
    )
    await done.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    await place.put("other.txt", b"changed")  # waits for its turn, so the other has come to its end
    assert await place.names() == sorted(path.name for path in place.files.iterdir())
    assert await place.names() == (["other.txt"] if half == "remove_file" else ["a.txt", "other.txt"])


@awaited
async def test_the_table_is_mended_where_a_kill_came_between_the_disk_and_it(tmp_path: Path):
    place = Place(tmp_path)
    await place.put("kept.txt", b"kept")
    await place.put("gone.txt", b"gone")
    (place.files / "gone.txt").unlink()
    (place.files / "new.txt").write_bytes(b"new")
    again = Place(tmp_path)
    assert await again.names() == ["kept.txt", "new.txt"]
    assert again.uploads.find(again.docs, "new.txt").sha256 == hashlib.sha256(b"new").hexdigest()


@awaited
async def test_removing_takes_empty_folders_along(tmp_path: Path):
    place = Place(tmp_path)
    await place.put("a/b/one.txt", b"1")
    await place.put("a/two.txt", b"2")
    await place.uploads.delete(place.docs, "a/b/one.txt")
    assert sorted(str(path.relative_to(place.files)) for path in place.files.rglob("*")) == ["a", "a/two.txt"]
    for path in ("a/b/one.txt", "../service.sqlite", "a"):
        with pytest.raises(NotFound):
            await place.uploads.delete(place.docs, path)


@awaited
async def test_what_the_disk_says_is_told_without_its_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    place = Place(tmp_path)

    def full(self: object, block: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path))

    with monkeypatch.context() as patched:
        patched.setattr("ragways.service.uploads.UploadDraft.write", full)
        with pytest.raises(Full) as told:
            await place.put("a.txt", b"x")
    assert str(tmp_path) not in f"{told.value.message} {told.value.cure}"
    assert list(place.docs.incoming.iterdir()) == []
    place.collections.delete(place.docs)  # while an upload to it is about to begin
    with pytest.raises(NotFound):
        await place.put("a.txt", b"x")
