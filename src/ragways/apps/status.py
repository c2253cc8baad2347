"""What an index holds, as data and as a table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ragways.core.text import printable
from ragways.index.health import layer_status
from ragways.index.reader import Index


def status_data(folder: Path, *, with_documents: bool) -> dict[str, Any]:
    index = Index.open(folder)
    try:
        data: dict[str, Any] = {
            "index": str(folder),
            "generation": index.generation,
            "layers": ["structure", *sorted(index.layers)],
            "embedder": index.embedder,
            "chunking": index.chunking,
            "counts": index.counts(),
            "by_layer": [asdict(layer) for layer in layer_status(folder)],
            "bytes": sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()),
        }
        if with_documents:
            data["documents"] = [{"id": id, "key": key, "title": title} for id, key, title in index.documents()]
        return data
    finally:
        index.close()


def show_status(data: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    from ragways.apps.terminal import console

    table = Table(title=Text(printable(data["index"])), show_header=False)
    for name, count in data["counts"].items():
        table.add_row(name, f"{count:,}")
    table.add_row("embedder", Text(data["embedder"] or "none"))
    table.add_row("chunking", data["chunking"])
    table.add_row("size", f"{data['bytes'] / 1e6:.1f} MB")
    console().print(table)
    layers = Table("layer", "rows", "size", "built", "not done", "cost so far")
    for layer in data["by_layer"]:
        if layer["built"]:
            size = f"{layer['bytes'] / 1e6:.1f} MB"
            said = (f"{layer['rows']:,}", size, layer["built_at"], str(layer["failures"]), _cost(layer["spent"]))
            layers.add_row(layer["name"], *said)
        else:
            layers.add_row(layer["name"], "not built", "", "", "", "", style="dim")
    console().print(layers)
    if "documents" in data:
        documents = Table("id", "key", "title")
        for document in data["documents"]:
            documents.add_row(*(Text(printable(document[name])) for name in ("id", "key", "title")))
        console().print(documents)


def _cost(spent: dict[str, Any]) -> str:
    """Seconds are those of the work itself, which may have run side by side."""
    worked = f"{spent['seconds']:.1f} s" if spent["seconds"] else ""
    if not spent["calls"]:
        return worked
    tokens = f"{spent['input']:,} + {spent['output']:,} tokens"
    return f"${spent['usd']:.4f}, {spent['calls']:,} calls, {tokens}, {worked}"
