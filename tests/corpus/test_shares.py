"""Files of many documents: a shard has only its own of them made, and all shards together have all."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.errors import LoadError, NoText
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.isolated import IsolatedReader
from ragways.corpus.load import for_shards, load
from ragways.corpus.source import LoadOptions, Share, Skipped, SourceFile
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

    monkeypatch.setattr("ragways.corpus.records.TextBuilder", builder)
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


# Records that were dealt once for all shards

RECORDS = st.lists(
    st.one_of(
        st.just(None),  # a blank line
        st.fixed_dictionaries(
            {},
            optional={
                "id": st.sampled_from(["a", "b", "a#2", 3]),
                "title": st.sampled_from(["a", "Sandy Point"]),
                "text": st.sampled_from(["The light was seen.", "Ein Licht für Schiffe.", " ", ""]),
            },
        ),
    ),
    max_size=12,
)


def told(file: SourceFile, share: Share) -> tuple[list[Document], list[Skipped], str]:
    """What a shard has of a file, what it says was left out, and why it could not read it."""
    found, notices, why = list[Document](), list[Skipped](), ""
    try:
        found += load(file, LoadOptions(share=share, notice=notices.append))
    except LoadError as error:
        why = f"{type(error).__name__}: {error}"
    return found, notices, why


@given(rows=RECORDS, packed=st.booleans(), mark=st.booleans())
def test_what_was_dealt_is_what_every_shard_finds_in_the_file(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], packed: bool, mark: bool
):
    path = tmp_path_factory.mktemp("dealt") / ("rows.jsonl.gz" if packed else "rows.jsonl")
    text = "\ufeff" * mark + "".join("\n" if row is None else json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    file = SourceFile(path, path.name)
    shares = [Share(shard, SHARDS) for shard in range(SHARDS)]
    whole = [told(file, share) for share in shares]
    dealt = [told(each, share) for each, share in zip(for_shards(file, LoadOptions(), SHARDS), shares, strict=True)]
    assert [(found, why) for found, _, why in dealt] == [(found, why) for found, _, why in whole]
    # Every shard that reads the whole file tells of what was left out there; of a file that was dealt, one does.
    assert {notice for _, some, _ in dealt for notice in some} == {notice for _, some, _ in whole for notice in some}


def test_no_shard_reads_the_records_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "rows.jsonl"
    path.write_text(FILES["rows.jsonl"])
    files = for_shards(SourceFile(path, path.name), LoadOptions(), SHARDS)
    parsed: list[str] = []
    read_json = json.loads

    def parse(text: str) -> object:
        parsed.append(text)
        return read_json(text)

    monkeypatch.setattr("ragways.corpus.records.json.loads", parse)
    for shard, file in enumerate(files):
        list(load(file, LoadOptions(share=Share(shard, SHARDS))))
    assert len(parsed) == 20


def test_a_file_that_changed_after_it_was_dealt_is_read_whole(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_text(FILES["rows.jsonl"])
    files = for_shards(SourceFile(path, path.name), LoadOptions(), SHARDS)
    path.write_text('{"id": "new", "text": "A new light."}\n' + FILES["rows.jsonl"])
    found = [list(load(file, LoadOptions(share=Share(shard, SHARDS)))) for shard, file in enumerate(files)]
    assert sum(map(len, found)) == 21
    assert "A new light." in {document.text for some in found for document in some}


@pytest.mark.parametrize("text", ['{"id": 1, "text": "A light."}\nno JSON\n', '{"id": 1}\n', ""])
def test_what_is_wrong_with_a_file_is_told_by_the_shards(tmp_path: Path, text: str):
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    for shard, file in enumerate(for_shards(SourceFile(path, path.name), LoadOptions(), SHARDS)):
        with pytest.raises(LoadError):
            list(load(file, LoadOptions(share=Share(shard, SHARDS))))
