"""Links and mentions between articles: as networkx finds them, in any language, and within bounds."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path

import networkx
import numpy as np
import pytest

from ragways.index.filtered import only
from ragways.retrieval.resources import Resources
from ragways.retrieval.tools import links
from ragways.retrieval.tools.corpus_view import CorpusView
from ragways.retrieval.tools.reading import backlinks, neighbourhood, shortest_path
from ragways.retrieval.tools.results import Articles, LinkPath, Paragraphs
from ragways.retrieval.tools.toolbox import Toolbox
from tests.retrieval.tools.conftest import dump, indexed, resources

Corpus = Callable[[dict[str, str]], Resources]


@pytest.fixture
def corpus(tmp_path: Path, request: pytest.FixtureRequest) -> Corpus:
    """Opens an index of some files."""

    def opened(files: dict[str, str]) -> Resources:
        use = resources(indexed(tmp_path, files))
        request.addfinalizer(use.index.close)
        return use

    return opened


def test_links_that_lead_out_of_the_corpus_are_not_said_to_be_none(corpus: Corpus):
    pages = {"Far": "See [[Nowhere]], [[nowhere]] and [[Elsewhere]].\n", "Rock": "A rock.\n", "Hub": "See [[Rock]].\n"}
    use = corpus(wiki(pages))
    view = CorpusView(use.index)

    def note(title: str, direction: str) -> str:
        found = neighbourhood(view, title, 1, direction, 9, 0)
        assert not found.articles
        return found.note.replace(f"article:{view.catalogue.find(title)}", title)

    assert note("Far", "out") == "Far links to 2 titles, but to no article of this corpus"
    assert note("Far", "both") == f"{note('Far', 'out')}, and nothing here links to it"
    assert note("Far", "in") == "nothing links to Far"
    assert note("Rock", "out") == "nothing links from Rock"
    assert note("Hub", "in") == "nothing links to Hub"


def titles(found: Articles | Paragraphs | LinkPath) -> list[str]:
    return [each.title for each in (found.paragraphs if isinstance(found, Paragraphs) else found.articles)]


def wiki(pages: dict[str, str], redirects: dict[str, str] | None = None) -> dict[str, str]:
    return {"wiki.xml": dump(pages, redirects or {})}


@pytest.mark.parametrize("linked", [True, False])
def test_as_networkx_finds_them(corpus: Corpus, linked: bool):
    """By links, and where documents have none by the titles in their texts."""
    nodes = 40
    pairs = np.unique(np.random.default_rng(linked).integers(0, nodes, (50, 2)), axis=0)
    edges = [(f"Page{one}", f"Page{other}") for one, other in pairs.tolist() if one != other]
    near = {f"Page{n}": [other for one, other in edges if one == f"Page{n}"] for n in range(nodes)}
    form = "It is near [[{}]].\n" if linked else "It is near {}.\n"
    use = corpus(wiki({title: "A page. " + "".join(map(form.format, others)) for title, others in near.items()}))
    view = CorpusView(use.index)
    directed = networkx.DiGraph(edges)
    directed.add_nodes_from(near)
    either = directed.to_undirected()
    for start in near:
        for direction, graph in (("both", either), ("out", directed), ("in", directed.reverse())):
            lengths = networkx.single_source_shortest_path_length(graph, start, cutoff=2)
            found = neighbourhood(view, start, 2, direction, 100, 0)
            assert {each.title: each.distance for each in found.articles} == {t: d for t, d in lengths.items() if d}
        for direction, graph in (("both", either), ("out", directed)):
            lengths = networkx.single_source_shortest_path_length(graph, start, cutoff=6)
            for end in list(near)[::7]:
                path = shortest_path(view, start, end, 6, direction)
                assert path.length == lengths.get(end)
                if path.length is not None:
                    chain = titles(path)
                    assert (chain[0], chain[-1], len(path.hops)) == (start, end, path.length)
                    assert all(graph.has_edge(a, b) for a, b in itertools.pairwise(chain))
                    assert all(hop.paragraph is not None for hop in path.hops)
                    assert path == shortest_path(view, start, end, 6, direction)


SPANISH = "El presidente viajó a La Paz para una reunión con el gobierno del país, y no se sabe por qué."
MENTIONED = [
    ("La Paz", SPANISH),
    ("Los Angeles", "La ciudad de Los Angeles es una de las más grandes del país."),
    ("UK", "She lived in the U.K. for a year."),
    ("The Terminal", "They went to see the Terminal again."),
    ("Lonely Rock (island)", "The boat reached Lonely Rock at noon."),
    ("St. Ives", "He met them in St. Ives."),
    ("Who Is There?", "She sang in Who Is There? for a year."),
    ("Anna Brack", "This was Anna Brack's idea."),
    ("Вера Крымова", "Здесь жила Вера Крымова, писательница."),
    ("東京タワー", "昨日、東京タワーに行きました。"),
]


@pytest.mark.parametrize(("name", "text"), MENTIONED)
def test_a_title_in_a_text_is_a_link(corpus: Corpus, name: str, text: str):
    view = CorpusView(corpus(wiki({name: "A name.\n", "Travels": f"{text}\n"})).index)
    assert titles(neighbourhood(view, "Travels", 1, "out", 9, 0)) == [name]
    found = backlinks(view, name, 5, 0)
    assert (titles(found), found.paragraphs[0].text) == (["Travels"], text)


def test_no_other_words_are_links(corpus: Corpus):
    pages = {
        "Rock": "A stone.\n",
        "Old Harbour": "A port.\n",
        "Old Harbour Light": "A house with a lamp.\n",
        "It": "A novel.\n",
        "Walk": "It was a rock. We saw Rockall, an old harbour and the Old Harbour Light.\n",
        "Note": "[[Walk]] is where we saw the Rock.\n",
    }
    view = CorpusView(corpus(wiki(pages)).index)
    assert titles(neighbourhood(view, "Walk", 1, "out", 9, 0)) == ["Old Harbour Light"]
    for title, linking in {"Rock": [], "Old Harbour": [], "It": [], "Old Harbour Light": ["Walk"]}.items():
        assert titles(backlinks(view, title, 9, 0)) == linking
    assert titles(neighbourhood(view, "Note", 1, "out", 9, 0)) == ["Walk"], "a document with links says what it links"


def test_redirects_lead_to_an_article_from_links_and_mentions(corpus: Corpus):
    redirects = {"Port of Old": "Harbour of Old", "Harbour of Old": "Old Harbour", "Round": "About", "About": "Round"}
    pages = {
        "Old Harbour": "A port.\n",
        "One": "See [[port_of_old]] and [[Round]].\n",
        "Two": "They sailed to the Harbour of Old.\n",
    }
    view = CorpusView(corpus(wiki(pages, redirects)).index)
    assert sorted(titles(backlinks(view, "harbour of old", 9, 0))) == ["One", "Two"]
    assert titles(neighbourhood(view, "One", 1, "out", 9, 0)) == ["Old Harbour"]


def test_a_question_reads_no_more_than_it_may_and_says_so(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    files = {f"{n}.md": f"# Page {n}\n\nNear the Hub, by Page {n + 1}.\n" for n in range(60)}
    use = corpus({**files, "hub.md": "# Hub\n\nThe hub.\n"})
    view = CorpusView(use.index)
    whole = neighbourhood(view, "Hub", 1, "in", 100, 0)
    assert (len(whole.articles), whole.note) == (60, "")
    monkeypatch.setattr(links, "CHARACTERS", 1000)
    part = neighbourhood(view, "Hub", 1, "in", 100, 0)
    assert 0 < len(part.articles) < 50
    assert "no more than 1,000 characters" in part.note
    assert "there may be more" in neighbourhood(CorpusView(use.index), "Page 3", 3, "both", 100, 0).note


def test_of_many_links_a_page_reads_a_page(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    pages = {f"Page {n}": f"It is near [[Hub]], and [[Page {n + 1}]].\n" for n in range(200)}
    pages["Hub"] = "".join(f"[[Page {n}]] " for n in range(200))
    view = CorpusView(corpus(wiki(pages)).index)
    monkeypatch.setattr(links, "LINKS", 50)
    assert len(backlinks(view, "Hub", 5, 0).paragraphs) == 5
    for direction in ("in", "out"):
        near = neighbourhood(view, "Hub", 1, direction, 100, 0)
        assert len(near.articles) == 50
        assert "and 50 links were looked at" in near.note


def test_a_filter_leaves_no_trace_of_other_documents(corpus: Corpus):
    files = {"in/one.md": "# One\n\nNear Hub and Two.\n", "in/hub.md": "# Hub\n\nThe hub.\n"}
    use = corpus({**files, "out/two.md": "# Two\n\nNear Hub.\n", "out/hubs.md": "# Hubs\n\nMany.\n"})
    part = only(use.index, 'path~"in/"')
    view = CorpusView(part)
    assert titles(neighbourhood(view, "Hub", 2, "both", 9, 0)) == ["One"]
    assert titles(neighbourhood(view, "One", 1, "out", 9, 0)) == ["Hub"]
    assert [view.catalogue.title(number) for number, _ in view.catalogue.nearest("Hubs", 9)] == ["Hub"]
    assert titles(asyncio.run(Toolbox(Resources(part, use.embedder, use.model)).title_search("Two"))) == []
