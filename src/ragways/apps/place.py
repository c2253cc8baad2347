"""A document, or a part of it in its place."""

from __future__ import annotations

from pathlib import Path

from ragways.apps.options import printable
from ragways.apps.terminal import console, print_json
from ragways.core.errors import UsageError
from ragways.index.reader import Index

AROUND = 400
"""Characters shown before and after a part."""


def show_place(folder: Path, id: str, as_json: bool) -> None:
    index = Index.open(folder)
    try:
        place = index.place(id)
        if place is None:
            raise UsageError(f"nothing in this index has the id {id!r}", "ids stand beside evidence in: ragways ask")
        document, start, end = place
    finally:
        index.close()
    if as_json:
        shown = document.text[start:end]
        print_json({"id": id, "document": document.id, "key": document.key, "title": document.title,
                    "metadata": dict(document.metadata), "start": start, "end": end, "text": shown})  # fmt: skip
        return
    from rich.text import Text

    first, last = max(0, start - AROUND), min(len(document.text), end + AROUND)
    text = Text.assemble((printable(document.title), "bold"), f"  {document.key}\n\n", ("… " if first else "", "dim"))
    text.append(printable(document.text[first:start]), style="dim")
    text.append(printable(document.text[start:end]))
    text.append(printable(document.text[end:last]), style="dim")
    text.append(" …" if last < len(document.text) else "", style="dim")
    console().print(text)
