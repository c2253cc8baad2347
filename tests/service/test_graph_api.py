"""The graph of a collection over HTTP, against networkx on the index's own tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import networkx as nx
import pytest

from ragways.core.errors import MissingLayer
from ragways.index.open import Index
from ragways.service.errors import from_ragways
from ragways.service.work.operations_graph import EDGES, communities, entities, neighbourhood, overview, walk
from ragways.settings import Settings
from tests.apps.test_graph_map import known
from tests.retrieval.conftest import demo_settings  # noqa: F401 - a fixture
from tests.retrieval.graph_corpus import indexed, stated
from tests.service.conftest import RunningServer


@pytest.fixture(scope="module")
def index(demo_settings: Settings) -> Iterator[Index]:  # noqa: F811
    opened = Index.open(demo_settings.index)
    yield opened
    opened.close()


@dataclass
class Served:
    """The bundled corpus, served."""

    client: httpx2.Client
    path: str


@pytest.fixture(scope="module")
def server(demo_server: RunningServer, index: Index) -> Served:
    return Served(demo_server.client, f"/api/v1/collections/{index.folder.name}/")


FIELDS = {
    "entities": "entities",
    "neighbourhood": "entity nodes edges reached",
    "paths": "paths nodes edges",
    "communities": "levels communities total",
    "graph": "nodes edges entities communities",
    "walk": "stops stopped nodes edges",
    "community": "id level parent leaf size title summary rank way findings members children",
}
"""Of the reply of each route."""
NODE = {"id", "name", "type", "kind", "description", "degree", "community"}
EDGE = {"id", "source", "target", "predicate", "description", "weight", "date", "quote"}


def got(server: Served, path: str, **parameters: Any) -> dict[str, Any]:
    """The reply, with the fields that it always has."""
    reply = server.client.get(server.path + path, params=parameters)
    assert reply.status_code == 200, reply.text
    data: dict[str, Any] = reply.json()
    route = "community" if path.startswith("communities/") else path.rpartition("/")[2]
    assert set(data) == set(FIELDS[route].split())
    if route in ("neighbourhood", "paths"):
        assert all(set(node) - {"hop"} == NODE for node in data["nodes"])
        assert all(set(edge) == EDGE for edge in data["edges"])
    return data


def entity(index: Index, name: str) -> str:
    return index.graph.named(name)[0]


def test_entities_by_name_beginning_and_words(server: Served, index: Index):
    degrees = known(index).degree

    def names(search: str, **parameters: Any) -> list[str]:
        found = got(server, "entities", search=search, **parameters)["entities"]
        assert all(one["degree"] == degrees[one["id"]] for one in found if one["id"] in degrees)
        return [one["name"] for one in found]

    assert names("Oriel Tamsett")[0] == "Oriel Tamsett"
    assert names("oriel t") == ["Oriel Tamsett"]
    assert "Osker Viaduct" in names("viaduct")
    assert names("ZZZ nothing") == []
    assert names("%") == names("_") == []
    assert len(names("", limit=3)) == 3


@pytest.mark.parametrize("hops", [1, 2])
def test_a_neighbourhood_is_that_of_networkx(server: Served, index: Index, hops: int):
    graph, id = known(index), entity(index, "Brule tiltmeter")
    found = got(server, f"entities/{id}/neighbourhood", hops=hops, limit=300)
    far = nx.single_source_shortest_path_length(graph, id, cutoff=hops)
    assert {node["id"]: node["hop"] for node in found["nodes"]} == far
    assert found["reached"] == len(far)
    inside = graph.subgraph(far)
    assert {frozenset((e["source"], e["target"])) for e in found["edges"] if e["source"] != e["target"]} == {
        frozenset(pair) for pair in inside.edges
    }
    near = got(server, f"entities/{id}/neighbourhood", hops=hops, limit=3)
    assert [node["id"] for node in near["nodes"]] == [node["id"] for node in found["nodes"]][:3]
    assert found["entity"]["name"] == "Brule tiltmeter"


def test_quotes_stand_where_they_say(server: Served, index: Index):
    id = entity(index, "Pell Rock Lighthouse")
    found = got(server, f"entities/{id}/neighbourhood")
    quotes = [*found["entity"]["quotes"], *(edge["quote"] for edge in found["edges"] if edge["quote"])]
    assert len(quotes) > 5
    chunks = stated(index)
    for quote in quotes:
        document = index.document(quote["document"])
        assert document is not None
        assert document.title == quote["title"]
        assert quote["text"].removesuffix("…") in " ".join(document.text[quote["start"] : quote["end"]].split())
    assert all(edge["quote"]["chunk"] in chunks[edge["id"]] for edge in found["edges"] if edge["quote"])
    assert any("Pell Rock" in quote["text"] for quote in quotes)


def test_paths_are_the_shortest_of_networkx(server: Served, index: Index):
    graph = known(index)
    start, chunks = entity(index, "Oriel Tamsett"), stated(index)
    for name in ("Emeric Thorsby", "Osker Viaduct", "Grey Petrel", "Mount Cendle", "Oriel Tamsett"):
        end = entity(index, name)
        found = got(server, "paths", start=start, end=end, limit=20)
        every = (
            [tuple(path) for path in nx.all_shortest_paths(graph, start, end)] if nx.has_path(graph, start, end) else []
        )
        assert sorted(tuple(path["nodes"]) for path in found["paths"]) == sorted(every)
        edges = {edge["id"]: edge for edge in found["edges"]}
        for path in found["paths"]:
            assert len(path["hops"]) == len(path["nodes"]) - 1
            for one, other, hop in zip(path["nodes"], path["nodes"][1:], path["hops"], strict=False):
                assert hop
                assert all({edges[id]["source"], edges[id]["target"]} == {one, other} for id in hop)
                assert all(edges[id]["quote"]["chunk"] in chunks[id] for id in hop)
        assert {node["id"] for node in found["nodes"]} == {id for path in every for id in path}


def test_communities_with_their_reports(server: Served, index: Index):
    found = got(server, "communities")
    assert found["levels"] == index.communities.levels()
    assert [each["id"] for each in found["communities"]] == [each.id for each in index.communities.of_level(0)]
    first = found["communities"][0]
    whole = got(server, f"communities/{first['id']}")
    assert {node["id"] for node in whole["members"]} == set(index.communities.members(first["id"]))
    assert [node["degree"] for node in whole["members"]] == sorted(
        (node["degree"] for node in whole["members"]), reverse=True
    )
    report = index.communities.report(first["id"])
    assert report is not None
    assert [finding["text"] for finding in whole["findings"]] == [finding.text for finding in report.findings]
    assert [each["id"] for each in whole["children"]] == [each.id for each in index.communities.children(first["id"])]
    assert len(got(server, "communities", limit=1)["communities"]) == 1


def test_the_map(server: Served, index: Index):
    found = got(server, "graph", limit=15)
    assert len(found["nodes"]) == 15
    assert {node["community"] for node in found["nodes"]} - {""} == {each["id"] for each in found["communities"]}
    assert all(0 <= a < b < 15 for a, b, _ in found["edges"])
    assert found["entities"] == index.graph.counts()["entities"]


@pytest.mark.parametrize(
    ("paradigm", "roles"), [("graph-ppr", {"seed", "passage"}), ("query-traversal", {"window"}), ("words", {"passage"})]
)
def test_the_walk_of_an_answer(server: Served, index: Index, paradigm: str, roles: set[str]):
    question = {"question": "Who designed the Pell Rock Lighthouse?", "paradigm": paradigm}
    reply = server.client.post(server.path + "ask", json=question)
    if reply.status_code != 200:
        pytest.fail(reply.text)
    result, attachments = reply.json(), []
    todo = list(result["steps"])
    while todo:
        step = todo.pop(0)
        attachments += [each for each in step.get("attachments", []) if each["kind"] in ("GraphWalk", "WindowPath")]
        todo += step.get("steps", [])
    assert bool(attachments) == (paradigm != "words")
    body = {"attachments": attachments, "evidence": [piece["id"] for piece in result["evidence"]][:60]}
    drawn = server.client.post(server.path + "walk", json=body).json()
    assert set(drawn) == set(FIELDS["walk"].split())
    assert roles <= {stop["role"] for stop in drawn["stops"]}
    assert [stop["number"] for stop in drawn["stops"]] == list(range(1, len(drawn["stops"]) + 1))
    nodes = {node["id"] for node in drawn["nodes"]}
    assert all(stop["entities"] and set(stop["entities"]) <= nodes for stop in drawn["stops"])
    assert entity(index, "Pell Rock Lighthouse") in nodes
    for stop in drawn["stops"]:
        if stop["place"]:
            document = index.document(stop["place"]["document"])
            assert document is not None
            assert document.title == stop["title"]
            assert stop["text"][:20] in " ".join(document.text[stop["place"]["start"] : stop["place"]["end"]].split())
    if paradigm == "query-traversal":
        windows = [window["window"] for each in attachments for window in each["windows"]]
        assert [stop["id"] for stop in drawn["stops"]] == [
            id for id in windows if id in {s["id"] for s in drawn["stops"]}
        ]


def test_what_a_walk_names_that_is_gone_is_left_out(index: Index):
    gone = {"kind": "GraphWalk", "seeds": [("entity:ffffffffffffffff", 1.0)], "entities": None, "passages": []}
    assert walk(index, [gone], ["article:1:s0:p0:c0", "relation:ffffffffffffffff", "report:x", "", "entity:\0"]) == {
        "stops": [], "stopped": "", "nodes": [], "edges": [],
    }  # fmt: skip


def test_what_is_not_there_is_not_found(server: Served):
    start = server.path
    for path in (
        "entities/entity:ffffffffffffffff/neighbourhood", "entities/x/neighbourhood", "communities/none",
        "paths?start=entity:1&end=entity:2",
    ):  # fmt: skip
        reply = server.client.get(start + path)
        assert reply.status_code == 404, path
        assert reply.json()["error"]["code"] == "not_found"
    for path in (
        "entities?limit=101",
        "entities/x/neighbourhood?hops=4",
        "graph?limit=5001",
        "paths?start=a",
        "graph?limit=x",
    ):
        assert server.client.get(start + path).status_code in (400, 422), path
    assert server.client.get("/api/v1/collections/other/graph").status_code == 404
    for left in ('{"kind": "Other"}', '{"kind": "GraphWalk", "seeds": [["entity:1", NaN]]}'):
        body = f'{{"attachments": [{left}]}}'
        reply = server.client.post(start + "walk", content=body, headers={"Content-Type": "application/json"})
        assert reply.status_code in (400, 422), left


def test_without_a_graph_the_error_says_what_to_build(tmp_path: Path):
    with closing(Index.open(indexed(tmp_path, layers=frozenset({"vectors", "words"})))) as plain:
        for act in (lambda: overview(plain, 5), lambda: entities(plain, "a", 5), lambda: communities(plain, 0, 5)):
            with pytest.raises(MissingLayer) as error:
                act()
            shown = from_ragways(error.value)
            assert shown.status == 409
            assert shown.cure == f"start a job of kind index with the layers {error.value.cure.rpartition(' ')[2]}"


def test_replies_are_bounded(tmp_path: Path):
    """A hub with a thousand neighbours: as many as were asked for, and no more relations than are quoted at once."""
    names = [f"{first}{last}" for first in ("Anna ", "Bodil ", "Carin ", "Dorte ") for last in _names(60)]
    lines = [f"Otto Tamsett met {name} at the quay." for name in names]
    open_ = Index.open(indexed(tmp_path, {"hub.md": "# Otto Tamsett\n\n" + "\n\n".join(lines)}))
    hub = open_.graph.named("Otto Tamsett")[0]
    found = neighbourhood(open_, hub, 2, 300)
    assert found is not None
    assert found["reached"] > 100
    assert len(found["edges"]) <= EDGES
    few = neighbourhood(open_, hub, 2, 5)
    assert few is not None
    assert len(few["nodes"]) == 5
    open_.close()


def _names(count: int) -> list[str]:
    parts = (
        ["Bra", "Lun", "Tor", "Ves", "Hol", "Mar", "Gri", "Sten"],
        ["dal", "gard", "mark", "vik", "borg", "lund", "strom", "feld"],
    )
    return [a + b for a in parts[0] for b in parts[1]][:count]
