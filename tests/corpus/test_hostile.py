"""Files that mean harm end in a LoadError or in text, and quickly."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import time
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from ragways.core.errors import LoadError
from ragways.corpus.source import MIB, LoadOptions
from tests.corpus import office, samples
from tests.corpus.layout import read, survives

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]>"
)
OUTSIDE = '<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


def refused(folder: Path, name: str, data: bytes | str, match: str, options: LoadOptions | None = None) -> LoadError:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    started = time.process_time()
    with pytest.raises(LoadError, match=match) as caught:
        read(path, options)
    assert time.process_time() - started < 20
    return caught.value


@pytest.mark.parametrize("head", [LAUGHS, OUTSIDE, "<!DOCTYPE m>"], ids=["laughs", "outside", "dtd"])
def test_xml_with_declarations_is_refused(tmp_path: Path, head: str):
    refused(tmp_path, "a.xml", samples.dump(samples.dump_page("A", "x"), head=head), "DTDForbidden|EntitiesForbidden")
    refused(tmp_path, "a.docx", samples.docx(head.encode() + samples.DOCX_BODY.encode()), "DTDForbidden|EntitiesForb")


@pytest.mark.parametrize(
    ("suffix", "part"),
    [(".xlsx", "xl/workbook.xml"), (".pptx", "ppt/presentation.xml"), (".epub", "META-INF/container.xml")],
)
def test_archives_of_other_formats(tmp_path: Path, suffix: str, part: str):
    whole = samples.SAMPLES[suffix]()
    for head in (LAUGHS, OUTSIDE):
        refused(tmp_path, f"a{suffix}", office.with_part(whole, part, head.encode() + b"<a/>"), "DTDForb|EntitiesForb")
    refused(tmp_path, f"b{suffix}", office.with_part(whole, part, b"<w>" + b" " * (4 * MIB) + b"</w>"), "zip bomb")
    refused(tmp_path, f"c{suffix}", office.with_part(whole, part, b"<a>" * 100_000), f"c{suffix} ")
    refused(tmp_path, f"d{suffix}", whole[: len(whole) // 2], "no readable")
    refused(
        tmp_path, f"e{suffix}", office.with_part(samples.docx(), "x", b""), "is no (spreadsheet|presentation|e-book)"
    )


def test_settings_that_mean_harm(tmp_path: Path):
    refused(tmp_path, "a.yaml", "[" * 50_000, "nested too deep|not valid YAML")
    refused(tmp_path, "a.toml", "a = " + "[" * 50_000, "nested too deep|not valid TOML")
    refused(tmp_path, "b.yaml", "a: !!python/object/apply:os.system ['x'\n", "not valid YAML in line")
    path = tmp_path / "c.yaml"
    path.write_text(
        "a: &a [x, x]\n" + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefghij"))
    )
    (document,) = read(path)
    assert len(document.text) < 2000
    refused(tmp_path, "a.ipynb", "[" * 100_000, "nested too deep|not valid JSON")
    refused(tmp_path, "b.ipynb", '{"cells": 3}', "is no notebook")


@pytest.mark.parametrize(
    "suffix", [".rst", ".py", ".csv", ".yaml", ".toml", ".srt", ".eml", ".mbox", ".ipynb", ".c", ".sh"]
)
def test_a_long_line(tmp_path: Path, suffix: str):
    for number, unit in enumerate((b"x", b"x,", b'"', b"a: ", b"From ")):
        path = tmp_path / f"a{number}{suffix}"
        path.write_bytes(unit * (300_000 // len(unit)))
        survives(path)


def test_zip_bomb(tmp_path: Path):
    bomb = b"<w>" + b" " * (4 * MIB) + b"</w>"
    refused(tmp_path, "a.docx", samples.docx(bomb), "zip bomb")
    whole = samples.docx()
    refused(tmp_path, "b.docx", whole[: len(whole) // 2], "no readable Word document")
    refused(tmp_path, "c.docx", b"PK\x03\x04" + b"x" * 100, "no readable Word document")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("other.xml", "x")
    refused(tmp_path, "d.docx", out.getvalue(), "no Word document")


def test_a_zip_that_lies_about_its_size(tmp_path: Path):
    data = bytearray(samples.docx(samples.DOCX_BODY + " " * 3 * MIB))
    for place in (data.find(b"PK\x01\x02") + 24, 22):
        data[place : place + 4] = (10).to_bytes(4, "little")
    refused(tmp_path, "a.docx", bytes(data), "a.docx ")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress], ids=["gz", "bz2"])
def test_compressed_bombs(tmp_path: Path, pack: Callable[[bytes], bytes]):
    suffix = "gz" if pack is gzip.compress else "bz2"
    bomb = b"<mediawiki>" + b" " * (8 * MIB)
    refused(tmp_path, f"a.xml.{suffix}", pack(bomb), "one record of more than", LoadOptions(max_record=MIB))
    if suffix == "gz":
        options = LoadOptions(max_bytes=MIB, max_record=MIB)
        refused(tmp_path, "a.json.gz", pack(b"[" + b" " * (8 * MIB)), "larger than 1,048,576 bytes", options)
        refused(tmp_path, "a.jsonl.gz", pack(b" " * (8 * MIB)), "line 1 is longer", options)
        lines = pack(b'{"text": "x"}\n' * 1000)
        refused(tmp_path, "b.jsonl.gz", lines, "unpacks to more", LoadOptions(max_stream=10_000))
    whole = pack(samples.DUMP.encode())
    refused(tmp_path, f"b.xml.{suffix}", whole[: len(whole) // 2], "b.xml")


def test_deep_json_and_odd_numbers(tmp_path: Path):
    refused(tmp_path, "a.json", "[" * 100_000, "nested too deep|not valid JSON")
    refused(tmp_path, "b.json", f"[{'9' * 10_000}]", "not valid JSON|holds no text|no record")
    refused(tmp_path, "c.json", "3", "neither records")
    refused(tmp_path, "d.json", json.dumps([{"text": "x" * 100}]), "more than 50 characters", LoadOptions(max_text=50))


@pytest.mark.parametrize("suffix", [".txt", ".rst", ".md", ".html", ".wiki", ".py", ".csv", ".yaml", ".toml", ".srt"])
def test_binary_behind_a_text_suffix(tmp_path: Path, suffix: str):
    refused(tmp_path, f"a{suffix}", bytes(range(256)) * 10, "holds binary data")
    refused(tmp_path, f"b{suffix}", b"\x01\x02\x03 text" * 10, "holds binary data")
    refused(tmp_path, f"c{suffix}", b"\x81\x8d\xff", "encoding")


@pytest.mark.parametrize("unit", ["[", "[[", "{{", "<div>", "<b></i>", "> ", "<!--", "{{infobox|a=", "<ref>", "{|\n|"])
@pytest.mark.parametrize("suffix", [".md", ".html", ".wiki"])
def test_deep_nesting_is_quick(tmp_path: Path, suffix: str, unit: str):
    path = tmp_path / f"a{suffix}"
    path.write_text(unit * (30_000 if suffix == ".html" or unit in ("[", "[[", "{{", "<div>", "<ref>") else 5_000))
    started = time.process_time()
    with contextlib.suppress(LoadError):
        read(path)
    assert time.process_time() - started < 20
