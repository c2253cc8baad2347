"""The seal of the store: renewed for what a commit has written, it is what all of the file would give."""

from __future__ import annotations

import resource
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import pytest

from ragways.core.errors import StoreDamaged
from ragways.index import checksums, seal
from ragways.index.checksums import sum_of
from ragways.index.health import check
from ragways.index.seal import Seal
from ragways.index.store import FILE, Store

KEYS = 300


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seal, "BLOCK", 4096 * 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with closing(Store.create_or_open(tmp_path / "index")) as store:
        change(store, Random(0), KEYS)
        store.commit()
    return tmp_path / "index"


def change(store: Store, dice: Random, rows: int) -> None:
    for _ in range(rows):
        key = f"key {dice.randrange(KEYS)}"
        if dice.random() < 0.3:
            store.db.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            store.set_meta({key: "x" * dice.choice([1, 100, 3000, 20_000])})


def actual(folder: Path) -> checksums.Sum:
    with (folder / FILE).open("rb") as file:
        return sum_of(file.fileno(), seal.BLOCK)


def is_right(folder: Path) -> bool:
    known = Seal(folder / FILE).read()
    if known is None or known.broken_by:
        return False
    now = actual(folder)
    return (known.was.size, list(known.was.crcs)) == (now.size, list(now.crcs))


@pytest.mark.parametrize("seed", range(8))
def test_a_seal_renewed_for_what_was_written_is_that_of_the_whole_file(folder: Path, seed: int):
    dice = Random(seed)
    for _ in range(6):
        with closing(Store.create_or_open(folder)) as store:
            change(store, dice, dice.choice([1, 5, 60]))
            if dice.random() < 0.3:  # as a run that removes something
                store.commit(settle=False)
                store.begin()
                change(store, dice, 2)
            store.commit()
            assert store.settled
        assert is_right(folder)


def test_what_a_commit_did_not_write_is_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch):
    read: list[int] = []

    def listen(descriptor: int, start: int, length: int) -> int:
        read.append(start)
        return checksums.crc_of(descriptor, start, length)

    with closing(Store.create_or_open(folder)) as store:
        store.set_meta({"key 1": "y"})
        monkeypatch.setattr(seal, "crc_of", listen)
        monkeypatch.setattr(seal, "sum_of", None)
        store.commit()
    assert 0 < len(read) < len(actual(folder).crcs) / 4
    assert is_right(folder)


def test_whoever_does_not_know_what_was_written_reads_all(folder: Path):
    """A run that a reader keeps from settling leaves that to the next, which may be another process."""
    dice = Random(3)
    with closing(Store.create_or_open(folder)) as store:
        reader = Store.open(folder)
        change(store, dice, 9)
        store.commit()
        assert not store.settled
    with closing(Store.create_or_open(folder)) as store:
        change(store, dice, 9)
        reader.close()
        store.commit()
        assert store.settled
    assert is_right(folder)


