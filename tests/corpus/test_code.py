"""Source code of every language becomes sections by symbol."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragways.corpus.files import code
from tests.corpus.code_samples import CODE
from tests.corpus.layout import read_text, survives

LANGUAGES = [(suffix, name) for name, (suffixes, _) in CODE.items() for suffix in suffixes]


@pytest.mark.parametrize(("suffix", "name"), LANGUAGES)
def test_symbols(tmp_path: Path, suffix: str, name: str):
    document = read_text(tmp_path, f"a{suffix}", CODE[name][1])
    assert document.title == f"a{suffix}"
    titles = [heading.title for heading in document.headings]
    wanted = ["Store", *(["put", "get"] if name in ("c", "shell") else ["Store.put", "Store.get"]), "tide"]
    if name == "cpp":
        wanted[-1:] = ["sea", "sea.tide"]
    assert titles == wanted
    lead = document.text[: document.headings[0].start]
    assert ("DEPTH" in lead) == (name not in ("java", "csharp"))
    store = document.text[document.headings[0].end : document.headings[1].start]
    assert "Keeps tides." in store
    assert "put" not in store
    assert document.metadata["language"] == ("tsx" if suffix == ".tsx" else name)
    for heading in document.headings[1:]:
        place = [each for each in document.places if each.start <= heading.end + 2][-1]
        line = CODE[name][1].split("\n")[place.line - 1]
        assert document.text[heading.end + 2 :].startswith(line.strip()), (heading, line)


def test_what_belongs_to_a_symbol(tmp_path: Path):
    document = read_text(tmp_path, "a.py", CODE["python"][1])
    assert document.text.split("\n\n") == [
        '"""Tides."""\nDEPTH = 5',
        "import os\nfrom sea import (\n    salt,\n)",
        "Store",
        'class Store:\n    """Keeps tides."""\n    size = 1',
        "Store.put",
        "# How much.\n@property\ndef put(self):\n    def inner():\n        pass\n    return DEPTH",
        "Store.get",
        "async def get(self): ...",
        "tide",
        "@cache\ndef tide(): ...",
    ]


def test_imports_are_short_and_long_code_is_cut_at_blank_lines(tmp_path: Path):
    imports = "".join(f"import m{number}\n" for number in range(40))
    values = "".join(f"A{number} = 1\n\n" for number in range(40))
    document = read_text(tmp_path, "a.py", imports + values)
    assert "import m11\n…" in document.text
    assert "import m12" not in document.text
    assert "A3 = 1\n\nA4 = 1" in document.text


@pytest.mark.parametrize(
    "unit", ["(", "{", "class A:\n", "def f(:\n", "if x {", "<div>", "/*", '"""', "a.", "[[", "`${"]
)
@pytest.mark.parametrize("suffix", [".py", ".ts", ".cpp", ".php", ".sh"])
def test_code_that_is_none_is_quick(tmp_path: Path, suffix: str, unit: str):
    path = tmp_path / f"a{suffix}"
    path.write_text(unit * (6_000 // len(unit)))
    survives(path)


def test_a_file_too_large_to_parse_is_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(code, "_MAX_PARSED", 10)
    document = read_text(tmp_path, "a.py", CODE["python"][1])
    assert document.headings == ()
    assert "def put(self):" in document.text
