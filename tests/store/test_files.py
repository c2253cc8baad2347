"""Files that were read are looked up by where they lie, and those of a folder by its name, without reading all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.store.store import Store

FOLDERS = ["/a", "/a/b", "/a/b/a", "/b", "/a/b-c", "/a/b/a/b"]
ROOTS = [*FOLDERS, "/a/x.txt", "/b/x.txt", "/x.txt", "https://a.org/b", "named"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store.write(tmp_path_factory.mktemp("index"))
    yield opened
    opened.close()


def key_of(root: str, rest: str) -> str:
    if root.endswith(".txt"):
        return Path(root).name
    return f"{root}/{rest}" if "://" in root else f"{Path(root).name}/{rest}"


FILES = st.lists(st.tuples(st.sampled_from(ROOTS), st.sampled_from(["x.txt", "a/x.txt", "b/a/x.txt"])), max_size=8)


@given(FILES)
def test_files_are_looked_up_by_place_and_by_root(store: Store, files: list[tuple[str, str]]):
    store.db.execute("DELETE FROM sources")
    known = {key_of(root, rest): root for root, rest in files}
    for key, root in known.items():
        store.files.put(key, root, 1, 1, b"")
    for root in ROOTS:
        assert store.files.of_root(root) == {key for key, of in known.items() if of == root}
    assert store.files.pages() == {key for key in known if "://" in key}
    lying: dict[str, set[tuple[str, str]]] = {}
    for key, root in known.items():
        if root.startswith("/"):
            place = root if root.endswith(".txt") else str(Path(root).parent / key)
            lying.setdefault(place, set()).add((root, key))
    places = {f"{folder}/{rest}" for folder in FOLDERS for rest in ("x.txt", "a/x.txt", "b/a/x.txt")} | {"/x.txt"}
    for place in places | lying.keys():
        found = store.files.place(Path(place))
        assert found in lying[place] if place in lying else found is None
