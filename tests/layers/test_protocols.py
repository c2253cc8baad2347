"""What every engine promises to paradigms (`layers/protocols.py`): a small corpus behind each of `ENGINES`.

Only methods of the protocols are used, so another engine is one more function in the table.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Protocol

import pytest

from ragways.core.types import document_number
from ragways.index.build import build
from ragways.index.open import Index
from ragways.layers.layer import Scored
from ragways.layers.protocols import Communities, Documents, Graph, Vectors, Windows, Words
from ragways.layers.table import LAYERS
from tests.fakes import WordHashes, recipe, vector_of, write
from tests.retrieval.graph_corpus import TEXTS


class Opened(Documents, Protocol):
    """An opened index."""

    @property
    def words(self) -> Words: ...
    @property
    def vectors(self) -> Vectors: ...
    @property
    def graph(self) -> Graph: ...
    @property
    def communities(self) -> Communities: ...
    @property
    def windows(self) -> Windows: ...


def in_a_folder(home: Path) -> AbstractContextManager[Opened]:
    settings: dict[str, dict[str, object]] = {
        "graph": {"vectors": "all", "relation_vectors": True},
        "communities": {"members": 3, "text": 0},
    }
    corpus = write(home / "corpus", TEXTS)
    chosen = recipe(WordHashes(), layers=frozenset(LAYERS), settings=settings)
    asyncio.run(build(home / "index", [corpus], chosen))
    return closing(Index.open(home / "index"))


ENGINES: dict[str, Callable[[Path], AbstractContextManager[Opened]]] = {"folder": in_a_folder}
"""Each makes an index of `TEXTS` with all layers, and opens it."""


@pytest.fixture(scope="module", params=ENGINES)
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    with ENGINES[request.param](tmp_path_factory.mktemp(request.param)) as opened:
        yield opened


def is_ranked(scored: Scored, limit: int) -> bool:
    scores = [score for _, score in scored]
    return len(scored) == len(dict(scored)) <= limit and scores == sorted(scores, reverse=True)


def one(ids: Iterable[str]) -> str:
    [id] = ids
    return id


def test_documents(index: Opened):
    rows = index.documents()
    assert [key for _, key, _ in rows] == sorted(key for _, key, _ in rows)
    assert {key.rsplit("/", 1)[-1] for _, key, _ in rows} == TEXTS.keys()
    id, key, title = rows[0]
    assert id == f"article:{document_number(key)}"
    assert index.keys([id, "article:1", "community:1"]) == {id: key}
    assert index.named("key", key) == index.named("name", title.casefold()) == {id: key}
    assert index.titled([title.casefold(), "nothing"]) == {title.casefold()}
    document = index.document(id)
    assert document is not None
    assert (index.document("article:1"), index.place("article:1"), index.place("odd")) == (None, None, None)
    assert index.place(id) == (document, 0, len(document.text))
    assert index.text(id, 2, 9) == document.text[2:9]
    assert [origin.key for origin in index.origins([(id, 0, 5), ("", 0, 0)])] == [key, ""]
    assert index.metadata_values("date", 5) == []


def test_articles(index: Opened):
    rows = index.documents()
    lookup, names = index.articles, {title.casefold(): int(id.partition(":")[2]) for id, _, title in rows}
    assert lookup.articles_named([*names, "nothing"]) == names
    assert lookup.redirects_named(names) == {}
    assert {number: lookup.title(number) for number in names.values()} == {
        int(id.partition(":")[2]): title for id, _, title in rows
    }
    assert lookup.title(1) is None
    listed = lookup.listing(100, 0)
    assert [number for number, *_ in listed] == sorted(names.values())
    assert lookup.listing(1, 1) == listed[1:2]
    found, total = lookup.found("ness", 1, 0)
    assert (len(found), total) == (1, sum("ness" in f"{key} {title}".casefold() for _, key, title in rows))
    assert lookup.beginning("ness l", 5) == ["ness light"]
    assert lookup.like("Nes Lihgt", 5)[0][0] == "ness light"
    number = names["ness light"]
    assert number in [near for near, _ in lookup.around(number)]
    title, text, date = index.article(number)
    assert (title, date) == ("Ness Light", "")
    assert lookup.text_without_links(number) == text
    assert (lookup.links_of(number, 5), [*lookup.links_to("ada holm")], [*lookup.linking("ada holm")]) == ([], [], [])
    paragraphs = lookup.paragraphs(number)
    assert [ordinal for ordinal, *_ in paragraphs] == sorted(ordinal for ordinal, *_ in paragraphs)
    assert index.paragraph_tokens(number).keys() <= {path for _, path, _, _ in paragraphs}
    for ordinal, path, start, end in paragraphs:
        row = (ordinal, path, start, end)
        assert lookup.paragraph(number, path) == lookup.paragraph_at(number, start) == row
        assert lookup.paragraphs_near(number, ordinal, ordinal) == [row]
        assert row in lookup.paragraphs_in(number, start, end)
    assert lookup.sections(number)[0][2] <= paragraphs[0][2]
    assert lookup.infoboxes(number) == []


def test_pieces_lie_in_their_documents(index: Opened):
    pieces = index.pieces([*index.vectors.ids, "article:1:s0:p0:c0"])
    assert pieces.keys() == set(index.vectors.ids)
    for id, piece in pieces.items():
        document = index.document(piece.document)
        assert document is not None
        assert document.text[piece.start : piece.end] == piece.text
        assert (piece.id, piece.title) == (id, document.title)
        place = index.place(id)
        assert place is not None
        assert place[1:] == (piece.start, piece.end)
        spans = index.sentences(piece)
        assert spans == sorted(spans)
        assert all(piece.start <= start < end <= piece.end for start, end in spans)


def test_words(index: Opened):
    assert len(index.words) == len(index.vectors)
    found = index.words.search("the designer of the Ness Light", 5)
    assert is_ranked(found, 5)
    pieces = index.pieces(id for id, _ in found)
    assert len(pieces) == len(found)
    assert all("ness" in f"{p.title} {p.text}".casefold() for p in pieces.values() if "light" in p.text.casefold())
    assert index.words.search("the designer of the Ness Light", 2) == found[:2]
    assert index.words.search("of the", 5) == index.words.search("zzz", 5) == index.words.search("Ness", 0) == []
    holding = {f"article:{number}" for number in index.words.holding(["light", "ness"]).tolist()}
    assert {piece.document for piece in pieces.values() if "Ness Light" in piece.text} <= holding


def test_vectors(index: Opened):
    vector, ids = vector_of("Ada Holm designed the Ness Light"), list(index.vectors.ids)
    found = index.vectors.search(vector, len(ids))
    assert is_ranked(found, len(ids))
    assert dict(found) == pytest.approx(index.vectors.cosines(vector, [*ids, "article:1:s0:p0:c0"]))
    assert index.vectors.search(vector, 2) == found[:2]
    least = found[2][1]
    assert index.vectors.search(vector, len(ids), minimum=least) == [pair for pair in found if pair[1] >= least]
    documents = {id.rsplit(":", 3)[0] for id in ids}
    sizes = index.vectors.sizes([*documents, "article:1"])
    assert sizes == {document: sum(id.startswith(f"{document}:") for id in ids) for document in documents}
    assert index.vectors.nearest_to(ids[0], 3)[0][0] == ids[0]
    assert index.vectors.nearest_to("article:1:s0:p0:c0", 3) == []
    openings = index.vectors.openings(vector, 3)
    assert is_ranked(openings, 3)
    assert {id for id, _ in openings} <= documents


def test_entities_by_name(index: Opened):
    graph = index.graph
    ids = [graph.entity_at(number) for number in range(graph.counts()["entities"])]
    assert len(set(ids)) == len(ids)
    assert all(id in graph for id in ids)
    assert "entity:0000000000000000" not in graph
    entities = graph.entities([*ids, "entity:0000000000000000"])
    assert entities.keys() == set(ids)
    light = one(graph.named("Ness Light"))
    assert graph.named("the NESS light") == [light]
    assert entities[light].name == "Ness Light"
    assert light in graph.beginning("Ness L")
    assert dict(graph.matching(["light"]))[light] == 0.5
    question = "Who designed the Ness Light?"
    match = graph.question_names(question)[0]
    assert (question[match.start : match.end], match.entities[0]) == ("Ness Light", light)
    assert [found.entities for found in graph.in_question(question)] == [(light,)]
    assert graph.question_seeds(question).keys() == {light}
    assert graph.question_seeds("what is dear?") == {}
    assert set(graph.names()) >= {"ness light", "ada holm"}


def test_entities_by_meaning(index: Opened):
    graph, vector = index.graph, vector_of("Ness Light")
    assert graph.has_vectors
    assert graph.has_relation_vectors
    near = graph.nearest(vector, 5, 0.0)
    assert is_ranked(near, 5)
    assert dict(near) == pytest.approx(graph.cosines(vector, [id for id, _ in near]))
    relations = graph.nearest_relations(vector, 5, 0.0)
    assert is_ranked(relations, 5)
    assert graph.relations([id for id, _ in relations]).keys() == dict(relations).keys()


def test_relations(index: Opened):
    graph = index.graph
    count = graph.counts()["relations"]
    rows = {row.id: row for row in graph.relations_at(range(count)).values()}
    assert len(rows) == count
    assert graph.relations([*rows, "relation:0000000000000000"]) == rows
    ends = [one(graph.named("Ness Light")), one(graph.named("Bertil Oakes"))]
    touching, inside = graph.triplets(ends), graph.triplets(ends, induced=True)
    assert {row.id for row in touching} == {row.id for row in rows.values() if {row.subject, row.object} & set(ends)}
    assert {row.id for row in inside} == {row.id for row in rows.values() if {row.subject, row.object} <= set(ends)}
    assert graph.count_induced(ends) == len(inside) > 0
    weights = [row.weight for row in touching]
    assert weights == sorted(weights, reverse=True)
    assert [tuple(edge) for edge in graph.edges(ends)] == [(t.id, t.subject, t.object, t.weight) for t in touching]
    assert [edge.id for edge in graph.edges(ends, induced=True)] == [row.id for row in inside]
    assert graph.triplets(ends, 2) == touching[:2]


def test_sources_of_relations(index: Opened):
    graph = index.graph
    light = one(graph.named("Ness Light"))
    ids = [edge.id for edge in graph.edges([light])]
    stating = graph.relation_chunks(ids)
    assert stating.keys() == set(ids)
    assert graph.relation_chunks(ids, 1) == {id: chunks[:1] for id, chunks in stating.items()}
    chunks = {chunk for found in stating.values() for chunk in found}
    assert chunks <= set(graph.chunk_ids())
    assert graph.mentioned(["article:1:s0:p0:c0"]) == []
    sums = {chunk: sum(1.0 for found in stating.values() if chunk in found) for chunk in chunks}
    found = graph.sources([(id, 1.0) for id in ids], 100)
    assert {source.chunk: source.score for source in found} == pytest.approx(sums)
    assert all(source.chunk in stating[ids[source.relation]] for source in found)
    likeness = [float(n % 3) for n in range(len(ids))]
    alike = graph.sources([(id, 1.0) for id in ids], 100, likeness=likeness)
    assert {source.chunk for source in alike} == chunks
    order = [(-likeness[source.relation], -source.score) for source in alike]
    assert order == sorted(order)
    alone = graph.sources([], 100, entities=[(light, 0.5)])
    assert {source.chunk for source in alone} == set(graph.naming(light, 100))


def test_mentions(index: Opened):
    graph = index.graph
    light = one(graph.named("Ness Light"))
    naming = graph.mentions([light])
    assert is_ranked(naming, 500)
    assert len(naming) == graph.entities([light])[light].chunks
    assert all(light in dict(graph.mentioned([chunk])) for chunk, _ in naming)
    own = index.pieces(graph.naming(light, 1))[graph.naming(light, 1)[0]]
    assert own.title == "Ness Light"
    for entity, leads in graph.leading([own.id], 12, 24)[own.id].items():
        assert entity != light
        assert all(entity in dict(graph.mentioned([lead.chunk])) and lead.chunk != own.id for lead in leads)
    assert all(name and reason for _, name, _, reason, _ in graph.merges())


def test_neighbours(index: Opened):
    graph = index.graph
    light, oakes, holm = (one(graph.named(name)) for name in ("Ness Light", "Bertil Oakes", "Ada Holm"))
    around, total = graph.around(light, 1, 100)
    neighbours = graph.neighbours(light)
    assert is_ranked(neighbours, 500)
    assert around.keys() == {light, *dict(neighbours)}
    assert total == len(around) == graph.degrees([light])[light] + 1
    assert graph.hops([[light], [oakes], [holm], [light]]) == [1, 1, 0, 2, 1, 1]
    ways = graph.paths(oakes, holm)
    assert ways
    assert {len(way) for way in ways} == {3}
    assert {(way[0], way[-1]) for way in ways} == {(oakes, holm)}
    assert graph.paths(oakes, "entity:0000000000000000") is None
    most = graph.most_connected(3)
    assert graph.degrees([id for id, _ in most]) == dict(most)
    left, right, weights = graph.heaviest_links([light, oakes, holm], 5)
    assert [*zip(left.tolist(), right.tolist(), strict=True)] == [(0, 1), (0, 2)] or len(left) == 2
    assert weights.tolist() == sorted(weights.tolist(), reverse=True)
    assert len(graph.ranks()) == graph.counts()["entities"]


def test_walks(index: Opened):
    graph = index.graph
    light, oakes = one(graph.named("Ness Light")), one(graph.named("Bertil Oakes"))
    shares = graph.walk({light: 1.0}, keep=10)
    assert graph.walks_exactly
    assert next(iter(shares)) == light
    assert len(shares) <= 11
    assert sum(graph.walk({light: 1.0}, keep=10_000, minimum=0.0).values()) == pytest.approx(1.0)
    assert shares != graph.walk({light: 1.0}, keep=10, weighted=False)
    assert graph.walk({}) == {}
    ranked = graph.rank_edges(shares, {id: float(id == oakes) for id in shares}, 100)
    assert {edge.id for edge in ranked} == {edge.id for edge in graph.edges(shares, induced=True)}
    order = [(-edge.likeness, -edge.share) for edge in ranked]
    assert order == sorted(order)
    passages = graph.passages({light: 1.0}, k=5)
    assert is_ranked(passages, 5)
    assert index.pieces([passages[0][0]])[passages[0][0]].title == "Ness Light"
    assert graph.passages({}, k=5) == []
    assert graph.passages({}, k=5, prior={passages[0][0]: 1.0})[0][0] == passages[0][0]
    assert is_ranked(graph.walked_entities({light: 1.0}, 5), 5)


def test_communities(index: Opened):
    communities = index.communities
    levels = communities.levels()
    assert levels == sorted(levels)
    whole = communities.of_level(levels[0])
    assert communities.communities([each.id for each in whole]) == {each.id: each for each in whole}
    assert communities.tokens_of_level(levels[0]) == sum(each.tokens for each in whole)
    assert communities.left_out == 0
    first = whole[0]
    members = communities.members(first.id)
    assert len(members) == first.size
    assert communities.at_level(members, levels[0]) == dict.fromkeys(members, first.id)
    assert all(communities.of_entity(id)[0].id == first.id for id in members)
    assert all(child.parent == first.id for child in communities.children(first.id))
    report = communities.report(first.id)
    assert report is not None
    assert communities.reports([first.id, "community:none"]) == {first.id: report}
    near = communities.nearest(vector_of("the Ness Light"), None)
    assert is_ranked(near, len(near))
    assert communities.nearest(vector_of("the Ness Light"), 1) == near[:1]
    assert sum(communities.counts().values()) >= len(whole)


def test_windows(index: Opened):
    windows, question = index.windows, vector_of("Who designed the Ness Light?")
    near = windows.nearness(question)
    falling = list(near.falling())
    assert sorted(falling) == list(range(len(windows)))
    assert [near.window(n) for n in falling] == sorted((near.window(n) for n in falling), reverse=True)
    for window in range(len(windows)):
        assert windows.row_of(windows.window_id(window)) == window
        assert window in windows.windows_of(windows.document_of(window))
        assert windows.neighbours(window) == windows.near_within(window) + windows.near_across(window)
        document = index.document(windows.document_of(window))
        assert document is not None
        for sentence in windows.sentences_of(window):
            assert index.place(windows.sentence_id(sentence)) == (document, *windows.span_of(sentence))
        sentences = list(windows.sentences_of(window))
        assert len(windows.likeness(window, sentences)) == len(sentences)
        assert windows.same_window(window) != windows.same_window((window + 1) % len(windows))
        assert len({windows.same_sentence(sentence) for sentence in sentences}) == len(sentences)
    points = windows.points([falling[0]])
    assert float(points[0] @ question) == pytest.approx(near.window(falling[0]), abs=1e-3)
    assert windows.projected(points).shape == (1, 3)
    first = windows.document_of(0)
    assert windows.themes(first).themes
    assert is_ranked(windows.neighbours_by_theme(first), 100)
    assert windows.row_of("article:1:w0") is None
    assert not windows.windows_of("article:1")
