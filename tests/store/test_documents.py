"""Documents as questions read them: pieces, places and titles; nothing of a document that changed since the views."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ragways.core.errors import StoreDamaged
from ragways.core.types import Heading, Infobox, Link
from ragways.store.documents import StoredDocuments
from ragways.store.store import FILE, Store
from tests.store.rows import document, write_documents

TEXT = "The keeper lit the lamp at dusk. Nobody came that night.\n\nIn the morning the harbour was full of ships."
DOCUMENTS = [
    document("a.txt", TEXT, metadata={"date": "1906", "kind": "log"}, links=(Link(4, 10, "Keeper (man)"),),
             infoboxes=(Infobox(0, 3, "lamp", (("colour", "red"),)),), headings=(Heading(0, 3, 1, "The"),)),
    document("b.txt", "A storm took the tower.", metadata={"kind": "letter"}),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with closing(Store.write(tmp_path)) as store:
        write_documents(store, DOCUMENTS)
        store.finish()
    return tmp_path


@pytest.fixture
def documents(folder: Path) -> Iterator[StoredDocuments]:
    with closing(Store.open(folder)) as store:
        yield StoredDocuments(store)


def chunks(documents: StoredDocuments) -> list[str]:
    return [f"article:{number}:{path}" for number, _, path, _ in documents.store.chunk_rows()]


def test_every_chunk_is_a_piece_of_its_text(documents: StoredDocuments):
    pieces = documents.pieces([*chunks(documents), "article:7:s0:p0:c0"])
    assert list(pieces) == chunks(documents)
    texts = {each.id: each.text for each in DOCUMENTS}
    for id, piece in pieces.items():
        assert piece.id == id
        assert piece.text == texts[piece.document][piece.start : piece.end]
        assert documents.text(piece.document, piece.start, piece.end) == piece.text
        assert documents.place(id) is not None
        assert documents.place(id)[1:] == (piece.start, piece.end)  # type: ignore[index]
    assert {piece.date for piece in pieces.values()} == {"1906", ""}


def test_a_document_comes_back_and_its_sentences(documents: StoredDocuments):
    found = documents.document(DOCUMENTS[0].id)
    assert found is not None
    assert (found.text, found.links, found.infoboxes) == (TEXT, DOCUMENTS[0].links, DOCUMENTS[0].infoboxes)
    piece = documents.pieces(chunks(documents)[:1]).popitem()[1]
    spans = documents.sentences(piece)
    assert all(piece.start <= start < end <= piece.end for start, end in spans)
    assert documents.document("article:7") is None
    assert [documents.place(id) for id in ("article:7:s0", "nothing", "article:x:p1")] == [None, None, None]


@pytest.mark.parametrize("text", ["A storm took the harbour.", b"A st\xffrm took the tower."])
def test_a_damaged_text_is_an_error_with_its_cure_and_never_shown(folder: Path, text: str | bytes):
    with closing(sqlite3.connect(folder / FILE)) as db:
        db.execute("UPDATE documents SET text = CAST(? AS TEXT) WHERE key = 'b.txt'", (text,))
        db.commit()
    with closing(Store.open(folder)) as store:
        documents = StoredDocuments(store)
        for read in (
            lambda: documents.pieces(chunks(documents)),
            lambda: documents.document(DOCUMENTS[1].id),
            lambda: list(store.sources()),
        ):
            with pytest.raises(StoreDamaged) as caught:
                read()
            assert "ragways index --rebuild" in caught.value.cure
