"""`ragways graph`: the knowledge graph as files for other programs, as text, and as pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.options import IndexOption, JsonOption, SettingsOption, index_folder, printable

if TYPE_CHECKING:
    from ragways.apps.picture.neighbourhood import Member, Neighbourhood
    from ragways.index.graph.reader import Graph, GraphEntity
    from ragways.index.reader import Index

MOST_LINES = 60
"""Neighbours that are shown as text; a picture or JSON has all."""
_PREDICATES = 3
_ALL = -1
_PLAIN = ("related to", "links to")
"""Predicates that say little, shown after those that say more."""

app = typer.Typer(
    help="Look at the knowledge graph, or take it elsewhere.", no_args_is_help=True, rich_markup_mode=None
)


class Format(StrEnum):
    graphml = "graphml"
    csv = "csv"
    json = "json"
    parquet = "parquet"


@app.command()
def export(
    out: Annotated[Path, typer.Option("--out", help="File to write; for csv and parquet a folder of two.")],
    form: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.graphml,
    index: IndexOption = None,
    settings: SettingsOption = None,
    json: JsonOption = False,
) -> None:
    """Write the knowledge graph to a file that other programs read."""
    from ragways.index.export import export as write

    with _opened(settings, index) as opened:
        nodes, edges = write(opened, form.value, out)
    if json:
        from ragways.apps.terminal import print_json

        print_json({"out": str(out), "format": form.value, "nodes": nodes, "edges": edges})
    else:
        typer.echo(f"{out}: {nodes:,} nodes, {edges:,} edges")


@app.command()
def show(
    entity: Annotated[str, typer.Argument(help="Name or id of an entity.", metavar="ENTITY")],
    hops: Annotated[int, typer.Option("--hops", help="Steps to go from it.", min=1, max=6)] = 1,
    html: Annotated[Path | None, typer.Option("--html", help="Write a picture to this file.")] = None,
    index: IndexOption = None,
    settings: SettingsOption = None,
    json: JsonOption = False,
) -> None:
    """Show an entity and what is around it, with the sentences that say so."""
    from ragways.apps.picture.names import find_entity
    from ragways.apps.picture.neighbourhood import gather

    with _opened(settings, index) as opened, _graph(opened) as (graph, folder):
        first, *others = find_entity(graph, folder, entity)
        shown = gather(opened, graph, first, hops=hops)
        namesakes = list(graph.entities(others).values())
    if html is not None:
        from ragways.apps.picture.page import page
        from ragways.apps.picture.shell import write_page

        write_page(html, page(shown))
    if json:
        from ragways.apps.terminal import print_json

        print_json({**shown.data(), "namesakes": [{"id": e.id, "name": e.name, "type": e.type} for e in namesakes]})
    elif html is not None:
        typer.echo(f"wrote {html}: {len(shown.members):,} entities, {len(shown.relations):,} relations")
    else:
        _show_text(shown, namesakes)


@app.command()
def heatmap(
    document: Annotated[str, typer.Argument(help="Id, key or title of a document.", metavar="DOCUMENT")],
    html: Annotated[Path, typer.Option("--html", help="File to write.")],
    index: IndexOption = None,
    settings: SettingsOption = None,
) -> None:
    """Write a picture of how similar the windows of a document are to each other."""
    from ragways.apps.picture.shell import write_page
    from ragways.index.windows.heatmap import heatmap as draw

    with _opened(settings, index) as opened:
        opened.require(["windows"])
        text = draw(opened, _document(opened, document))
    write_page(html, text)
    typer.echo(f"wrote {html}")


@app.command()
def merges(index: IndexOption = None, settings: SettingsOption = None, json: JsonOption = False) -> None:
    """List names that were taken for the same entity, with the reason."""
    with _opened(settings, index) as opened, _graph(opened) as (graph, _):
        found = graph.merges(limit=_ALL)
        entities = graph.entities({row[0] for row in found})
    if json:
        from ragways.apps.terminal import print_json

        keys = ("entity", "name", "into", "reason", "documents")
        print_json([dict(zip(keys, row, strict=True)) for row in found])
        return
    from rich.table import Table

    from ragways.apps.terminal import console

    table = Table("name", "taken for", "reason", "documents", "entity")
    for id, name, into, reason, documents in found[:MOST_LINES]:
        said = (name, into, reason, f"{documents:,}", entities[id].name)
        table.add_row(*(printable(text) for text in said))
    console().print(table)
    if len(found) > MOST_LINES:
        console().print(f"and {len(found) - MOST_LINES:,} more: all of them with --json", style="dim")


@app.command()
def split(
    name: Annotated[str, typer.Argument(help="A name that was taken for another.", metavar="NAME")],
    other: Annotated[str, typer.Argument(help="The name it was taken for.", metavar="OTHER")],
    index: IndexOption = None,
    settings: SettingsOption = None,
) -> None:
    """Undo a merge of two names for good, from the next run of `ragways index` on."""
    from ragways.core.errors import UsageError
    from ragways.index.graph.layer import split as undo
    from ragways.index.graph.resolve import veto_hash

    with _opened(settings, index) as opened, _graph(opened) as (graph, _):
        merged = {veto_hash(one, into) for _, one, into, _, _ in graph.merges(limit=_ALL)}
        folder = opened.folder
    if veto_hash(name, other) not in merged:
        raise UsageError(f"{name!r} and {other!r} were not merged", "see what was with: ragways graph merges")
    undo(folder, name, other)
    typer.echo(f"{printable(name)} and {printable(other)} will be two entities after the next run of: ragways index")


@contextmanager
def _opened(settings: Path | None, index: Path | None) -> Iterator[Index]:
    from ragways.index.reader import Index

    opened = Index.open(index_folder(settings, index))
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def _graph(index: Index) -> Iterator[tuple[Graph, Path]]:
    from ragways.core.errors import StoreBusy
    from ragways.index.folder import derived_folder
    from ragways.index.graph.reader import Graph

    index.require(["graph"])
    folder = derived_folder(index.folder, index.generation)
    if not folder.is_dir():
        raise StoreBusy("the index was rebuilt while it was being read", "run again")
    graph = Graph.open(folder)
    try:
        yield graph, folder
    finally:
        graph.close()


def _document(index: Index, name: str) -> str:
    """The id of the document that is called so."""
    from ragways.core.errors import UsageError, did_you_mean
    from ragways.core.types import title_name

    documents = index.documents()
    for id, key, title in documents:
        if name in (id, key) or title_name(name) == title_name(title):
            return id
    near = did_you_mean(name, (title for _, _, title in documents)) if documents else ""
    cure = near if near.startswith("did") else "see them with: ragways status --documents"
    raise UsageError(f"no document is called {name!r}", cure)


# As text


def _show_text(shown: Neighbourhood, namesakes: list[GraphEntity]) -> None:
    from rich.text import Text
    from rich.tree import Tree

    from ragways.apps.terminal import console

    joined = _joined(shown)
    tree = Tree(_centre(shown.members[0]))
    branches = {shown.centre.id: tree}
    for member in shown.members[1 : MOST_LINES + 1]:
        said = joined.get(frozenset((member.through, member.entity.id)), [])
        branches[member.entity.id] = branches[member.through].add(_line(member, said))
    out = console()
    out.print(tree)
    hidden = len(shown.members) - 1 - MOST_LINES
    if hidden > 0:
        out.print(f"and {hidden:,} more: all of them with --json, or as a picture with --html FILE", style="dim")
    if shown.cut:
        out.print(shown.cut, style="dim")
    for entity in namesakes:
        namesake = f"of the same name: {entity.name} ({entity.type or 'no type'}) {entity.id}"
        out.print(Text(printable(namesake), style="dim"))


def _joined(shown: Neighbourhood) -> dict[frozenset[str], list[str]]:
    """What is said of each pair, heaviest first; a predicate against the way of reading is marked."""
    found: dict[frozenset[str], list[str]] = {}
    place = {member.entity.id: number for number, member in enumerate(shown.members)}
    named = [(said.triplet, said.triplet.predicate.replace("_", " ")) for said in shown.relations]
    for triplet, predicate in sorted(named, key=lambda pair: pair[1] in _PLAIN):
        outwards = place[triplet.subject] < place[triplet.object]
        text = f"{predicate} →" if outwards else f"← {predicate}"
        found.setdefault(frozenset((triplet.subject, triplet.object)), []).append(text)
    return found


def _centre(member: Member) -> Any:  # noqa: ANN401 - a text of rich, which is loaded when something is shown
    from rich.text import Text

    entity = member.entity
    kind = f"  {printable(entity.type)}" if entity.type else ""
    text = Text.assemble((printable(entity.name), "bold"), kind, ("  " + entity.id, "dim"))
    text.append(f"\nnamed {entity.count:,} times in {entity.chunks:,} chunks", style="dim")
    if entity.aliases:
        text.append(f"; also {printable(', '.join(entity.aliases[:8]))}", style="dim")
    if entity.description:
        text.append(f"\n{printable(entity.description)}")
    for quote in member.quotes:
        text.append(f"\n“{printable(quote.text)}”", style="italic")
        text.append(f" {printable(quote.title)}, {quote.chunk}", style="dim")
    return text


def _line(member: Member, said: list[str]) -> Any:  # noqa: ANN401
    from rich.text import Text

    shown = ", ".join(dict.fromkeys(said[:_PREDICATES])) + (" …" if len(said) > _PREDICATES else "")
    kind = f"  {member.entity.type}" if member.entity.type else ""
    parts = ((f"{shown} " if shown else "", "dim"), (member.entity.name, "bold"), (kind, "dim"))
    return Text.assemble(*((printable(text), style) for text, style in parts))
