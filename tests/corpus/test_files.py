from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from ragways.core.errors import LoadError
from ragways.corpus.load import load, walk
from ragways.corpus.source import LoadOptions, Skipped, SourceFile


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    root = tmp_path / "corpus"
    for name in ("notes/tides.md", "notes/b.txt", "a.txt", ".git/x.md", "notes/.secret.txt", "data.xyz", "bare"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("hello")
    return root


def keys(*roots: Path, options: LoadOptions | None = None) -> tuple[list[str], dict[str, str]]:
    found = list(walk(roots, options))
    skipped = {item.key: item.reason for item in found if isinstance(item, Skipped)}
    return [item.key for item in found if isinstance(item, SourceFile)], skipped


def test_keys_order_and_reasons(corpus: Path):
    read, skipped = keys(corpus)
    assert read == ["a.txt", "notes/b.txt", "notes/tides.md"]
    assert skipped == {"bare": "no loader for files without a suffix", "data.xyz": "no loader for .xyz"}
    found = walk([corpus])
    list(found)
    assert found.hidden == 2


def test_a_named_file_is_its_name(corpus: Path):
    assert keys(corpus / "notes" / "tides.md") == (["tides.md"], {})
    hidden = corpus / ".git"
    assert keys(hidden) == (["x.md"], {})


def test_several_roots_get_distinct_keys_in_any_order(corpus: Path, tmp_path: Path):
    other, third = tmp_path / "other", tmp_path / "deep" / "other"
    for root in (other, third):
        root.mkdir(parents=True)
        (root / "a.txt").write_text("other")
    read, _ = keys(corpus, other, third)
    assert read == ["a.txt", "notes/b.txt", "notes/tides.md", "other/a.txt", "other~2/a.txt"]
    assert keys(third, corpus, other)[0] == read
    read, skipped = keys(corpus, corpus / "notes")
    assert len(read) == 3
    assert skipped["b.txt"] == "already read as notes/b.txt"


def test_links(corpus: Path, tmp_path: Path):
    outside = tmp_path / "outside.txt"
    outside.write_text("secret")
    (corpus / "away.txt").symlink_to(outside)
    (corpus / "up").symlink_to(tmp_path)
    (corpus / "loop").symlink_to(corpus)
    (corpus / "self.txt").symlink_to(corpus / "self.txt")
    (corpus / "gone.txt").symlink_to(corpus / "none.txt")
    (corpus / "0.txt").symlink_to(corpus / "a.txt")
    (corpus / "kept.txt").symlink_to(corpus / "notes" / ".secret.txt")
    read, skipped = keys(corpus)
    assert read == ["a.txt", "notes/b.txt", "notes/tides.md", "kept.txt"]
    assert skipped["away.txt"] == skipped["up"] == "link leads outside the folder"
    assert skipped["gone.txt"] == skipped["self.txt"] == "link leads nowhere"
    assert "folder" in skipped["loop"]
    assert skipped["0.txt"] == "already read as a.txt"


def test_pipes_and_sockets_are_not_opened(corpus: Path, monkeypatch: pytest.MonkeyPatch):
    os.mkfifo(corpus / "pipe.txt")
    monkeypatch.chdir(corpus)  # a socket's path is limited to some hundred characters
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s.txt")
        _, skipped = keys(corpus)
    assert skipped["pipe.txt"] == skipped["s.txt"] == "not a regular file"
    with pytest.raises(LoadError, match="p is not a regular file"):
        list(load(SourceFile(corpus / "pipe.txt", "p")))


def test_size_limit_spares_streamed_formats(corpus: Path):
    (corpus / "d.xml").write_text("x" * 10)
    read, skipped = keys(corpus, options=LoadOptions(max_bytes=4))
    assert read == ["d.xml"]
    assert skipped["a.txt"] == "larger than 4 bytes (max_bytes)"


def test_what_may_not_be_read(corpus: Path, monkeypatch: pytest.MonkeyPatch):
    """Tests may run as root, whom no permission stops; so the refusal is played."""

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("os.scandir", refuse)
        assert keys(corpus) == ([], {"corpus": "cannot be read: permission denied"})
    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(LoadError, match="k cannot be read \\(Permission denied\\)"):
        list(load(SourceFile(corpus / "a.txt", "k")))


def test_names_that_are_not_utf8(corpus: Path):
    root = os.fsencode(corpus)
    os.mkdir(root + b"/d\xe9p")
    for name in (b"/\xff\n.txt", b"/d\xe9p/inner.txt", b"/notes/caf\xe9.md", b"/x\xe9.bin", b"/.h\xe9.txt"):
        with open(root + name, "w") as file:
            file.write("x")
    (corpus / "link.txt").symlink_to(os.fsdecode(root + b"/notes/caf\xe9.md"))
    read, skipped = keys(corpus)
    assert read == ["a.txt", "notes/b.txt", "notes/tides.md", "link.txt"]
    odd = {key for key, reason in skipped.items() if reason == "its name is not UTF-8; rename it"}
    assert odd == {"\\xff\\n.txt", "d\\xe9p", "notes/caf\\xe9.md"}
    assert skipped["x\\xe9.bin"] == "no loader for .bin"


def test_names_with_signs_that_cannot_be_seen(corpus: Path):
    for name in ("a\nb.txt", "a\\nb.txt", "r\u202eev.txt", "wide\u3000space.txt", "\U0001f600.txt", "-dash.txt"):
        (corpus / name).write_text("x")
    read, _ = keys(corpus)
    assert set(read) - {"a.txt", "notes/b.txt", "notes/tides.md"} == {
        "a\\nb.txt",
        "corpus/a\\nb.txt",
        "r\\u202eev.txt",
        "wide\u3000space.txt",
        "\U0001f600.txt",
        "-dash.txt",
    }
