"""Files of many documents: a shard has only its own of them made, and all shards together have all."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from ragways.core.errors import NoText
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.isolated import IsolatedReader
from ragways.corpus.load import load
from ragways.corpus.source import LoadOptions, Share, SourceFile
from tests.corpus.samples import dump, dump_page

MESSAGE = "From ada@example.org Mon Jan  1 00:00:00 2024\nSubject: Light {n}\nFrom: Ada\n\nThe light {n} was seen.\n"
FILES = {
    "rows.jsonl": "".join(json.dumps({"id": n, "text": f"The light {n} was seen."}) + "\n" for n in range(20)),
    "rows.json": json.dumps([{"title": f"Light {n}", "text": f"It was seen {n} times."} for n in range(20)]),
    "letters.mbox": "\n".join(MESSAGE.format(n=n) for n in range(20)),
    "dump.xml": dump(*(dump_page(f"Light {n}", f"The light {n} was seen.") for n in range(20))),
}
SHARDS = 3


def read(path: Path, share: Share) -> list[Document]:
    with closing(IsolatedReader()) as reader:
        return list(reader.load(SourceFile(path, path.name), LoadOptions(share=share)))


@pytest.mark.parametrize("name", sorted(FILES))
def test_shares_have_together_what_is_there_and_each_its_own(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_text(FILES[name])
    whole = read(path, Share())
    shares = [read(path, Share(shard, SHARDS)) for shard in range(SHARDS)]
    assert len(whole) == 20
    assert sorted((document for share in shares for document in share), key=lambda d: whole.index(d)) == whole
    assert all(0 < len(share) < 20 for share in shares)


def test_of_what_is_anothers_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "rows.jsonl"
    path.write_text(FILES["rows.jsonl"])
    made: list[int] = []

    def builder(most: int) -> TextBuilder:
        made.append(most)
        return TextBuilder(most)

    monkeypatch.setattr("ragways.corpus.text.TextBuilder", builder)
    assert len(read(path, Share(1, SHARDS))) == len(made) < 20


def test_a_file_whose_documents_are_all_anothers_is_not_empty(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": 1, "text": "A light."}\n')
    counts = [len(list(load(SourceFile(path, "rows.jsonl"), LoadOptions(share=Share(n, 2))))) for n in range(2)]
    assert sorted(counts) == [0, 1]
    path.write_text('{"id": 1, "text": ""}\n')
    for n in range(2):
        with pytest.raises(NoText):
            list(load(SourceFile(path, "rows.jsonl"), LoadOptions(share=Share(n, 2))))
