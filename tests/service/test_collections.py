"""The table of collections: names, tenants, what an index holds, and which folders are ever deleted."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import ragways
from ragways.service.collections import MARK, Collection, Collections
from ragways.service.errors import BadRequest, Conflict
from ragways.service.keys import LOCAL, Caller, Keys
from ragways.service.state import State
from tests.service.conftest import serving


def indexed(folder: Path, text: str = "The lighthouse of Sollen was built in 1871 by Ada Marsh.") -> Path:
    source = folder.parent / f"{folder.name}-source"
    source.mkdir()
    (source / "light.txt").write_text(text)
    ragways.build(source, folder, layers=["words"])
    return folder


def opened(data: Path, *indexes: Path) -> Collections:
    return Collections(State(data / "service.sqlite"), data, indexes)


def test_a_collection_belongs_to_a_tenant_and_is_found_after_a_restart(tmp_path: Path):
    collections = opened(tmp_path)
    mine = collections.create("acme", "docs", ["words"])
    other = collections.create("beta", "docs")
    assert mine.id != other.id
    assert mine.files is not None
    assert mine.files.is_dir()
    again = opened(tmp_path)
    assert again.find("acme", "docs") == mine
    assert again.find("gamma", "docs") is None
    assert mine.wanted == ("words",)
    assert other.wanted == (), "its jobs build what `ragways index` builds"


def test_a_caller_sees_the_collections_of_the_key_alone(tmp_path: Path):
    collections = opened(tmp_path)
    for tenant, name in (("acme", "a"), ("acme", "b"), ("beta", "c")):
        collections.create(tenant, name)

    def names(caller: Caller) -> list[str]:
        return [one.name for one in collections.visible(caller)]

    assert names(Caller("k", "acme", frozenset({"read"}))) == ["a", "b"]
    assert names(Caller("k", "acme", frozenset({"read"}), ("b", "c"))) == ["b"]
    assert names(LOCAL) == []


@pytest.mark.parametrize("name", ["", "Docs", ".docs", "a/b", "..", "a b", "ä", "a" * 65, "a\n", "-a"])
def test_names_that_could_be_misread_are_refused(tmp_path: Path, name: str):
    with pytest.raises(BadRequest):
        opened(tmp_path).create("main", name)
    assert [path.name for path in (tmp_path / "collections").iterdir()] == []


def test_a_given_index_is_read_only_and_named_by_its_folder(tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    first, other = indexed(tmp_path / "a" / "My Docs"), indexed(tmp_path / "b" / "my-docs")
    data = tmp_path / "data"
    collections = opened(data, first, other)
    assert [(one.name, one.managed, one.documents) for one in collections.visible(LOCAL)] == [
        ("my-docs", False, 1),
        ("my-docs-2", False, 1),
    ]
    with pytest.raises(Conflict):
        collections.delete(found(collections, "my-docs"))
    assert (first / "index.sqlite").is_file()
    # One that is no longer given is gone; the other keeps its name and what belongs to it.
    found(collections, "my-docs-2").questions.mkdir()
    again = opened(data, other)
    assert [one.name for one in again.visible(LOCAL)] == ["my-docs-2"]
    assert found(again, "my-docs-2").questions.is_dir()
    # Nor is what belongs to it lost where it is left out once.
    assert opened(data).visible(LOCAL) == []
    opened(data)
    assert found(opened(data, other), "my-docs").questions.is_dir()


def test_an_index_of_an_older_format_is_refused_with_its_cure_and_the_others_are_served(tmp_path: Path):
    old, new = indexed(tmp_path / "old"), indexed(tmp_path / "new")
    with sqlite3.connect(old / "index.sqlite") as db:
        db.execute("UPDATE meta SET value = '1' WHERE key = 'version'")
    db.close()
    (tmp_path / "none").mkdir()
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "index.sqlite").write_bytes(b"no database at all" * 100)
    collections = opened(tmp_path / "data", old, new, tmp_path / "none", broken)
    assert found(collections, "new").trouble == ""
    assert "built by another version of ragways" in found(collections, "old").trouble
    assert "ragways index PATH, which builds it anew" in found(collections, "old").trouble
    assert found(collections, "old").documents == 0
    assert "no index" in found(collections, "none").trouble
    assert "cannot be read" in found(collections, "broken").trouble
    assert not any(str(tmp_path) in one.trouble for one in collections.visible(LOCAL))
    ragways.build(tmp_path / "old-source", old, layers=["words"])
    assert found(opened(tmp_path / "data", old), "old").documents == 1


def test_deleting_takes_the_folder_and_follows_no_link(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("kept")
    collections = opened(tmp_path)
    docs = collections.create("main", "docs")
    assert docs.files is not None
    (docs.files / "link").symlink_to(outside)
    collections.delete(docs)
    assert not docs.folder.exists()
    assert collections.find("main", "docs") is None
    assert (outside / "kept.txt").read_text() == "kept"


def test_a_folder_without_our_mark_is_left_alone(tmp_path: Path):
    collections = opened(tmp_path)
    docs = collections.create("main", "docs")
    (docs.folder / MARK).unlink()
    collections.delete(docs)
    assert docs.folder.is_dir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / MARK).write_text("")
    linked = collections.create("main", "linked")
    linked.folder.rename(tmp_path / "moved")
    linked.folder.symlink_to(outside)
    collections.delete(linked)
    assert outside.is_dir()


def test_what_a_killed_server_left_is_cleared_at_the_next_start(tmp_path: Path):
    collections = opened(tmp_path)
    docs, gone = collections.create("main", "docs"), collections.create("main", "gone")
    docs.incoming.mkdir()
    (docs.incoming / "half").write_text("half")
    gone.folder.rename(gone.folder.with_name(f"{gone.id}.deleted"))
    State(tmp_path / "service.sqlite").db.execute("DELETE FROM collections WHERE id = ?", (gone.id,))
    (tmp_path / "collections" / "stranger").mkdir()
    opened(tmp_path)
    assert not docs.incoming.exists()
    assert sorted(path.name for path in (tmp_path / "collections").iterdir()) == sorted([docs.id, "stranger"])


def test_a_server_refuses_an_old_index_and_serves_the_others_and_each_tenant_its_own(tmp_path: Path):
    data = tmp_path / "data"
    old, new = indexed(tmp_path / "old"), indexed(tmp_path / "new")
    with sqlite3.connect(old / "index.sqlite") as db:
        db.execute("UPDATE meta SET value = '1' WHERE key = 'version'")
    db.close()
    state = State(data / "service.sqlite")
    keys = {tenant: Keys(state).add(tenant, scope="admin", tenant=tenant)[1] for tenant in ("main", "acme", "beta")}
    state.close()
    given = ("--index", str(old), "--index", str(new))
    with serving(data, *given, environment={"RAGWAYS_SERVE__WORKERS": "1"}) as server:
        clients = {tenant: server.with_key(key) for tenant, key in keys.items()}
        main, acme, beta = clients.values()
        listed = {one["name"]: one for one in main.get(f"{API}/collections").json()["collections"]}
        assert "another version" in listed["old"]["trouble"]
        assert listed["new"]["documents"] == 1
        asked = {"question": "Who built the lighthouse of Sollen?", "paradigm": "words"}
        refused = main.post(f"{API}/collections/old/ask", json=asked)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "wrong_version")
        assert "Ada Marsh" in main.post(f"{API}/collections/new/ask", json=asked).text

        place = f"{API}/collections/secret"
        assert acme.post(f"{API}/collections", json={"name": "secret", "layers": ["words"]}).status_code == 201
        acme.put(f"{place}/files/a.txt", content=b"The vault opens at noon.")
        assert beta.post(f"{API}/collections", json={"name": "secret", "layers": ["words"]}).status_code == 201
        assert beta.get(f"{place}/files").json()["total"] == 0
        assert acme.get(f"{place}/files").json()["total"] == 1
        for client in clients.values():
            client.close()


API = "/api/v1"


def found(collections: Collections, name: str) -> Collection:
    collection = collections.find("main", name)
    assert collection is not None
    return collection
