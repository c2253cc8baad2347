"""An index at a URL: a manifest, and the blocks of its files under names that are never used twice.

An index is built in a folder and then published: blocks that the manifest before does not have are put beside the
others, and one small object, the manifest, is put last and on condition that it is still the one that the run began
with. That put is the commit: until then everybody sees the state before, and what a killed run has left is removed by
the next. To be read, an index is brought into a folder; blocks that lie in another copy, by their SHA-256, are not
fetched.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex

from ragways.cloud.objects import ObjectStore
from ragways.core.errors import StoreBusy, StoreDamaged, StoreFailed
from ragways.index.views import published
from ragways.store.place import LOCK, VIEWS

MANIFEST = "ragways-index.json"
FORMAT = 1
BLOCK = 8 * 1024 * 1024
"""Bytes of a file that are moved as one object."""
_AT_ONCE = 8
_LEFT_OUT = ("-shm", ".draft", LOCK)


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a file: the object that holds it, its SHA-256 and its size."""

    object: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files of a published index, by name, and the tag of the object that says so; without a tag, none is there.

    Where documents went or changed, no copy of an earlier state may stay (`kept` is False).
    """

    id: str = ""
    files: dict[str, tuple[Block, ...]] = field(default_factory=dict)
    kept: bool = True
    tag: str = ""

    @property
    def blocks(self) -> Iterator[Block]:
        return (block for blocks in self.files.values() for block in blocks)

    def data(self) -> bytes:
        files = {name: [[b.object, b.sha256, b.size] for b in blocks] for name, blocks in sorted(self.files.items())}
        plain = {"format": FORMAT, "id": self.id, "kept": self.kept, "files": files}
        return json.dumps(plain, indent=1).encode()

    @classmethod
    def read(cls, store: ObjectStore) -> Manifest:
        """That of the index at a URL."""
        found = store.get(MANIFEST)
        if found is None:
            return cls()
        try:
            return replace(cls.of(found[0]), tag=found[1])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise StoreDamaged(
                f"{store.url}/{MANIFEST} cannot be read", "build the index anew at another URL"
            ) from None

    @classmethod
    def of(cls, data: bytes) -> Manifest:
        """From what `data` gave; ValueError, KeyError, TypeError or AttributeError where it is nothing of the kind."""
        plain = json.loads(data)
        # Whoever can write at the URL chooses these: they name folders and files of this machine, and sizes.
        if plain["format"] != FORMAT or not all(map(_is_inside, plain["files"])) or not _ID.fullmatch(plain["id"]):
            raise ValueError("not of this format")
        files = {
            name: tuple(Block(str(object), str(sha256), int(size)) for object, sha256, size in blocks)
            for name, blocks in plain["files"].items()
        }
        found = cls(plain["id"], files, plain["kept"])
        if not all(0 < block.size <= BLOCK for block in found.blocks):
            raise ValueError("blocks of no size that is written")
        return found


_ID = re.compile("[0-9a-f]{16}|")


def _is_inside(name: str) -> bool:
    parts = name.split("/")
    return all(part not in ("", ".", "..") and "\\" not in part and "\0" not in part for part in parts)


# From a folder to the URL


def publish(folder: Path, store: ObjectStore, before: Manifest, *, kept: bool) -> Manifest:
    """Make the index in a folder the one at the URL, if that is still at the state `before`. Gives the new manifest.

    Objects that the new state does not name are removed, also those of runs that were killed.
    """
    known = {block.sha256: block for block in before.blocks}
    run = token_hex(8)
    files: dict[str, tuple[Block, ...]] = {}
    new: list[tuple[Path, int, Block]] = []
    for path in _files(folder):
        blocks: list[Block] = []
        for at in range(0, path.stat().st_size, BLOCK):
            data = _stretch(path, at, BLOCK)
            sha256 = hashlib.sha256(data).hexdigest()
            if sha256 not in known:
                known[sha256] = Block(f"{run}/{len(new)}", sha256, len(data))
                new.append((path, at, known[sha256]))
            blocks.append(known[sha256])
        files[path.relative_to(folder).as_posix()] = tuple(blocks)

    def send(path: Path, at: int, block: Block) -> None:
        store.put(block.object, _stretch(path, at, block.size))

    if files == before.files:
        return before
    _side_by_side(send, new)
    manifest = Manifest(run, files, kept)
    # Listed before the commit: what another run puts after it is no litter, and what it put before is in vain.
    there = store.names()
    try:
        store.replace(MANIFEST, manifest.data(), before.tag)
    except StoreBusy:
        # The client may have put it twice, when the first reply was lost.
        if Manifest.read(store).id != run:
            store.remove(block.object for _, _, block in new)
            raise
    store.remove(set(there) - {block.object for block in manifest.blocks} - {MANIFEST})
    return Manifest.read(store)


def _files(folder: Path) -> list[Path]:
    """The files of an index that others need: of its views the newest alone."""
    views = published(folder)
    others = {path for path in (folder / VIEWS).glob("*") if views is None or path != views.folder}
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in paths if not (path.name.endswith(_LEFT_OUT) or others.intersection(path.parents))]


# From the URL to a folder


def bring(store: ObjectStore, manifest: Manifest, target: Path, copies: Sequence[tuple[Path, Manifest]]) -> None:
    """Bring a published index into a folder that is not there yet. `copies` are folders with states of the same index,
    of which blocks are taken rather than fetched. Raises StoreBusy where it was written to meanwhile.
    """
    here = {
        block.sha256: (folder / name, at * BLOCK)
        for folder, state in copies
        for name, blocks in state.files.items()
        for at, block in enumerate(blocks)
    }
    draft = target.with_name(f"{target.name}.{token_hex(4)}.draft")
    try:
        for name, blocks in manifest.files.items():
            path = draft / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.truncate(sum(block.size for block in blocks))

        def take(name: str, at: int, block: Block) -> None:
            data = _taken(here.get(block.sha256), block)
            if data is None:
                data = _fetched(store, block)
            with (draft / name).open("r+b") as file:
                file.seek(at)
                file.write(data)

        _side_by_side(
            take,
            [(name, at * BLOCK, block) for name, blocks in manifest.files.items() for at, block in enumerate(blocks)],
        )
        draft.rename(target)
    except OSError as error:
        if not target.is_dir():  # or another process has brought the same meanwhile
            raise _full_or_broken(draft, error) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _fetched(store: ObjectStore, block: Block) -> bytes:
    found = store.get(block.object)
    if found is None:
        raise StoreBusy(f"{store.url} was written to while it was read", "ask again")
    if hashlib.sha256(found[0]).hexdigest() != block.sha256:
        raise StoreDamaged(f"{store.url}/{block.object} is not what was written", "publish the index anew: --rebuild")
    return found[0]


def _taken(place: tuple[Path, int] | None, block: Block) -> bytes | None:
    """A block of another copy, where it is still what it was: a reader may keep replies there."""
    if place is None:
        return None
    try:
        data = _stretch(*place, block.size)
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == block.sha256 else None


def _full_or_broken(draft: Path, error: OSError) -> StoreFailed:
    with_cure = "make room, or set another folder with RAGWAYS_CACHE, then run again"
    return StoreFailed(f"the copy of the index could not be written to {draft.parent} ({error.strerror})", with_cure)


def _stretch(path: Path, at: int, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(at)
        return file.read(size)


def _side_by_side(act: Callable[..., None], each: Sequence[tuple[object, ...]]) -> None:
    """Some at a time; the first error ends it, and nothing more is begun."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        pending = [pool.submit(act, *arguments) for arguments in each]
        try:
            for one in pending:
                one.result()
        finally:
            pool.shutdown(cancel_futures=True)
