"""What goes out in every format comes back the same, whatever documents put into names."""

from __future__ import annotations

import asyncio
import builtins
import csv
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import networkx
import pyarrow.parquet
import pytest

from ragways.core.errors import MissingLayer, MissingPart, UsageError
from ragways.index.build import build
from ragways.index.export import export
from ragways.index.graph.tables import write_arrays
from ragways.index.graph.told_texts import packed_texts, unpacked_texts
from ragways.index.reader import Index
from tests.fakes import recipe, reseal, write
from tests.index.graph.graph_fakes import plain

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


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """A graph with every hostile text as a name, a description, an alias and a predicate."""
    folder = tmp_path_factory.mktemp("export")
    docs = {"a.md": "# Anna Brack\n\nAnna Brack met Carl Dorn in Port Averne. Carl Dorn sailed to Skelwick.\n"}
    asyncio.run(
        build(
            folder / "index",
            [write(folder / "docs", docs)],
            recipe(layers=frozenset({"vectors", "words", "graph"}), settings={"graph": {}}),
        )
    )
    make_hostile(folder / "index")
    opened = Index.open(folder / "index")
    yield opened
    opened.close()


def make_hostile(folder: Path) -> None:
    """Put the hostile texts into the graph of an index."""
    with closing(sqlite3.connect(folder / "index.sqlite")) as db:
        (first,) = db.execute("SELECT min(id) FROM graph_entities").fetchone()
        (document,) = db.execute("SELECT document FROM graph_contents").fetchone()
        (packed,) = db.execute("SELECT texts FROM graph_texts WHERE document = ?", (document,)).fetchone()
        (whole,) = db.execute("SELECT text FROM documents WHERE number = ?", (document,)).fetchone()
        known = unpacked_texts(packed, whole)
        first_text = len(known)
        db.execute(
            "UPDATE graph_texts SET texts = ? WHERE document = ?", (packed_texts([*known, *HOSTILE], whole), document)
        )
        for n, text in enumerate(HOSTILE, start=1):
            names = json.dumps({text: 1, "plain": 1}, ensure_ascii=False)
            db.execute(
                "INSERT INTO graph_entities VALUES (?, ?, ?, 2, 'rules', ?, '[{},{},{}]')", (n, text, text, names)
            )
            packed = packed_texts([text], whole)
            db.execute("INSERT INTO graph_descriptions VALUES (?, ?, ?)", (n, document, packed))
            db.execute("INSERT INTO graph_predicates VALUES (?, ?, 'rules', 1)", (1000 + n, text))
            db.execute(
                "INSERT INTO graph_shared_relations VALUES (?, ?, ?, ?, 1500000, ?, ?)",
                (n, n, first, 1000 + n, text, json.dumps([[document, first_text + n - 1]])),
            )
        db.commit()
        write_arrays(db, folder / "derived" / "1")
    reseal(folder)


def expected(index: Index) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    db = plain(index._store.db)
    nodes = [
        dict(zip(("id", "name", "type", "description", "aliases", "count", "chunks", "way"), row, strict=True))
        for row in db.execute(
            "SELECT id, name, type, description, aliases, count, chunks, way FROM entities ORDER BY 1"
        )
    ]
    for node in nodes:
        node["aliases"] = json.loads(str(node["aliases"]))
    ids = dict(db.execute("SELECT ordinal, id FROM entities").fetchall())
    chunks = dict(db.execute("SELECT ordinal, id FROM chunks").fetchall())
    edges = []
    query = "SELECT ordinal, id, subject, object, predicate, description, weight, date, way FROM relations ORDER BY id"
    for ordinal, id, subject, object, predicate, description, weight, date, way in db.execute(query).fetchall():
        stated = db.execute("SELECT chunk FROM relation_chunks WHERE relation = ? ORDER BY chunk", (ordinal,))
        edges.append(
            {
                "id": id, "source": ids[subject], "target": ids[object], "predicate": predicate,
                "description": description, "weight": weight, "date": date, "way": way,
                "chunks": [chunks[row[0]] for row in stated],
            }
        )  # fmt: skip
    db.close()
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


def test_graphml_as_networkx_reads_it(index: Index, tmp_path: Path):
    export(index, "graphml", tmp_path / "graph.graphml")
    graph = networkx.read_graphml(tmp_path / "graph.graphml", force_multigraph=True)
    nodes, edges = expected(index)
    assert sorted(graph.nodes) == [node["id"] for node in nodes]
    assert graph.number_of_edges() == len(edges)
    assert sum(data["weight"] for *_, data in graph.edges(data=True)) == pytest.approx(
        sum(float(str(edge["weight"])) for edge in edges)
    )


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


def test_folders_that_are_not_there_are_made(index: Index, tmp_path: Path):
    for form, name in (("json", "graph.json"), ("csv", "tables")):
        export(index, form, tmp_path / "not" / "yet" / name)
        assert (tmp_path / "not" / "yet" / name).exists()


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


def test_no_graph(tmp_path: Path):
    asyncio.run(build(tmp_path / "index", [write(tmp_path / "docs", {"a.txt": "Nothing."})], recipe()))
    index = Index.open(tmp_path / "index")
    with pytest.raises(MissingLayer, match="--with"):
        export(index, "json", tmp_path / "x")
    index.close()
