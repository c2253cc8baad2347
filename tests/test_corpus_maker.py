"""The corpus maker: the same documents whatever else is made, and growth like real text's."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from corpus_maker import documents, title_of, write_files, write_jsonl


def test_a_document_depends_on_the_seed_and_its_number_alone() -> None:
    whole = list(documents(2100, seed=3))
    assert list(documents(50, seed=3, first=1000)) == whole[1000:1050]
    assert list(islice(documents(10**9, seed=3), 5)) == whole[:5]
    assert list(documents(5, seed=4)) != whole[:5]
    assert title_of(2050, seed=3) == whole[2050].title


def test_the_same_documents_as_lines_and_as_files(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "some.jsonl", 30)
    write_files(tmp_path / "some", 30)
    rows = [json.loads(line) for line in (tmp_path / "some.jsonl").read_text("utf-8").splitlines()]
    files = {path.stem: path.read_text("utf-8") for path in (tmp_path / "some").rglob("*.md")}
    assert files == {row["id"]: f"# {row['title']}\n\n{row['text']}\n" for row in rows}
