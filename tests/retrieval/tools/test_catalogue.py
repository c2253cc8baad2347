"""Names of articles: redirects, names that are written otherwise, and ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragways.core.errors import ToolError
from ragways.core.types import title_name
from ragways.retrieval.tools.catalogue import Catalogue
from ragways.retrieval.tools.corpus_view import CorpusView
from tests.retrieval.tools.conftest import dump, indexed, resources

TITLES = [
    "Old Harbour", "Anna Brack", "Zürich", "Вера Крымова", "東京", "東京タワー", "O'Neil", 'The "Quay"', "St. Ives",
    "Lonely Rock", "100% *NEAR* (x)", "東" * 300,
]  # fmt: skip
REDIRECTS = {
    "Port": "Haven", "Haven": "old_harbour", "Round": "About", "About": "Round", "Lost": "Nowhere",
    "Anna Brack": "Zürich", "A1": "A2", "A2": "A3", "A3": "A4", "A4": "A5", "A5": "Zürich",
}  # fmt: skip


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    pages = {title.replace('"', "&quot;"): "It is there.\n" for title in TITLES}
    folder: Path = tmp_path_factory.mktemp("titles")
    use = resources(indexed(folder, {"wiki.xml": dump(pages, REDIRECTS)}))
    yield CorpusView(use.index).catalogue
    use.index.close()


def called(catalogue: Catalogue, name: str) -> str | None:
    number = catalogue.by_name(title_name(name))
    return None if number is None else catalogue.title(number)


def test_a_name_means_an_article_or_the_end_of_its_redirects(catalogue: Catalogue):
    assert {name: called(catalogue, name) for name in REDIRECTS} == {
        "Port": "Old Harbour", "Haven": "Old Harbour", "Round": None, "About": None, "Lost": None,
        "Anna Brack": "Anna Brack", "A1": "Zürich", "A2": "Zürich", "A3": "Zürich", "A4": "Zürich", "A5": "Zürich",
    }  # fmt: skip
    names = catalogue.names(catalogue.find("Zürich"))
    assert sorted(names.values()) == ["A1", "A2", "A3", "A4", "A5", "Zürich"]
    assert sorted(catalogue.names(catalogue.find("Port"))) == ["haven", "old harbour", "port"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Old Harbur", "Old Harbour"), ("harbour, old", "Old Harbour"), ("Hrabour", "Old Harbour"),
        ("Ana Brak", "Anna Brack"), ("Zurich", "Zürich"), ("Zürch", "Zürich"), ("Вера Крымов", "Вера Крымова"),
        ("東亰タワー", "東京タワー"), ("東", "東京"), ("ONeill", "O'Neil"), ("the quay", 'The "Quay"'),
        ("st ives", "St. Ives"), ("Hven", "Old Harbour"), ("100% *near*", "100% *NEAR* (x)"),
    ],
)  # fmt: skip
def test_a_title_is_found_by_a_name_that_is_written_otherwise(catalogue: Catalogue, text: str, title: str):
    number, score = catalogue.nearest(text, 3)[0]
    assert catalogue.title(number) == title
    assert 0.2 < score <= 1


def test_the_title_itself_is_first_and_each_article_once(catalogue: Catalogue):
    for title in TITLES:
        found = catalogue.nearest(title, 20)
        assert (catalogue.title(found[0][0]), found[0][1]) == (title, 1.0)
        assert len(dict(found)) == len(found)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert len(catalogue.nearest("a", 3)) <= 3


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800x", '"', "* OR NEAR(", "qqqq", "ﷺ" * 300, "-" * 5000])
def test_what_is_no_title_finds_nothing_just_so(catalogue: Catalogue, text: str):
    assert all(score < 1 for _, score in catalogue.nearest(text, 5))
    with pytest.raises(ToolError):
        catalogue.find(text)


def test_an_unknown_id_is_answered_with_its_neighbours(catalogue: Catalogue):
    numbers = sorted(catalogue.find(title) for title in TITLES)
    with pytest.raises(ToolError) as caught:
        catalogue.find(f"article:{numbers[3] + 1}:s0")
    assert [int(near.split()[0][8:]) for near in caught.value.nearest] == numbers[2:6]