def test_damage_is_not_sealed_in_while_a_commit_waits_to_be_settled(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Of a large store little is compared, but before its seal is made anew, all that its log did not write is."""
    for limit in ("COMPARED", "DRAWN"):
        monkeypatch.setattr(checksums, limit, 0)
    with closing(Store.create_or_open(folder)) as store, closing(Store.open(folder)):
        store.set_meta({"key 1": "y"})
        store.commit()
        assert not store.settled
        log = (folder / f"{FILE}-wal").read_bytes()
    looked: list[int] = []
    monkeypatch.setattr(Store, "_check_integrity", lambda _: looked.append(1))
    whole = (folder / FILE).read_bytes()
    data = bytearray(whole)
    data[data.rindex(b"x" * 500)] = ord("z")
    for content, expected in ((whole, []), (data, [1])):
        (folder / FILE).write_bytes(content)
        (folder / f"{FILE}-wal").write_bytes(log)  # as a process that is killed leaves it
        with closing(Store.create_or_open(folder)):
            assert looked == expected


def test_two_writers_by_turns_do_not_seal_what_they_do_not_know(folder: Path):
    first, second = (Store.create_or_open(folder), None)
    first.set_meta({"key 1": "a" * 9000})
    first.commit(settle=False)
    second = Store.create_or_open(folder)
    second.set_meta({"key 299": "b" * 9000})
    second.commit(settle=False)
    first.settle()
    assert is_right(folder)
    second.settle()
    assert is_right(folder)
    for store in (first, second):
        store.close()


def test_of_a_large_store_some_is_compared_when_it_is_opened_and_all_by_check(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    for limit in ("COMPARED", "DRAWN"):
        monkeypatch.setattr(checksums, limit, seal.BLOCK * 8)
    blocks = len(actual(folder).crcs)
    assert blocks > 40
    data = bytearray((folder / FILE).read_bytes())
    place = data.rindex(b"x" * 500)
    data[place] = ord("z")
    (folder / FILE).write_bytes(data)
    noticed = 0
    for _ in range(60):
        with suppress(StoreDamaged):
            Store.open(folder).close()
            continue
        noticed += 1
    assert 0 < noticed < 60
    for limit in ("COMPARED", "DRAWN"):
        monkeypatch.setattr(checksums, limit, 0)
    assert "damage in index.sqlite" in [finding.name for finding in check(folder).findings]


def test_a_large_store_that_lost_its_end_is_noticed_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch):
    for limit in ("COMPARED", "DRAWN"):
        monkeypatch.setattr(checksums, limit, 0)
    data = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(data[:-4096])
    with pytest.raises(StoreDamaged):
        Store.open(folder)


@pytest.mark.parametrize("crcs", ["00000000", "00000000,00000000"])
def test_the_seal_of_an_earlier_version_is_made_anew(folder: Path, crcs: str):
    """One that had a checksum for all, and one whose blocks were larger."""
    text = f"sealed {(folder / FILE).stat().st_size} {crcs}\n"
    (folder / f"{FILE}.sum").write_text(checksums.with_own_sum(text))
    Store.open(folder).close()
    assert is_right(folder)


def test_a_commit_waits_for_the_disk(tmp_path: Path):
    """In a process of its own: within the tests nothing does (`tests/conftest.py`)."""
    code = "from ragways.index.store import Store; from pathlib import Path; import sys\n"
    code += "print(Store.create_or_open(Path(sys.argv[1])).db.execute('PRAGMA synchronous').fetchone()[0])"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "index")], capture_output=True, text=True)
    assert done.stdout.split() == ["2"], done.stderr  # FULL


def test_a_file_that_was_mostly_written_anew_has_full_pages_and_a_few_more_rows_leave_them(tmp_path: Path):
    dice, text = Random(0), "x" * 300
    keys = [f"{number:06}" for number in range(20_000)]
    dice.shuffle(keys)
    with closing(Store.create_or_open(tmp_path / "index")) as store:
        store.db.executemany("INSERT INTO meta VALUES (?, ?)", [(key, text) for key in keys])
        store.commit()
        packed = (tmp_path / "index" / FILE).stat().st_size
        assert store.settled
    assert is_right(tmp_path / "index")
    assert packed < 1.15 * len(keys) * len(text)  # in any order, pages are two thirds full
    with closing(Store.create_or_open(tmp_path / "index")) as store:
        before = actual(tmp_path / "index").crcs
        store.set_meta({"another": text})
        store.commit()
    after = actual(tmp_path / "index").crcs
    assert sum(one != other for one, other in zip(before, after, strict=False)) < len(before) // 10
    assert is_right(tmp_path / "index")


def test_a_file_that_cannot_be_packed_is_sealed_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The copy fits on the disk, and what is to be written of it to the log does not."""
    folder, text, tried = tmp_path / "index", "x" * 300, list[int]()
    with closing(Store.create_or_open(folder)) as store:
        store.set_meta({f"{number * 7919 % 10_000:06}": text for number in range(10_000)})
        store.commit(settle=False)
        store.db.execute("VACUUM INTO ?", (str(tmp_path / "packed"),))
        room = (tmp_path / "packed").stat().st_size + 4096
        real = store._pack

        def with_little_room() -> None:
            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
            try:
                real()
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            tried.append((folder / FILE).stat().st_size)

        monkeypatch.setattr(store, "_pack", with_little_room)
        store.settle()
        assert store.settled
    assert tried
    assert tried[0] > room, "it was not packed"
    assert is_right(folder)
    with closing(Store.open(folder)) as store:
        assert store.meta()["000042"] == text
