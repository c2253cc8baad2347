"""One bad file does not end a run: its parser runs in a child process with limits, and the file is listed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from ragways.core.errors import LoadError, NoText
from ragways.corpus.isolated import IsolatedReader
from ragways.corpus.load import LOADERS, load
from ragways.corpus.source import MIB, LoadOptions, SourceFile
from ragways.index.build import build
from tests.corpus import samples
from tests.fakes import recipe

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has limits of time only")


def bomb(stream: bytes, times: int) -> bytes:
    """A PDF of some hundred bytes: its page has one stream again and again, packed twice."""
    packed = zlib.compress(zlib.compress(stream, 9), 9)
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents[%s]/Resources<</Font<</F1 5 0 R>>>>>>"
        % (b"4 0 R " * times),
        b"<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n%s\nendstream" % (len(packed), packed),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(parts, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return data + b"xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(data),
    )


MEMORY_BOMB = bomb(b" " * 20_000_000, 40)
CPU_BOMB = bomb(b"BT /F1 9 Tf (abcdefghij) Tj ET\n" * 20_000, 100)


def read(reader: IsolatedReader, path: Path, **limits: int | float):
    return list(reader.load(SourceFile(path, path.name), LoadOptions(**limits)))  # type: ignore[arg-type]


@pytest.fixture
def reader():
    reader = IsolatedReader()
    yield reader
    reader.close()


def test_a_bomb_ends_itself_and_no_run(tmp_path: Path):
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, data in (
        ("b.pdf", MEMORY_BOMB),
        ("a.pdf", samples.pdf()),
        ("c.docx", samples.docx()),
        ("d.pdf", samples.pdf()),
    ):
        (docs / name).write_bytes(data)
    (docs / "e.txt").write_text("A plain one.")
    assert len(MEMORY_BOMB) < 3000
    options = LoadOptions(max_memory=200 * MIB)
    ballast = b"x" * options.max_memory  # what this process holds is not the child's
    summary = asyncio.run(build(tmp_path / "index", [docs], recipe(options=options)))
    assert [(each.key, each.reason) for each in summary.failed] == [
        ("docs/b.pdf", "takes more than 200 MiB of memory to read (max_memory)")
    ]
    assert summary.added == 4
    assert ballast


def test_a_pdf_that_unpacks_to_gigabytes_is_refused_within_512_megabytes(
    reader: IsolatedReader, tmp_path: Path, started: list[subprocess.Popen[bytes]]
):
    (tmp_path / "a.pdf").write_bytes(MEMORY_BOMB)
    most, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            for child in tuple(started):
                with suppress(OSError, IndexError):
                    pages = int(Path(f"/proc/{child.pid}/statm").read_text().split()[1])
                    most.append(pages * os.sysconf("SC_PAGESIZE"))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        with pytest.raises(LoadError, match="takes more than 480 MiB of memory"):
            read(reader, tmp_path / "a.pdf")
    finally:
        done.set()
        watching.join()
    assert max(most) < 512 * MIB


def test_time_is_limited(reader: IsolatedReader, tmp_path: Path, started: list[subprocess.Popen[bytes]]):
    (tmp_path / "a.pdf").write_bytes(CPU_BOMB)
    (tmp_path / "b.pdf").write_bytes(samples.pdf())
    with pytest.raises(LoadError, match=r"a.pdf takes more than 0 s of CPU time to read \(max_cpu\)"):
        read(reader, tmp_path / "a.pdf", max_cpu=0)
    assert read(reader, tmp_path / "b.pdf")[0].title == "Old Harbour", "the next file has a new child"
    os.kill(started[-1].pid, signal.SIGSTOP)  # no reply will come
    began = time.monotonic()
    with pytest.raises(LoadError, match=r"b.pdf takes more than 0.3 s to read \(max_wall\)"):
        read(reader, tmp_path / "b.pdf", max_wall=0.3)
    assert time.monotonic() - began < 30


def test_a_parser_that_crashes_is_reported(
    reader: IsolatedReader, tmp_path: Path, started: list[subprocess.Popen[bytes]]
):
    (tmp_path / "a.pdf").write_bytes(samples.pdf())
    read(reader, tmp_path / "a.pdf")
    [child] = started
    os.kill(child.pid, signal.SIGSTOP)  # the question is sent, and no answer comes
    threading.Timer(0.2, child.kill).start()  # as the system does where memory is short
    with pytest.raises(LoadError, match=r"a.pdf breaks its parser, or takes more than 480 MiB of memory"):
        read(reader, tmp_path / "a.pdf")


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".html", ".py", ".xlsx", ".epub"])
def test_a_child_reads_what_the_process_itself_would(reader: IsolatedReader, tmp_path: Path, suffix: str):
    path = tmp_path / f"a{suffix}"
    html = "<h1>Old Harbour</h1><p>See <a href=b.html>B\u00e9</a>.</p><h2>More</h2><p>text</p>"
    path.write_bytes(html.encode() if suffix == ".html" else samples.SAMPLES[suffix]())
    file = SourceFile(path, f"k/\udcff{path.name}".encode("utf-8", "replace").decode())
    assert list(reader.load(file, LoadOptions())) == list(load(file))
    path.write_bytes(b"")
    with pytest.raises(NoText, match="holds no text"):
        list(reader.load(file, LoadOptions()))


def test_errors_and_notices_come_through(reader: IsolatedReader, tmp_path: Path):
    path = tmp_path / "a.pdf"
    path.write_bytes(samples.pdf()[:200])
    with pytest.raises(LoadError, match=r"a.pdf is no readable PDF") as caught:
        read(reader, path)
    assert caught.value.cure == "check that it is whole"


def test_a_parser_imports_nothing_from_the_current_folder(
    reader: IsolatedReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit('a module of the folder was imported')")
    (tmp_path / "a.pdf").write_bytes(samples.pdf())
    assert read(reader, tmp_path / "a.pdf")


def test_plain_folders_start_no_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("A plain one.")
    (tmp_path / "docs" / "b.json").write_text(json.dumps([{"text": "Another."}]))
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a child was started"))
    assert asyncio.run(build(tmp_path / "index", [tmp_path / "docs"], recipe())).added == 2
    assert {loader.name for loader in LOADERS.values() if loader.isolated} == {
        "pdf", "docx", "html", "code", "xlsx", "pptx", "epub", "email", "mailbox", "yaml", "toml",
    }  # fmt: skip
