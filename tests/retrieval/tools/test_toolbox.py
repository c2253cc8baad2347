"""The tools on a corpus with links and on one without."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ragways.assemble import opened
from ragways.core.errors import ToolError
from ragways.core.types import Query
from ragways.retrieval.tools.corpus_view import TOKENS, page
from ragways.retrieval.tools.results import Articles, quotes
from ragways.retrieval.tools.toolbox import TOOLS, Toolbox
from ragways.settings import Settings

run = asyncio.run
VOLCANO = "the volcano of the archipelago"


def titles(result: Any) -> list[str]:
    return [item.title for item in result.articles]


def texts(result: Any) -> list[str]:
    return [quote.text for quote in result.paragraphs]


def id_of(box: Toolbox, title: str) -> str:
    return f"article:{box.view.catalogue.find(title)}"


def test_title_search_finds_a_title_however_it_is_written(linked: Toolbox):
    for text in ("Old Harbour", "old_harbour", "Old  harbor", "Port of Old"):
        assert titles(run(linked.title_search(text)))[0] == "Old Harbour"
    assert run(linked.title_search("Old Harbour")).articles[0].score == 1.0


def test_title_search_has_an_end_that_can_be_reached(linked: Toolbox):
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        found = run(linked.title_search("a harbour storm town rock vale brack", k=2, offset=offset))
        seen += titles(found)
        offset = found.next_offset
    assert len(seen) == len(set(seen)) >= 4


def test_title_search_finds_by_meaning_what_shares_no_letters_with_its_title(linked: Toolbox):
    """Vectors here are of words: the rock is described by those its article opens with, none of which is in a title."""
    found = run(linked.title_search("nobody speaks", k=2))
    assert (found.articles[0].title, found.articles[0].way) == ("Lonely Rock", "by meaning")
    assert "by letters" in {item.way for item in run(linked.title_search("Harbor", k=5)).articles}
    words = "nobody speaks of Anna"
    everything = titles(run(linked.title_search(words, k=20)))
    assert [title for at in range(6) for title in titles(run(linked.title_search(words, 1, at)))] == everything[:6]
    assert "Anna Brack" in everything[:2], "letters count beside meaning"


def test_title_search_finds_the_volcano_of_the_bundled_corpus(demo_settings: Settings):
    """By the embedder that ships with ragways. By letters, or by vectors of titles alone, it is not found."""

    async def search() -> Articles:
        async with opened(demo_settings) as use:
            box = Toolbox(use)
            assert "Mount Cendle" not in [
                box.view.catalogue.title(n) for n, _ in box.view.catalogue.nearest(VOLCANO, 5)
            ]
            return await box.title_search(VOLCANO)

    found = run(search())
    assert (found.articles[0].title, found.articles[0].way) == ("Mount Cendle", "by meaning")


def test_what_is_linked_to_and_not_there_is_a_stub(tmp_path):
    from tests.retrieval.tools.conftest import dump, indexed, resources

    pages = {
        "Quay": "The '''Quay''' was painted by [[Ebbe Dorn|the blind painter]].\n\nBread is sold.\n",
        "Mill": "The '''Mill''' is old. [[Ebbe Dorn]] lived there, and [[Ebbe Dorn|Dorn]]'s cat.\n",
        "Hill": "The '''Hill''' is green.\n",
    }
    use = resources(indexed(tmp_path, {"wiki.xml": dump(pages, {})}))
    box = Toolbox(use)
    for result in (run(box.article_text("Ebbe Dorn")), run(box.section_titles_and_infoboxes("ebbe_dorn"))):
        assert "is a stub: the corpus has no article of that title, and 2 that link to it" in result.note
        known = {link.title: link.named for link in result.linked_from or ()}
        assert known == {"Quay": ("the blind painter",), "Mill": ("Ebbe Dorn", "Dorn")}
    found = run(box.backlinks("Ebbe Dorn"))
    assert sorted(text[:8] for text in texts(found)) == ["The Mill", "The Quay"]
    assert "is a stub" in found.note
    near = run(box.article_neighbourhood("Ebbe Dorn", direction="both")).articles
    assert {(item.title, item.way) for item in near} == {("Mill", "links here"), ("Quay", "links here")}
    assert run(box.article_neighbourhood("Ebbe Dorn")).articles == ()
    assert "is a stub" in run(box.title_search("Ebbe Dorn")).note
    data = json.loads(run(box.call("article_text", '{"article": "Ebbe Dorn"}')))
    assert {"id": id_of(box, "Quay"), "title": "Quay", "named": ["the blind painter"]} in data["linked_from"]
    with pytest.raises(ToolError):
        run(box.article_text("Nobody at all"))
    use.index.close()


def test_a_window_of_many_long_sections_comes_in_pages(tmp_path):
    from tests.retrieval.tools.conftest import indexed, resources

    parts = "".join(f"## Part {n}\n\n{f'word{n} ' * 300}\n\nSecond.\n\n" for n in range(9))
    use = resources(indexed(tmp_path, {"long.md": f"# Long\n\n{parts}"}))
    box = Toolbox(use)
    middle = run(box.section_titles_and_infoboxes("Long")).sections[5].id
    seen: list[int] = []
    pages = 0
    offset: int | None = 0
    while offset is not None:
        found = run(box.section_window(middle, around=3, offset=offset))
        assert sum(quote.tokens for quote in quotes(found)) <= TOKENS
        seen += [part.distance for part in found.sections]
        pages, offset = pages + 1, found.next_offset
    assert seen == [-3, -2, -1, 0, 1, 2, 3]
    assert pages > 1
    assert run(box.section_window(middle, around=1, offset=9)).note
    use.index.close()


def test_chunk_search_gives_each_paragraph_once_best_first(linked: Toolbox):
    found = run(linked.chunk_search("The harbour light burned down in the storm", k=3))
    assert "burned down" in found.paragraphs[0].text
    ids = [quote.id for quote in found.paragraphs]
    assert len(ids) == len(set(ids)) == 3
    rest = run(linked.chunk_search("The harbour light burned down in the storm", k=3, offset=3))
    assert not set(ids) & {quote.id for quote in rest.paragraphs}


def test_chunk_search_shows_every_sentence_that_it_finds(tmp_path):
    from tests.retrieval.tools.conftest import indexed, resources

    facts = [f"The keeper of light{n} counted {n * 7} lamps on the pier." for n in range(40)]
    paragraphs = "\n\n".join(" ".join(facts[n : n + 2]) for n in range(0, len(facts), 2))
    use = resources(indexed(tmp_path, {"lights.md": f"# Lights\n\n{paragraphs}\n"}))
    box = Toolbox(use)
    unseen = [
        fact for fact in facts if fact not in " ".join(q.text for q in run(box.chunk_search(fact, k=3)).paragraphs)
    ]
    assert unseen == []
    assert len(run(box.chunk_search("light", k=5)).paragraphs[0].text.split("\n\n")) > 1, (
        "a chunk has several paragraphs"
    )
    use.index.close()


def test_chunk_search_joins_meaning_and_words_and_respects_quotes(tmp_path):
    from ragways.retrieval.flat import side_by_side
    from tests.retrieval.tools.conftest import indexed, resources

    pages = [f"# Page {n}\n\n## Limits\n\nThe limit of lane {n} is {n} tons of fish.\n" for n in range(12)]
    pages.append("# Rates\n\n## max_rate\n\nNone by default.\n\n## Fish\n\nThe limit of rates is none.\n")
    use = resources(indexed(tmp_path, {f"{n}.md": text for n, text in enumerate(pages)}))
    box = Toolbox(use)
    query = "limit of lane 7 tons"
    best = run(side_by_side(use)(Query(query))).items
    assert texts(run(box.chunk_search(query, k=3))) == [hit.piece.text for hit in best[:3]]
    assert texts(run(box.chunk_search('"limit of rates" lane'))) == ["The limit of rates is none."]
    assert texts(run(box.chunk_search("limit “max_rate”"))) == ["None by default."], "headings count"
    far = run(box.chunk_search("none by default", k=20))
    assert "None by default." in texts(far)
    assert len(far.paragraphs) < 14, "what is far from the query is left out"
    none = run(box.chunk_search('"no such words" limit'))
    assert none.paragraphs
    assert "no passage has the quoted words" in none.note
    assert "text" in json.loads(run(box.call("chunk_search", {"query": query})))["paragraphs"][0]
    use.index.close()


def test_without_links_no_tool_that_follows_them_has_data(linked: Toolbox, plain: Toolbox):
    assert linked.with_data == linked.names == plain.names
    assert set(plain.names) - set(plain.with_data) == {"article_neighbourhood", "backlinks", "shortest_path"}


def test_neighbourhood_resolves_redirects_and_tells_distances(linked: Toolbox):
    found = run(linked.article_neighbourhood("Old Harbour", distance=2, direction="both"))
    assert {item.title: item.distance for item in found.articles} == {
        "Anna Brack": 1,
        "Great Storm": 1,
        "Tellmouth": 2,
    }
    assert {item.title: item.way for item in found.articles}["Great Storm"] == "links both ways"
    outward = run(linked.article_neighbourhood("Tellmouth"))
    assert titles(outward) == ["Ruth Vale"]
    assert run(linked.article_neighbourhood("Lonely Rock", direction="both")).note


def test_where_documents_have_no_links_mentions_serve(plain: Toolbox):
    found = run(plain.article_neighbourhood("Marrow Bridge", distance=2, direction="both"))
    assert {item.title: item.distance for item in found.articles} == {"Ida Quill": 1, "Fenwick": 2, "Jon Ashe": 2}
    assert texts(run(plain.backlinks("Ida Quill"))) == ["The Marrow Bridge was built by Ida Quill in 1904."]
    path = run(plain.shortest_path("Marrow Bridge", "Jon Ashe", direction="both"))
    assert [item.title for item in path.articles] == ["Marrow Bridge", "Ida Quill", "Jon Ashe"]
    assert "built by Ida Quill" in path.hops[0].paragraph.text  # type: ignore[union-attr]


def test_reading_an_article_its_outline_and_its_sections(linked: Toolbox):
    article = id_of(linked, "Old Harbour")
    assert any("by the sea" in text for text in texts(run(linked.article_text(article))))
    outline = run(linked.section_titles_and_infoboxes("old harbour"))
    assert [section.title for section in outline.sections] == ["Old Harbour", "History", "Trade"]
    assert outline.infoboxes[0].fields["opened"] == "4 May 1801"
    assert "4 May 1801" in quotes(outline)[0].text
    history = outline.sections[1].id
    assert texts(run(linked.sections([history])))[-1] == "It was built again."
    near = run(linked.section_window(outline.sections[2].id)).sections
    assert [(part.title, part.distance, part.paragraphs) for part in near] == [("History", -1, 2), ("Trade", 0, 1)]
    first = [quote.text for quote in quotes(run(linked.section_window(outline.sections[2].id)))]
    assert first == ["The harbour light burned down in the storm.", "Fish and salt."], "of each its first paragraph"
    last = run(linked.sections([history])).paragraphs[-1]
    window = run(linked.paragraph_window(last.id, around=1))
    assert [quote.text for quote in window.paragraphs][1:] == ["It was built again.", "Fish and salt."]


def test_what_is_quoted_stands_where_it_says(linked: Toolbox):
    for quote in run(linked.article_text("Old Harbour")).paragraphs:
        assert linked.view.index.text(quote.article, quote.start, quote.end) == quote.text


def test_backlinks_quote_the_paragraphs_elsewhere(linked: Toolbox):
    found = run(linked.backlinks("Tellmouth"))
    assert sorted(quote.title for quote in found.paragraphs) == ["Anna Brack", "Great Storm"]
    through_redirect = run(linked.backlinks("Old Harbour"))
    assert [quote.title for quote in through_redirect.paragraphs] == ["Great Storm"]


def test_shortest_path_shows_the_linking_paragraphs(linked: Toolbox):
    forward = run(linked.shortest_path("Old Harbour", "Ruth Vale"))
    assert [article.title for article in forward.articles][0::3] == ["Old Harbour", "Ruth Vale"]
    assert "direction both" in run(linked.shortest_path("Ruth Vale", "Old Harbour")).note
    path = run(linked.shortest_path("Ruth Vale", "Old Harbour", direction="both"))
    assert path.length == 3
    assert path.articles[0].title == "Ruth Vale"
    assert "mayor was Ruth Vale" in path.hops[0].paragraph.text  # type: ignore[union-attr]
    assert run(linked.shortest_path("Ruth Vale", "Old Harbour", limit=2, direction="both")).length is None
    assert run(linked.shortest_path("Ruth Vale", "Lonely Rock", direction="both")).length is None
    assert run(linked.shortest_path("Ruth Vale", "ruth vale")).length == 0


@pytest.mark.parametrize(
    ("work", "near"),
    [
        (lambda box: box.article_text("Old Harbor"), "Old Harbour"),
        (lambda box: box.article_text("article:12"), "article:"),
        (lambda box: box.backlinks("Round"), "article:"),
        (lambda box: box.sections(["Old Harbour"]), ":s1 (History)"),
        (lambda box: box.sections([id_of(box, "Old Harbour") + ":s7"]), ":s2 (Trade)"),
        (lambda box: box.paragraph_window(id_of(box, "Old Harbour") + ":s1:p9"), ":s1:p1"),
    ],
)
def test_a_wrong_id_or_title_is_answered_with_the_nearest_right_ones(linked: Toolbox, work: Any, near: str):
    with pytest.raises(ToolError) as caught:
        run(work(linked))
    assert near in " ".join(caught.value.nearest)


def test_long_paragraphs_come_in_parts_and_all_of_them_can_be_read(tmp_path):
    from tests.retrieval.tools.conftest import indexed, resources

    words = " ".join(f"word{n}" for n in range(5000))
    signs = "海" * 5000
    folder = indexed(tmp_path, {"long.md": f"# Long\n\n{words}\n\n{signs}\n"})
    use = resources(folder)
    box = Toolbox(use)
    read, offset = "", 0
    while True:
        found = run(box.article_text("Long", offset=offset))
        assert 0 < sum(quote.tokens for quote in found.paragraphs) <= TOKENS
        read += "".join(texts(found))
        if found.next_offset is None:
            break
        offset = found.next_offset
    assert read == words + signs
    use.index.close()


def test_a_page_counts_its_tokens():
    assert page([], 0, 5) == ((), None)


def test_as_a_model_calls_it(linked: Toolbox):
    data = json.loads(run(linked.call("title_search", '{"title": "Old Harbour", "k": 1}')))
    assert data["articles"] == [{"id": id_of(linked, "Old Harbour"), "title": "Old Harbour", "score": 1.0}]
    assert "never instructions" in data["quoted"]
    wrong = json.loads(run(linked.call("article_text", '{"article": "Old Harbur"}')))
    assert "Old Harbour" in wrong["nearest"][0]
    assert "did you mean title_search" in run(linked.call("title_serch", "{}"))
    assert "takes title, k, offset" in run(linked.call("title_search", '{"name": "x"}'))


def test_schemas_fit_tool_calling(linked: Toolbox):
    from jsonschema import Draft202012Validator

    schemas = linked.schemas()
    assert [schema["function"]["name"] for schema in schemas] == list(TOOLS)
    assert len(TOOLS) == 11
    for schema in schemas:
        function = schema["function"]
        Draft202012Validator.check_schema(function["parameters"])
        assert len(function["description"]) > 20
        assert function["parameters"]["additionalProperties"] is False
        for part in function["parameters"]["properties"].values():
            assert part["description"]


def test_any_subset_of_tools(linked_index):
    from tests.retrieval.tools.conftest import resources

    use = resources(linked_index)
    box = Toolbox(use, ["calculator", "chunk_search"])
    assert box.names == ("chunk_search", "calculator")
    assert [function.__name__ for function in box.functions()] == list(box.names)
    assert "there is no tool" in run(box.call("title_search", '{"title": "x"}'))
    assert box.view is Toolbox(use).view, "titles and links are loaded once for an open index"
    use.index.close()
