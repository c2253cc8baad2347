"""What goes out in every format comes back the same, whatever documents put into names."""

from __future__ import annotations

import builtins
import csv
import json
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from xml.etree import ElementTree

import pyarrow.parquet
import pytest

from ragways.core.errors import MissingLayer, MissingPart, UsageError
from ragways.index.export import NODES, export
from ragways.index.open import Index
from ragways.layers.protocols import GraphEntity, Triplet
from tests.index.runs import indexed

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--",
    "]]>",
    "&amp;&lt;",
    "\"quotes\" 'single'",
    'comma, "quote"\nand line\r\nand return\r',
    "tab\tand\x00null\x01\x1b[31m\x7f\x85",
    "\u2028line\u2029paragraph\ufffe\uffff",
    '=HYPERLINK("http://example.org")',
    "{{data}} {{script}} %s {0}",
    "漢字 👩‍🚀 עברית",
    "\\u003c \\",
]
NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"


@dataclass
class HostileGraph:
    """Every hostile text as a name, a description, an alias, a type and a predicate."""

    nodes: list[GraphEntity]
    triplets: list[Triplet]

    @classmethod
    def make(cls) -> HostileGraph:
        nodes = [
            GraphEntity(f"entity:{n:016x}", text, text, text, (text, "plain"), n, 1, "rules")
            for n, text in enumerate(HOSTILE)
        ]
        triplets = [
            Triplet(f"relation:{n:016x}", one.id, one.name, text, other.id, other.name, text, n / 4, "1883", "rules")
            for n, (one, other, text) in enumerate(zip(nodes, nodes[1:], HOSTILE, strict=False))
        ]
        return cls(nodes, triplets)

    def counts(self) -> dict[str, int]:
        return {"entities": len(self.nodes), "relations": len(self.triplets)}

    def entity_at(self, number: int) -> str:
        return self.nodes[number].id

    def entities(self, ids: Collection[str]) -> dict[str, GraphEntity]:
        return {node.id: node for node in self.nodes if node.id in ids}

    def relations_at(self, numbers: Collection[int]) -> dict[int, Triplet]:
        return {number: self.triplets[number] for number in numbers}

    def relation_chunks(self, ids: Collection[str]) -> dict[str, list[str]]:
        return {id: [f"article:{n}:s0:p0:c0" for n in range(2)] for id in ids}


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Index:
    monkeypatch.setattr("ragways.index.export._AT_ONCE", 5)
    return cast(Index, SimpleNamespace(graph=HostileGraph.make(), require=lambda layers: None))


def expected(index: Index) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    graph = cast(HostileGraph, index.graph)
    nodes = [{name: getattr(node, name) for name in NODES} | {"aliases": list(node.aliases)} for node in graph.nodes]
    edges = [
        {
            "id": each.id, "source": each.subject, "target": each.object, "predicate": each.predicate,
            "description": each.description, "weight": each.weight, "date": each.date, "way": each.way,
            "chunks": graph.relation_chunks([each.id])[each.id],
        }
        for each in graph.triplets
    ]  # fmt: skip
    return nodes, edges


def by_id(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return sorted(rows, key=lambda row: str(row["id"]))


def test_json(index: Index, tmp_path: Path):
    counts = export(index, "json", tmp_path / "graph.json")
    data = json.loads((tmp_path / "graph.json").read_text(encoding="utf-8"))
    nodes, edges = expected(index)
    assert by_id(data["nodes"]) == nodes
    assert by_id(data["edges"]) == edges
    assert counts == (len(nodes), len(edges))


def test_csv(index: Index, tmp_path: Path):
    export(index, "csv", tmp_path / "out")
    nodes, edges = expected(index)
    for name, wanted in (("nodes", nodes), ("edges", edges)):
        with (tmp_path / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows: list[dict[str, object]] = [dict(row) for row in csv.DictReader(file)]
        flat = [
            {k: json.dumps(v, ensure_ascii=False) if isinstance(v, list) else str(v) for k, v in row.items()}
            for row in wanted
        ]
        # A text that a spreadsheet would run has an apostrophe before it.
        guarded = [
            {k: f"'{v}" if v.lstrip(" ")[:1] in set("=+-@\t\r\n") else v for k, v in row.items()} for row in flat
        ]
        assert by_id(rows) == guarded


def test_parquet(index: Index, tmp_path: Path):
    export(index, "parquet", tmp_path / "out")
    nodes, edges = expected(index)
    assert by_id(pyarrow.parquet.read_table(tmp_path / "out" / "nodes.parquet").to_pylist()) == nodes
    assert by_id(pyarrow.parquet.read_table(tmp_path / "out" / "edges.parquet").to_pylist()) == edges


def as_xml(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(c for c in text if c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff"))


def test_graphml(index: Index, tmp_path: Path):
    export(index, "graphml", tmp_path / "graph.graphml")
    root = ElementTree.parse(tmp_path / "graph.graphml").getroot()
    graph = root.find(f"{NAMESPACE}graph")
    assert graph is not None
    keys = {key.get("id"): key.get("attr.name") for key in root.findall(f"{NAMESPACE}key")}

    def read(element: ElementTree.Element) -> dict[str, object]:
        values = {str(keys[data.get("key")]): data.text or "" for data in element.findall(f"{NAMESPACE}data")}
        return {**element.attrib, **values}

    nodes, edges = expected(index)
    for tag, wanted in (("node", nodes), ("edge", edges)):
        rows = by_id([read(element) for element in graph.findall(f"{NAMESPACE}{tag}")])
        flat = [
            {k: as_xml(json.dumps(v, ensure_ascii=False) if isinstance(v, list) else str(v)) for k, v in row.items()}
            for row in wanted
        ]
        assert rows == flat


def test_without_pyarrow_the_cure_is_its_install_line(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = builtins.__import__

    def without(name: str, *rest, **named):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingPart, match=r"pip install 'ragways\[parquet\]'"):
        export(index, "parquet", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_places_that_cannot_be_written(index: Index, tmp_path: Path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(UsageError, match="cannot write"):
        export(index, "json", tmp_path / "file" / "graph.json")
    with pytest.raises(UsageError, match="cannot make the folder"):
        export(index, "csv", tmp_path / "file")
    with pytest.raises(UsageError, match="cannot write"):
        export(index, "graphml", tmp_path)
    assert (tmp_path / "file").read_text() == "kept"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_an_unknown_format(index: Index, tmp_path: Path):
    with pytest.raises(UsageError, match="did you mean graphml"):
        export(index, "graphxml", tmp_path / "x")


def test_all_of_a_real_graph_goes_out_and_an_index_without_one_is_an_error(tmp_path: Path):
    docs = {"a.md": "# Anna Brack\n\nAnna Brack met Carl Dorn in Port Averne. Carl Dorn sailed to Skelwick.\n"}
    folder = indexed(tmp_path, docs, "graph")
    with closing(Index.open(folder)) as opened:
        counts = opened.graph.counts()
        assert export(opened, "json", tmp_path / "graph.json") == (counts["entities"], counts["relations"])
    data = json.loads((tmp_path / "graph.json").read_text())
    assert {"Anna Brack", "Carl Dorn"} <= {node["name"] for node in data["nodes"]}
    ids = {node["id"] for node in data["nodes"]}
    assert data["edges"]
    assert all(edge["source"] in ids and edge["target"] in ids and edge["chunks"] for edge in data["edges"])
    with closing(Index.open(indexed(tmp_path / "other", docs))) as opened, pytest.raises(MissingLayer, match="--with"):
        export(opened, "json", tmp_path / "x")
