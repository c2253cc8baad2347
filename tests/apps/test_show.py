"""Every id that evidence shows can be looked up, whatever it is an id of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apps.conftest import Run, one_line
from tests.fakes import write

TOWN = {
    "Tollen.md": "# Tollen\n\nTollen is a harbour town. Anna Brack was born in Tollen. Carl Dorn lives in Tollen.\n",
    "Anna Brack.md": "# Anna Brack\n\nAnna Brack was an engineer. Anna Brack designed the Tern Bridge in 1801.\n",
    "Tern Bridge.md": "# Tern Bridge\n\nThe Tern Bridge was designed by Anna Brack. It stands in Tollen.\n",
    "Carl Dorn.md": "# Carl Dorn\n\nCarl Dorn was a keeper of the Tern Bridge and a friend of Anna Brack.\n",
}


@pytest.fixture
def town(ragways: Run, home: Path) -> Run:
    write(home / "docs", TOWN)
    assert ragways("index", "docs", "--with", "graph", "--with", "vectors,words,communities").code == 0
    return ragways


def test_ids_of_every_kind_of_evidence_are_shown(town: Run):
    found: dict[str, str] = {}
    for paradigm in ("kg", "community-local", "words"):
        for piece in town("ask", "Who designed the Tern Bridge?", "-p", paradigm, "--json").data["evidence"]:
            found.setdefault(piece["id"].partition(":")[0], piece["id"])
    assert {"article", "relation", "community"} <= set(found)
    for kind, id in found.items():
        data = town("show", id, "--json").data
        assert data["id"] == id
        assert not any(name.startswith("_") for name in data)
        assert data["title"] in town("show", id).out, kind
    relation = town("show", found["relation"], "--json").data
    entity = town("show", relation["subject"], "--json").data
    assert found["relation"] in entity["relations"]
    assert all(entity["title"].split()[0] in text for text in entity["chunks"].values())


def test_a_title_will_do_and_a_part_is_marked_without_colour(town: Run):
    assert town("show", "tern_bridge", "--json").data["title"] == "Tern Bridge"
    chunk = next(p for p in town("ask", "bridge", "-p", "words", "--json").data["evidence"])
    whole = town("show", chunk["document"], "--json").data["text"]
    shown = town("show", chunk["id"]).out
    assert ("⟦" in shown) == (len(chunk["text"]) < len(whole))
    one_line(town("show", "relation:nothing"), 2, "nothing in this index")
    one_line(town("show", "community:'; DROP TABLE x"), 2, "nothing in this index")


def test_lines_of_code_go_down_a_pipe_unbroken(ragways: Run, home: Path):
    line = f"harbour = light({', '.join(f'lamp_{n}' for n in range(30))})"
    write(home / "docs", {"code.md": f"# Harbour\n\nThe light of the harbour:\n\n```python\n{line}\n```\n"})
    assert ragways("index", "docs", "--with", "words").code == 0
    assert line in ragways("show", "Harbour").out


def test_a_document_is_shown_by_its_key_and_its_file(ragways: Run, home: Path):
    write(home / "docs", TOWN)
    write(home / "docs", {"two.jsonl": '{"title": "A", "text": "Alma."}\n{"title": "B", "text": "Berit."}\n'})
    write(home / "docs", {"one.jsonl": '{"title": "C", "text": "Cilla."}\n'})
    assert ragways("index", "docs", "--with", "words").code == 0
    keys = {each["title"]: each["key"] for each in ragways("status", "--documents", "--json").data["documents"]}
    for title, key in keys.items():
        assert ragways("show", key, "--json").data["title"] == title
    assert "Cilla" in ragways("show", "docs/one.jsonl").out, "a file of one document"
    one_line(ragways("show", "docs/two.jsonl"), 2, f"holds 2 documents: name one of them: {keys['A']}, {keys['B']}")


def test_the_evidence_of_a_global_search_says_how_many_reports_were_read(town: Run):
    asked = "ask", "Who designed the Tern Bridge?", "-p", "community-global"
    assert "read: the 1 report" in town(*asked, "--details").out
    assert "read: the 0 nearest of 1 report, up to 1 token" in town(*asked, "--details", "--set", "reports=1").out
    assert "read:" not in town("ask", "Who designed the Tern Bridge?", "-p", "words", "--details").out
