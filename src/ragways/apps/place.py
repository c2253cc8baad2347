"""What an id of evidence stands for: a document or a part of it in its place, an entity, a relation or a report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ragways.apps.terminal import console, print_json
from ragways.core.errors import UsageError
from ragways.core.text import printable
from ragways.core.types import title_name
from ragways.index.reader import Index

AROUND = 400
"""Characters shown before and after a part."""
LISTED = 20
"""Relations, members or chunks that are shown."""


def show_place(folder: Path, id: str, as_json: bool) -> None:
    with closing(Index.open(folder)) as index:
        data = _found(index, id)
    if data is None:
        raise UsageError(
            f"nothing in this index has the id or title {id!r}", "ids stand beside evidence in: ragways ask"
        )
    if as_json:
        print_json({name: value for name, value in data.items() if not name.startswith("_")})
    elif "key" in data:
        _show_part(data)
    else:
        _show_facts(data)


def _found(index: Index, id: str) -> dict[str, Any] | None:
    kind = id.partition(":")[0]
    if kind == "entity" and "graph" in index.layers:
        return _entity(index, id)
    if kind == "relation" and "graph" in index.layers:
        return _relation(index, id)
    if kind == "community" and "communities" in index.layers:
        return _community(index, id)
    return _part(index, id) or _part(index, _by_title(index, id))


def _by_title(index: Index, title: str) -> str:
    return next((id for id, _, name in index.documents() if title_name(name) == title_name(title)), "")


def _part(index: Index, id: str) -> dict[str, Any] | None:
    place = index.place(id) if id else None
    if place is None:
        return None
    document, start, end = place
    first, last = max(0, start - AROUND), min(len(document.text), end + AROUND)
    return {"id": id, "document": document.id, "key": document.key, "title": document.title,
            "metadata": dict(document.metadata), "start": start, "end": end, "text": document.text[start:end],
            "_before": ("… " if first else "") + document.text[first:start],
            "_after": document.text[end:last] + (" …" if last < len(document.text) else "")}  # fmt: skip


def _entity(index: Index, id: str) -> dict[str, Any] | None:
    entity = index.graph.entities([id]).get(id)
    if entity is None:
        return None
    relations = {one.id: one.text for one in index.graph.triplets([id], LISTED)}
    named_in = [chunk for chunk, _ in index.graph.mentions([id], LISTED)]
    return {"id": id, "title": entity.name, "type": entity.type, "description": entity.description,
            "aliases": list(entity.aliases), "way": entity.way, "relations": relations,
            "chunks": _texts(index, named_in)}  # fmt: skip


def _relation(index: Index, id: str) -> dict[str, Any] | None:
    one = index.graph.relations([id]).get(id)
    if one is None:
        return None
    stated_in = index.graph.relation_chunks([id]).get(id, [])[:LISTED]
    return {"id": id, "title": one.text, "subject": one.subject, "predicate": one.predicate, "object": one.object,
            "description": one.description, "weight": one.weight, "date": one.date, "way": one.way,
            "chunks": _texts(index, stated_in)}  # fmt: skip


def _community(index: Index, id: str) -> dict[str, Any] | None:
    one = index.communities.communities([id]).get(id)
    if one is None:
        return None
    report = index.communities.report(id)
    members = index.graph.entities(index.communities.members(id)[:LISTED])
    return {"id": id, "title": one.title, "summary": one.summary, "level": one.level, "parent": one.parent,
            "size": one.size, "way": one.way, "findings": [one.text for one in report.findings] if report else [],
            "members": {member.id: member.name for member in members.values()}}  # fmt: skip


def _texts(index: Index, ids: Sequence[str]) -> dict[str, str]:
    return {id: piece.text for id, piece in index.pieces(ids).items()}


def _show_part(data: dict[str, Any]) -> None:
    """The part between marks where there is no colour to tell it from what stands around it."""
    from rich.text import Text

    out = console()
    left, right = ("", "") if out.color_system else ("⟦", "⟧")
    whole = not data["_before"] and not data["_after"]
    text = Text.assemble((printable(data["title"]), "bold"), f"  {printable(data['key'])}\n\n")
    text.append(printable(data["_before"]), style="dim")
    text.append(printable(data["text"]) if whole else f"{left}{printable(data['text'])}{right}")
    text.append(printable(data["_after"]), style="dim")
    out.print(text)


def _show_facts(data: dict[str, Any]) -> None:
    from rich.text import Text

    out = console()
    out.print(Text.assemble((printable(data["title"]), "bold"), f"  {data['id']}\n"))
    for name, value in data.items():
        if name in ("id", "title") or value in ("", [], {}, None):
            continue
        lines = (
            [f"{key}  {text}" for key, text in value.items()] if isinstance(value, dict)
            else value if isinstance(value, list) else [str(value)]
        )  # fmt: skip
        body = printable("\n".join(" ".join(line.split()) for line in lines))
        out.print(Text.assemble((f"{name}\n" if len(lines) > 1 else f"{name}: ", "bold"), body), soft_wrap=True)
