"""Views are published whole, keep what readers have open, and tell damage."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragways.core.errors import StoreFailed
from ragways.index.views import ShownView, Views, clear_old, draft, published


def make(folder: Path, generation: int, files: dict[str, bytes], before: Views | None = None) -> Views:
    with draft(folder, generation, before) as made:
        for name, data in files.items():
            made.of(name.split("/")[0])
            (made.folder / name).write_bytes(data)
        return made.publish({name.split("/")[0]: ShownView(generation, "so") for name in files}, "rows")


def test_published_views_are_read_with_their_layers(tmp_path: Path):
    assert published(tmp_path) is None
    make(tmp_path, 7, {"words/a": b"one", "vectors/b": b"two"})
    views = published(tmp_path)
    assert views is not None
    assert (views.generation, views.rows) == (7, "rows")
    assert (views.of("words") / "a").read_bytes() == b"one"
    assert (views.made("words"), views.made("graph"), views.generation_of("vectors")) == ("so", "", 7)
    assert views.size_of("words") == 3


def test_the_newest_whole_views_up_to_a_generation_are_used(tmp_path: Path):
    for generation in (1, 2, 12):
        make(tmp_path, generation, {"words/a": b"x"})
    assert [published(tmp_path, until).generation for until in (None, 12, 11, 2, 1)] == [12, 12, 2, 2, 1]  # type: ignore[union-attr]
    assert published(tmp_path, 0) is None
    (tmp_path / "views" / "12" / "views.json").write_text("{")
    assert published(tmp_path).generation == 2  # type: ignore[union-attr]


def test_views_of_another_format_are_not_read(tmp_path: Path):
    views = make(tmp_path, 1, {"words/a": b"x"})
    listed = views.folder / "views.json"
    listed.write_text(listed.read_text().replace('"format": "2"', '"format": "1"'))
    assert published(tmp_path) is None


def test_what_is_taken_over_is_linked_and_what_is_replaced_leaves_the_old_generation_alone(tmp_path: Path):
    before = make(tmp_path, 1, {"words/same": b"same", "words/other": b"before"})
    with draft(tmp_path, 2, before) as made:
        made.link("words")
        beside = made.of("words") / "new"
        beside.write_bytes(b"after")
        os.replace(beside, made.of("words") / "other")
        after = made.publish({"words": ShownView(2, "so")}, "rows")
    assert os.path.samefile(before.of("words") / "same", after.of("words") / "same")
    assert (before.of("words") / "other").read_bytes() == b"before"
    assert (after.of("words") / "other").read_bytes() == b"after"
    for views in (before, after):
        assert not views.damaged("words", every=True)


def test_a_file_that_was_appended_to_is_whole_in_both_generations(tmp_path: Path):
    before = make(tmp_path, 1, {"vectors/rows": b"one"})
    with draft(tmp_path, 2, before) as made:
        made.link("vectors")
        with (made.of("vectors") / "rows").open("ab") as file:
            file.write(b"two")
        after = made.publish({"vectors": ShownView(2, "so")}, "rows")
    fresh = make(tmp_path / "fresh", 1, {"vectors/rows": b"onetwo"})
    assert after.files == fresh.files
    assert not before.damaged("vectors", every=True)
    assert not after.damaged("vectors", every=True)


def test_what_a_killed_run_has_appended_is_not_taken_over(tmp_path: Path):
    before = make(tmp_path, 1, {"vectors/rows": b"one"})
    with (before.of("vectors") / "rows").open("ab") as file:
        file.write(b"never published")
    with draft(tmp_path, 2, before) as made:
        made.link("vectors")
        assert (made.of("vectors") / "rows").read_bytes() == b"one"


@pytest.mark.parametrize("every", [False, True])
def test_damage_is_reported(tmp_path: Path, every: bool):
    views = make(tmp_path, 1, {"words/a": b"something", "words/b": b"else", "vectors/c": b"whole"})
    (views.of("words") / "a").write_bytes(b"somethinG")
    (views.of("words") / "b").unlink()
    assert views.damaged("words", every=every) == ["words/a", "words/b"]
    assert views.damaged("vectors", every=every) == []


def test_of_large_files_every_byte_is_compared_on_request_alone(tmp_path: Path):
    views = make(tmp_path, 1, {"vectors/large": bytes(9 << 20)})
    with (views.of("vectors") / "large").open("r+b") as file:
        file.seek(1 << 20)
        file.write(b"\x01")
    assert views.damaged("vectors") == []
    assert views.damaged("vectors", every=True) == ["vectors/large"]
    os.truncate(views.of("vectors") / "large", 8 << 20)
    assert views.damaged("vectors") == ["vectors/large"]


def test_old_generations_and_drafts_go_and_nothing_else(tmp_path: Path):
    for generation in (1, 2, 3, 9):
        make(tmp_path, generation, {"words/a": b"x"})
    (tmp_path / "views" / "8.draft").mkdir()
    for foreign in ("17", "notes", "4.draft.old"):
        (tmp_path / "views" / foreign).mkdir()
        (tmp_path / "views" / foreign / "mine").touch()
    assert clear_old(tmp_path, 3) == 3
    assert {path.name for path in (tmp_path / "views").iterdir()} == {"3", "17", "notes", "4.draft.old"}


def test_a_foreign_folder_in_the_way_is_left_alone(tmp_path: Path):
    (tmp_path / "views" / "1").mkdir(parents=True)
    (tmp_path / "views" / "1" / "mine").touch()
    with pytest.raises(StoreFailed, match="not made by ragways"):
        make(tmp_path, 1, {"words/a": b"x"})
    assert (tmp_path / "views" / "1" / "mine").is_file()
    assert not (tmp_path / "views" / "1.draft").exists()
