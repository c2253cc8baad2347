"""A filtered index is as if there were no other documents, by whatever it is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragways.core.errors import UsageError
from ragways.index.filtered import only
from ragways.index.open import Index
from tests.fakes import vector_of
from tests.index.runs import indexed

FILES = {
    "guide/a.md": "---\ndate: 2019-01-05\nauthor: Brack\n---\n# Alpha\n\nThe red lantern burns.\n",
    "api/b.md": "---\ndate: 2021-07-01\n---\n# Beta\n\nThe green lantern burns.\n",
    "api/c.txt": "The blue lantern burns.",
}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    opened = Index.open(indexed(tmp_path, FILES))
    yield opened
    opened.close()


def keys(index: Index) -> list[str]:
    return [key.split("/", 1)[1] for _, key, _ in index.documents()]


def test_only_matching_documents_are_there(index: Index):
    part = only(index, 'path~"api/"')
    assert keys(part) == ["api/b.md", "api/c.txt"]
    assert only(index, ' path~"api/" ') is part, "made once"
    assert keys(only(index, "date>2020")) == ["api/b.md"]
    assert keys(only(index, "has author")) == ["guide/a.md"]
    assert keys(only(part, "has date")) == ["api/b.md"], "a filter of a part restricts it further"
    hidden = only(index, "has author").documents()[0][0]
    assert part.document(hidden) is None
    assert part.keys([hidden]) == {}
    assert part.origins([(hidden, 0, 5)])[0].key == ""
    assert part.counts()["documents"] == 2
    assert part.identity != index.identity
    assert only(part, "not has path").matches_nothing
    assert len(keys(index)) == 3, "the index itself is as before"


def test_no_layer_finds_another_document(index: Index):
    part = only(index, 'path~"api/"')
    vector = vector_of("lantern burns")
    for layer in ("words", "vectors"):
        assert len(hits(index, layer, vector)) == 3
        assert set(hits(part, layer, vector)) == {
            piece.id for piece in part.pieces(hits(index, layer, vector)).values()
        }
    assert part.words is part.layer("words"), "opened once"


def hits(index: Index, layer: str, vector: object) -> list[str]:
    query = "lantern burns" if layer == "words" else vector
    return [id for id, _ in index.layer(layer).search(query, 9)]  # type: ignore[attr-defined]


def test_a_field_that_no_document_has_is_named_with_the_nearest(index: Index):
    with pytest.raises(UsageError, match=r"\^auther=x.*no document has a field 'auther'.*did you mean author"):
        only(index, "date>2020 and auther=x")


def test_a_value_is_never_a_query(index: Index):
    for text in ("' OR 1=1 --", '"; DROP TABLE documents; --', "%", "*"):
        part = only(index, f"""path = "{text.replace('"', chr(92) + '"')}" """)
        assert part.matches_nothing
    assert len(keys(index)) == 3
