"""Files that were read are found again by where they lie, and those of a folder by its name, without reading all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.index.build import build, remove
from ragways.index.store import Store
from tests.fakes import recipe, write

FOLDERS = ["/a", "/a/b", "/a/b/a", "/b", "/a/b-c", "/a/b/a/b"]
ROOTS = [*FOLDERS, "/a/x.txt", "/b/x.txt", "/x.txt", "https://a.org/b", "named"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store.create_or_open(tmp_path_factory.mktemp("index"))
    yield opened
    opened.close()


def key_of(root: str, rest: str) -> str:
    if root.endswith(".txt"):
        return Path(root).name
    return f"{root}/{rest}" if "://" in root else f"{Path(root).name}/{rest}"


FILES = st.lists(st.tuples(st.sampled_from(ROOTS), st.sampled_from(["x.txt", "a/x.txt", "b/a/x.txt"])), max_size=8)


@given(FILES)
def test_files_are_found_by_place_and_by_root(store: Store, files: list[tuple[str, str]]):
    store.clear()
    held = {key_of(root, rest): root for root, rest in files}
    for key, root in held.items():
        store.files.put(key, root, 1, 1)
    for root in ROOTS:
        assert store.files.of_root(root) == {key for key, of in held.items() if of == root}
    assert store.files.pages() == {key for key in held if "://" in key}
    lying: dict[str, set[tuple[str, str]]] = {}
    for key, root in held.items():
        if root.startswith("/"):
            place = root if root.endswith(".txt") else str(Path(root).parent / key)
            lying.setdefault(place, set()).add((root, key))
    places = {f"{folder}/{rest}" for folder in FOLDERS for rest in ("x.txt", "a/x.txt", "b/a/x.txt")} | {"/x.txt"}
    for place in places | lying.keys():
        found = store.files.place(Path(place))
        assert found in lying[place] if place in lying else found is None


@pytest.mark.parametrize("shards", [0, 2])
def test_records_that_cannot_be_read_are_told_of_in_every_run_until_they_are_mended(tmp_path: Path, shards: int):
    """As a file that cannot be read is: a job that runs twice must not turn green by it."""
    records: list[dict[str, object]] = [{"id": n, "text": f"Keeper {n} saw the light."} for n in range(3)]
    broken: list[dict[str, object]] = [*records, {"id": "bad", "title": "no text here"}]

    def run(held: list[dict[str, object]]) -> tuple[int, int, list[str]]:
        write(tmp_path, {"docs/r.jsonl": "".join(f"{json.dumps(record)}\n" for record in held)})
        return run_again()

    def run_again() -> tuple[int, int, list[str]]:
        done = asyncio.run(build(tmp_path / "index", [tmp_path / "docs"], recipe(), shards=shards))
        return done.added + done.changed, done.unchanged, [entry.key for entry in done.failed]

    assert run(broken) == (3, 0, ["docs/r.jsonl#4"])
    assert run_again() == (0, 3, ["docs/r.jsonl#4"])
    assert run_again() == (0, 3, ["docs/r.jsonl#4"])
    assert run(records) == (0, 3, [])
    assert run_again() == (0, 3, [])
    assert run(broken)[2] == ["docs/r.jsonl#4"]
    asyncio.run(remove(tmp_path / "index", ["docs/r.jsonl"]))
    (tmp_path / "docs" / "r.jsonl").unlink()
    assert run_again() == (0, 0, [])
