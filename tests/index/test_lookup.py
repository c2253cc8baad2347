"""Documents and their parts by id, key, file or title, shown in their place."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ragways.core.errors import UsageError
from ragways.index.lookup import TextView, find_document, look_up
from ragways.index.open import Index
from tests.index.runs import indexed

FILES = {
    "log.md": "# Keeper's log\n\nThe lamp was lit at dusk.\n\n" + "Nothing happened that night. " * 40,
    "many.jsonl": "".join(f"{json.dumps({'id': n, 'title': f'Letter {n}', 'text': f'Dear {n}.'})}\n" for n in range(5)),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    opened = Index.open(indexed(tmp_path_factory.mktemp("lookup"), FILES, "words"))
    yield opened
    opened.close()


def test_a_document_by_any_of_its_names(index: Index):
    ids = {title: id for id, _, title in index.documents()}
    for name in (ids["Keeper's log"], "docs/log.md", "Keeper's log"):
        assert find_document(index, name) == ids["Keeper's log"]
        view = look_up(index, name)
        assert isinstance(view, TextView)
        assert (view.key, view.before, view.after, view.source.key) == ("docs/log.md", "", "", "docs/log.md")


def test_a_chunk_stands_between_what_is_around_it(index: Index):
    [chunk] = [id for id, _ in index.words.search("lamp lit dusk", 1)]
    view = look_up(index, chunk)
    assert isinstance(view, TextView)
    text = index.document(view.document).text  # type: ignore[union-attr]
    assert view.text == text[view.start : view.end]
    assert text.startswith(view.before + view.text)
    sentence = look_up(index, f"{view.document}:s0:p0:t0")
    assert isinstance(sentence, TextView)
    assert sentence.text == "The lamp was lit at dusk."


def test_what_is_not_there_or_not_one_document_is_an_error_with_its_cure(index: Index):
    with pytest.raises(UsageError, match=r"holds 5 documents.*name one of them"):
        look_up(index, "docs/many.jsonl")
    for name in ("nothing", "article:7", "entity:0123456789abcdef", "community:1"):
        with pytest.raises(UsageError, match="nothing in this index"):
            look_up(index, name)
    with pytest.raises(UsageError, match="did you mean Letter 4"):
        find_document(index, "Leter 4")
