"""Titles, mentions and links as the tools tell them, against the same of a corpus that is held as a whole."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

import pytest

from ragways.core.errors import ToolError
from ragways.retrieval.resources import Resources
from ragways.retrieval.tools import links as links_module
from ragways.retrieval.tools import links_on_demand
from ragways.retrieval.tools.corpus_view import CorpusView
from ragways.retrieval.tools.grams import Grams
from ragways.retrieval.tools.reading import backlinks, neighbourhood, shortest_path
from tests.retrieval.tools.conftest import dump, indexed, resources
from tests.retrieval.tools.whole_corpus import WholeCorpus

LATIN = ["Anna", "Brack", "Harbour", "Stone", "Old", "old", "harbour", "Vale", "St.", "1990", "of", "Quay", "It"]
MARKED = [*LATIN, "Élan", "O'Neil", "J. R.", "Zürich", "d'Or", "Rock-Hill", "McLeod", "straße", "ﬁn", "U.S."]
OTHER = ["Крым", "Ёлка", "йод", "東", "京", "タワー", "서울", "Αθήνα", "العربية", "Anna", "Stone"]
FILLER = ["and then", "in the", "was built by", "who saw", "after", ",", ". The", "near", "with"]


def title_made(dice: random.Random, words: list[str]) -> str:
    chosen = [dice.choice(words) for _ in range(dice.choice([1, 1, 2, 2, 3, 4, 5]))]
    name = " ".join(chosen if {*chosen} - {"It", "of"} else ["It"])
    name = dice.choice(["", "", "", "The ", '"']) + name
    return name + dice.choice(["", "", "", " (ship)", " (old town)", "’s", "_2"])


def files_made(seed: int, words: list[str], share: float) -> dict[str, str]:
    """Articles, redirects to articles, to redirects, to nothing and in circles, and articles of one title; a share of
    them with links.
    """
    dice = random.Random(seed)
    titles = list(dict.fromkeys(title_made(dice, words) for _ in range(50)))
    leading = list(dict.fromkeys(title_made(dice, words) for _ in range(25)))
    redirects = {title: dice.choice([*titles, *leading, "Nowhere"]) for title in leading if title not in titles}

    def text(linked: bool) -> str:
        parts = []
        for _ in range(dice.randrange(2, 12)):
            name = dice.choice([*titles, *leading])
            said = dice.choice([name, name, name, name.upper(), name.lower(), f"{name}'s", name.partition(" (")[0]])
            parts.append(f"[[{name}|{said}]]" if linked and dice.random() < 0.5 else said)
            parts.append(dice.choice(FILLER))
            if dice.random() < 0.2:
                parts.append("\n\n")
        return " ".join(parts) + ".\n"

    pages = {escape(title): escape(text(dice.random() < share)) for title in titles}
    files = {"wiki.xml": dump(pages, {escape(title): escape(to) for title, to in redirects.items()})}
    files |= {f"more/{n}.md": f"# {dice.choice(titles)}\n\n{text(False)}" for n in range(8)}
    return files


def whole(use: Resources) -> WholeCorpus:
    db = use.index._store.db
    documents = db.execute("SELECT number, title, redirect FROM documents ORDER BY number").fetchall()
    texts = dict(db.execute("SELECT number, text FROM documents WHERE redirect IS NULL ORDER BY number").fetchall())
    links = db.execute("SELECT document, start, name FROM links ORDER BY document, ordinal").fetchall()
    return WholeCorpus(documents, texts, links)


KINDS = [(LATIN, 0.0), (MARKED, 0.0), (OTHER, 0.0), (LATIN, 0.5), (MARKED, 1.0)]


@pytest.fixture(scope="module", params=range(len(KINDS)))
def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Resources]:
    folder: Path = tmp_path_factory.mktemp("whole")
    use = resources(indexed(folder, files_made(request.param, *KINDS[request.param])))
    yield use
    use.index.close()


@pytest.fixture
def view(corpus: Resources) -> CorpusView:
    return CorpusView(corpus.index)


@pytest.fixture
def on_demand(view: CorpusView, monkeypatch: pytest.MonkeyPatch) -> CorpusView:
    monkeypatch.setattr(links_module, "SCANNED", -1)
    assert view.links.held is None
    return view


def test_names_and_redirects_lead_to_the_same_articles(corpus: Resources, view: CorpusView):
    known = whole(corpus)
    names = [*known.by_name, *(row[2] for row in known.links), "nowhere", ""]
    assert {name: view.catalogue.by_name(name) for name in names} == {name: known.by_name.get(name) for name in names}
    assert {n: view.catalogue.title(n) for n in known.titles} == known.titles
    assert {n: set(view.catalogue.names(n)) for n in known.titles} == {n: known.names[n] for n in known.titles}
    assert len(known.redirects) > 5
    listed = [title for _, titles in view.catalogue.all.batches() for title in titles]
    assert listed == [*(known.titles[n] for n in known.nodes), *known.redirects]


def test_titles_like_a_text_are_the_same_with_the_same_scores(corpus: Resources, view: CorpusView):
    known = whole(corpus)
    for text in [*known.titles.values(), "Harbur", "Brack Old", "ston", "", "東京", "ёлки", "no such thing"]:
        assert view.catalogue.nearest(text, 200) == known.nearest(text, 200)
        assert len(view.catalogue.nearest(text, 3)) <= 3


def test_titles_in_texts_are_the_same(corpus: Resources, view: CorpusView):
    known = whole(corpus)
    texts = [text for (text,) in corpus.index._store.db.execute("SELECT text FROM documents")]
    found = [[(start, end, sorted(meant)) for start, end, meant in view.links.titles_in(text)] for text in texts]
    assert found == list(map(known.titles_in, texts))
    assert sum(map(len, found)) > 50


def same_links(known: WholeCorpus, view: CorpusView) -> None:
    graph, nodes = known.graph(), known.nodes
    for node, article in enumerate(nodes):
        neighbours = view.neighbours()
        assert list(neighbours.out(article)) == [nodes[n] for n in graph.out(node)]
        assert list(neighbours.to(article)) == known.to(article)
        for direction in ("out", "in", "both"):
            for steps in (1, 3):
                found = {nodes[n]: distance for n, distance in graph.within(node, steps, direction).items()}
                assert view.neighbours().within(article, steps, direction) == found
        for end in range(0, len(nodes), 5):
            chain = graph.path(node, end, 6)
            expected = None if chain is None else [nodes[n] for n in chain]
            assert view.neighbours().path(article, nodes[end], 6) == expected
            assert view.links.between(article, nodes[end]) == known.between(article, nodes[end])
        assert view.neighbours().note == ""


def test_links_are_the_same_where_they_are_held(corpus: Resources, view: CorpusView):
    same_links(whole(corpus), view)


def test_links_are_the_same_where_they_are_looked_up(corpus: Resources, on_demand: CorpusView):
    same_links(whole(corpus), on_demand)


def test_a_question_looks_at_no_more_than_it_may_and_says_so(on_demand: CorpusView, monkeypatch: pytest.MonkeyPatch):
    read: list[int] = []
    text = on_demand.queries.text_without_links

    def noted(number: int) -> str | None:
        read.append(number)
        return text(number)

    monkeypatch.setattr(on_demand.queries, "text_without_links", noted)
    monkeypatch.setattr(links_on_demand, "DOCUMENTS", 7)
    articles = on_demand.catalogue.all.articles[: on_demand.catalogue.all.count].tolist()
    result = neighbourhood(on_demand, f"article:{articles[0]}", 3, "both", 100, 0)
    assert len(read) <= 7
    assert "the corpus is large: no more than 7 documents" in result.note
    path = shortest_path(on_demand, f"article:{articles[0]}", f"article:{articles[-1]}", 6)
    assert len(read) <= 14
    assert path.length is not None or "the corpus is large" in path.note
    backlinks(on_demand, f"article:{articles[1]}", 1, 0)
    assert len(read) <= 21


SPANISH = "El presidente viajó a La Paz para una reunión con el gobierno del país, y no se sabe por qué."
NAMED = [
    ("La Paz", SPANISH),
    ("Los Angeles", "La ciudad de Los Angeles es una de las más grandes del país."),
    ("UK", "She lived in the U.K. for a year."),
]


@pytest.mark.parametrize(("name", "text"), NAMED)
def test_a_name_is_found_in_any_language_and_with_or_without_full_stops(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    use = resources(indexed(tmp_path, {"a.md": f"# {name}\n\nA place.\n", "b.md": f"# Travels\n\n{text}\n"}))
    found = []
    for scanned in (links_module.SCANNED, -1):
        monkeypatch.setattr(links_module, "SCANNED", scanned)
        view = CorpusView(use.index)
        found.append(list(view.neighbours().to(view.catalogue.find(name))))
    assert found[0] == found[1] != []
    use.index.close()


def test_links_out_of_an_article_are_bounded_and_documents_with_links_are_not_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(links_module, "LINKS", 10)
    pages = {f"Page {n}": f"Near the hub it is, by [[Page {n + 1}]].\n" for n in range(40)}
    pages |= {"Hub": "".join(f"[[Page {n}]] " for n in range(40)), "Page 3": "It is near [[Hub]].\n"}
    use = resources(indexed(tmp_path, {"wiki.xml": dump(pages, {})}))
    view = CorpusView(use.index)
    monkeypatch.setattr(links_on_demand, "DOCUMENTS", 9)
    near = neighbourhood(view, "Hub", 1, "in", 20, 0)
    assert ([each.title for each in near.articles], near.note) == (["Page 3"], "")
    monkeypatch.setattr(links_on_demand, "LINKS", 5)
    near = neighbourhood(view, "Hub", 1, "out", 20, 0)
    assert len(near.articles) == 5
    assert "and 5 links were looked at" in near.note
    use.index.close()


def test_half_a_letter_names_nothing(view: CorpusView):
    assert view.catalogue.nearest("\ud800x", 3) == view.catalogue.nearest("?x", 3)
    with pytest.raises(ToolError):
        view.catalogue.find("\ud800x")


def noting(query: Callable[[str], Iterator[object]], rows: list[object]) -> Callable[[str], Iterator[object]]:
    """A query that notes the rows which were read of it."""

    def run(asked: str) -> Iterator[object]:
        for row in query(asked):
            rows.append(row)
            yield row

    return run


def test_of_a_thousand_links_to_an_article_a_page_reads_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(links_module, "LINKS", 10)
    monkeypatch.setattr(links_on_demand, "LINKS", 50)
    pages = {f"Page {n}": f"It is near [[Hub]], and [[Page {n + 1}]].\n" for n in range(400)}
    use = resources(indexed(tmp_path, {"wiki.xml": dump({"Hub": "The hub.\n", **pages}, {})}))
    view = CorpusView(use.index)
    rows: list[object] = []
    for name in ("links_to", "linking"):
        monkeypatch.setattr(view.queries, name, noting(getattr(view.queries, name), rows))
    assert len(backlinks(view, "Hub", 5, 0).paragraphs) == 5
    assert len(rows) < 10
    near = neighbourhood(view, "Hub", 1, "in", 20, 0)
    assert len(rows) < 70
    assert len(near.articles) == 20
    assert "and 50 links were looked at" in near.note
    use.index.close()


def test_texts_without_letters_have_no_runs_in_common():
    assert Grams([]).nearest("a", 3) == []
    assert Grams(["", "a"]).nearest("a", 3)[0] == (1, 1.0)
    letters = [chr(0x4E00 + n) * 3 + chr(0x10000 + n) for n in range(20_000)]
    assert Grams(letters).nearest(letters[7], 1) == [(7, 1.0)]


def test_a_number_or_a_title_that_is_not_there_is_told_by_the_nearest(view: CorpusView):
    article = int(view.catalogue.all.articles[3])
    for asked in (f"article:{article + 1}", "no such title"):
        with pytest.raises(ToolError) as caught:
            view.catalogue.find(asked)
        assert all(near.startswith("article:") for near in caught.value.nearest)
    with pytest.raises(ToolError) as caught:
        view.catalogue.find(f"article:{article + 1}")
    known = view.catalogue.all.articles[1:5].tolist()
    assert [int(near.split()[0][8:]) for near in caught.value.nearest] == [
        known[1],
        known[2],
        known[3],
        *[int(view.catalogue.all.articles[5])],
    ]  # two before and two behind
