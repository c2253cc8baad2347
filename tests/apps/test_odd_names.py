"""File names of any bytes: those that are not UTF-8 are reported with a cure and the rest is indexed; all others are
read, found again, and removed.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from ragways.apps.index import files
from ragways.index.build import build
from tests.apps.conftest import Run
from tests.fakes import recipe
from tests.service.places import Place

WHY = "its name is not UTF-8; rename it"
ODD = {b"caf\xe9.txt": "caf\\xe9.txt", b"sub/na\xefve.md": "sub/na\\xefve.md", b"d\xe9p/inner.txt": "d\\xe9p"}
NAMES = (
    "new\nline.txt", "new\\nline.txt", "\U0001f600.txt", "-dash.txt", "foo..bar.txt", "bell\x07\x1b[31m.txt",
    "rtl\u202egnp.txt", "quo'te\"s`.txt", "[red]mark.txt", "ideo\u3000space.txt", f"{'x' * 251}.txt", " lead.txt",
    "%41#?*.txt", "line\nfolder/inner.txt",
)  # fmt: skip


def put(folder: bytes, name: bytes, text: str) -> None:
    path = folder + b"/" + name
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


@pytest.fixture
def docs(home: Path) -> Path:
    """A folder with a good file and three whose names are not UTF-8."""
    for name in (b"good.txt", *ODD):
        put(os.fsencode(home / "docs"), name, "The lighthouse of Sollen was built in 1871.")
    return home / "docs"


def indexed(ragways: Run, *paths: object) -> Run:
    assert ragways("index", *map(str, paths), "--with", "words").code == 6
    return ragways


def test_the_rest_is_indexed_and_each_is_reported(ragways: Run, docs: Path):
    first = ragways("index", "docs", "--with", "words")
    assert (first.code, "1 added" in first.out) == (6, True)
    assert sorted(first.err.splitlines()) == sorted(f"could not be read: docs/{name}: {WHY}" for name in ODD.values())
    os.rename(os.fsencode(docs) + b"/caf\xe9.txt", docs / "café.txt")
    put(os.fsencode(docs), b"sub/na\xefve.md", "It has changed.")
    again = ragways("index", "docs", "--with", "words", "--json")
    assert (again.code, again.data["added"], again.data["unchanged"]) == (6, 1, 1)
    failed = [{"key": f"docs/{name}", "reason": WHY} for name in ("d\\xe9p", "sub/na\\xefve.md")]
    assert sorted(again.data["failed"], key=str) == failed
    os.remove(os.fsencode(docs) + b"/sub/na\xefve.md")
    os.rename(os.fsencode(docs) + b"/d\xe9p", docs / "deep")
    last = ragways("index", "docs", "--with", "words", "--json")
    assert (last.code, last.data["added"], last.data["failed"]) == (0, 1, [])
    assert len(ragways("status", "--documents", "--json").data["documents"]) == 3
    assert ragways("check", "--json").data["fit"]


def test_a_plan_reports_them_too(ragways: Run, docs: Path):
    assert f"cannot be read: {docs.name}/caf\\xe9.txt: {WHY}" in ragways("index", "docs", "--plan").err
    planned = ragways("index", "docs", "--with", "words", "--plan", "--json").data
    assert (planned["new"], len(planned["failed"])) == (1, 3)


def test_such_a_path_on_the_command_line(ragways: Run, docs: Path):
    odd = os.fsdecode(os.fsencode(docs) + b"/caf\xe9.txt")
    inside = os.fsdecode(os.fsencode(docs) + b"/d\xe9p/inner.txt")
    done = ragways("index", str(docs / "good.txt"), odd, inside, "--with", "words", "--json")
    assert (done.code, done.data["added"]) == (6, 1)
    shown = [str(docs / name) for name in ("caf\\xe9.txt", "d\\xe9p/inner.txt")]
    assert done.data["failed"] == [{"key": name, "reason": WHY} for name in shown]
    none = ragways("index", os.fsdecode(b"caf\xe9s"), "--with", "words")
    assert (none.code, none.err) == (
        2,
        "ragways: caf\\xe9s does not exist: name a file or folder that is there\n",
    )


def test_such_a_name_of_a_document_is_not_found(ragways: Run, docs: Path):
    indexed(ragways, "docs")
    for command in ("remove", "show"):
        done = ragways(command, os.fsdecode(b"docs/caf\xe9.txt"))
        assert (done.code, "'docs/caf\\xe9.txt'" in done.err) == (2, True)
    assert ragways("remove", "docs/good.txt").code == 0


def test_an_index_may_lie_at_such_a_path(ragways: Run, docs: Path, home: Path):
    place = os.fsdecode(os.fsencode(home) + b"/ind\xe9x")
    for _ in range(2):
        done = ragways("index", "docs/good.txt", "--with", "words,graph", "--index", place)
        assert (done.code, done.out.partition(":")[0]) == (0, f"{home}/ind\\xe9x")
    assert ragways("status", "--index", place, "--json").data["counts"]["documents"] == 1
    assert f"{home}/ind\\xe9x: fit" in ragways("check", "--index", place).out
    assert ragways("remove", "good.txt", "--index", place).out == f"{home}/ind\\xe9x: 1 removed\n"


def test_watch_passes_over_them(docs: Path, home: Path):
    seen = files([docs], recipe())
    assert list(seen) == [str(docs / "good.txt")]
    done = asyncio.run(build(home / "index", [docs], recipe()))
    assert (done.added, len(done.failed)) == (1, 3)
    assert asyncio.run(build(home / "index", [docs], recipe())).unchanged == 1


def test_the_service_passes_over_them_in_a_folder_of_uploads(docs: Path):
    place = Place(docs.parent / "data")
    for name in os.listdir(docs):
        os.rename(docs / name, place.files / name)
    place.uploads.mend(place.docs)
    assert asyncio.run(place.names()) == ["good.txt"]


def test_all_other_names_are_read_found_again_and_removed(ragways: Run, home: Path):
    for number, name in enumerate(NAMES):
        put(os.fsencode(home / "docs"), name.encode(), f"The keeper number {number} wrote a line.")
    first = ragways("index", "docs", "--with", "words", "--json")
    assert (first.code, first.data["added"], first.data["failed"]) == (0, len(NAMES), [])
    for path in ("docs", "docs/line\nfolder"):  # a folder inside keeps the names that its files have
        again = ragways("index", path, "--with", "words", "--json").data
        assert (again["added"], again["changed"], again["removed"]) == (0, 0, 0)
    listed = ragways("status", "--documents").out
    assert "\x1b" not in listed
    assert "\u202e" not in listed
    (home / "docs" / "bell\x07\x1b[31m.txt").unlink()
    assert ragways("index", "docs", "--with", "words", "--json").data["removed"] == 1
    assert ragways("remove", "docs/line\nfolder/inner.txt", "--json").data["removed"] == 1
    assert ragways("remove", "docs/ideo\u3000space.txt", "--json").data["removed"] == 1
