"""The knowledge graph as a file that other programs read: GraphML, CSV, JSON or Parquet.

Rows go from the index to the file some at a time, so a graph of any size takes the same memory. Names and texts are
what documents say: they are written as data in each format's own way, and nothing in them is left to be interpreted.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from xml.sax.saxutils import escape, quoteattr

from ragways.core.errors import MissingPart, UsageError, did_you_mean
from ragways.core.plain import to_plain
from ragways.index.open import Index
from ragways.layers import files

if TYPE_CHECKING:
    from ragways.layers.protocols import Graph

Row = Mapping[str, Any]

NODES = {
    "id": str, "name": str, "type": str, "description": str, "aliases": list, "count": int, "chunks": int, "way": str,
}  # fmt: skip
"""Fields of a node. `count` is how often it is named, `chunks` in how many chunks."""
EDGES = {
    "id": str, "source": str, "target": str, "predicate": str, "description": str, "weight": float, "date": str,
    "way": str, "chunks": list,
}  # fmt: skip
"""Fields of an edge, from subject to object. `chunks` are the ids of those that state it."""

_AT_ONCE = 10_000


def export(index: Index, form: str, out: Path) -> tuple[int, int]:
    """Write the graph; gives the number of nodes and of edges. CSV and Parquet make a folder of two files."""
    if form not in FORMATS:
        raise UsageError(f"there is no format {form!r}", did_you_mean(form, FORMATS))
    index.require(["graph"])
    nodes, edges = Counted(_nodes(index.graph)), Counted(_edges(index.graph))
    FORMATS[form](nodes, edges, out)
    return nodes.count, edges.count


class Counted:
    """Rows that are counted as they pass."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self.count += 1
            yield row


def _nodes(graph: Graph) -> Iterator[Row]:
    size = graph.counts()["entities"]
    for at in range(0, size, _AT_ONCE):
        ids = [graph.entity_at(number) for number in range(at, min(at + _AT_ONCE, size))]
        for _, entity in sorted(graph.entities(ids).items()):
            yield {name: getattr(entity, name) for name in NODES} | {"aliases": list(entity.aliases)}


def _edges(graph: Graph) -> Iterator[Row]:
    size = graph.counts()["relations"]
    for at in range(0, size, _AT_ONCE):
        found = graph.relations_at(range(at, min(at + _AT_ONCE, size)))
        stating = graph.relation_chunks([triplet.id for triplet in found.values()])
        for triplet in sorted(found.values(), key=lambda triplet: triplet.id):
            other = {"source": triplet.subject, "target": triplet.object, "chunks": stating.get(triplet.id, [])}
            yield {name: other[name] if name in other else getattr(triplet, name) for name in EDGES}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A draft to write to, which takes the place of `path` when it is whole: never half a file, never a lost one.

    Folders that are not there are made.
    """
    if not path.name:
        raise UsageError(f"cannot write {path}: it is a folder", "name a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with files.replacing(path) as draft:
            yield draft
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}", "name another place") from error


def write_json(file: Path, value: object) -> None:
    """A value as a file of JSON, all of it or none."""
    with replacing(file) as draft:
        draft.write_text(json.dumps(to_plain(value), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


# Formats


def _json(nodes: Iterable[Row], edges: Iterable[Row], out: Path) -> None:
    with replacing(out) as draft, draft.open("w", encoding="utf-8") as file:
        file.write('{"nodes": [')
        _json_rows(file, nodes)
        file.write('],\n"edges": [')
        _json_rows(file, edges)
        file.write("]}\n")


def _json_rows(file: TextIO, rows: Iterable[Row]) -> None:
    for number, row in enumerate(rows):
        file.write(",\n" if number else "\n")
        file.write(json.dumps(row, ensure_ascii=False))


def _csv(nodes: Iterable[Row], edges: Iterable[Row], out: Path) -> None:
    for name, fields, rows in (("nodes", NODES, nodes), ("edges", EDGES, edges)):
        with replacing(_inside(out, f"{name}.csv")) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(fields))
            writer.writeheader()
            for row in rows:
                writer.writerow({key: _cell(value) for key, value in row.items()})


def _cell(value: object) -> object:
    """A spreadsheet takes a text that begins so for a formula and runs it: an apostrophe before it makes it text."""
    flat = _flat(value)
    return (
        f"'{flat}"
        if isinstance(flat, str) and flat.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
        else flat
    )


def _parquet(nodes: Iterable[Row], edges: Iterable[Row], out: Path) -> None:
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise MissingPart("Parquet files need pyarrow", "pip install 'ragways[parquet]'") from error
    kinds = {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        list: pyarrow.list_(pyarrow.string()),
    }
    for name, fields, rows in (("nodes", NODES, nodes), ("edges", EDGES, edges)):
        schema = pyarrow.schema([(field, kinds[kind]) for field, kind in fields.items()])
        rest = iter(rows)
        with replacing(_inside(out, f"{name}.parquet")) as draft, ParquetWriter(draft, schema) as writer:
            while some := list(islice(rest, _AT_ONCE)):
                writer.write_table(pyarrow.Table.from_pylist(some, schema=schema))


def _inside(folder: Path, name: str) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}", "name another place") from error
    return folder / name


def _graphml(nodes: Iterable[Row], edges: Iterable[Row], out: Path) -> None:
    with replacing(out) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for of, fields in (("node", NODES), ("edge", EDGES)):
            for name, kind in fields.items():
                if name not in _ATTRIBUTES:
                    file.write(
                        f'<key id="{of}-{name}" for="{of}" attr.name="{name}" attr.type="{_XML_TYPES[kind]}"/>\n'
                    )
        file.write('<graph edgedefault="directed">\n')
        for row in nodes:
            file.write(f"<node id={_attribute(row['id'])}>{_data('node', row)}</node>\n")
        for row in edges:
            ends = f"id={_attribute(row['id'])} source={_attribute(row['source'])} target={_attribute(row['target'])}"
            file.write(f"<edge {ends}>{_data('edge', row)}</edge>\n")
        file.write("</graph>\n</graphml>\n")


_ATTRIBUTES = ("id", "source", "target")
_XML_TYPES = {str: "string", list: "string", int: "long", float: "double"}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""


def _data(of: str, row: Row) -> str:
    return "".join(
        f'<data key="{of}-{name}">{_text(_flat(value))}</data>'
        for name, value in row.items()
        if name not in _ATTRIBUTES
    )


def _text(value: object) -> str:
    # A bare carriage return would come back as a line feed.
    return escape(_NOT_XML.sub("", str(value)), {"\r": "&#13;"})


def _attribute(value: object) -> str:
    return quoteattr(_NOT_XML.sub("", str(value)))


def _flat(value: object) -> object:
    """Lists as JSON, where a format has no lists."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


FORMATS: dict[str, Callable[[Iterable[Row], Iterable[Row], Path], None]] = {
    "graphml": _graphml,
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
}
