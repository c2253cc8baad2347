"""`ragways graph`: the knowledge graph as files for other programs, as text, and as pictures."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import JsonOption, print_json, show_table, with_settings, write_line
from ragways.core.errors import UsageError
from ragways.core.plain import to_plain
from ragways.core.table import Table
from ragways.core.text import counted, printable

if TYPE_CHECKING:
    from ragways.index.open import Index
    from ragways.settings import Settings

LISTED = 60
"""Merges that are shown as text; JSON has all."""

app = typer.Typer(
    help="Look at the knowledge graph, or take it elsewhere.", no_args_is_help=True, rich_markup_mode=None
)


class Format(StrEnum):
    graphml = "graphml"
    csv = "csv"
    json = "json"
    parquet = "parquet"


@app.command()
@with_settings("index")
def export(
    chosen: Settings,
    out: Annotated[Path, typer.Option("--out", help="File to write; for csv and parquet a folder of two.")],
    form: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.graphml,
    json: JsonOption = False,
) -> None:
    """Write the knowledge graph to a file that other programs read."""
    from ragways.index.export import export as write

    with _opened(chosen) as opened:
        nodes, edges = write(opened, form.value, out)
    if json:
        print_json({"out": str(out), "format": form.value, "nodes": nodes, "edges": edges})
    else:
        typer.echo(f"{out}: {nodes:,} nodes, {edges:,} edges")


@app.command()
@with_settings("index")
def show(
    chosen: Settings,
    entity: Annotated[str, typer.Argument(help="Name or id of an entity.", metavar="ENTITY")],
    hops: Annotated[int, typer.Option("--hops", help="Steps to go from it.", min=1, max=6)] = 1,
    windows: Annotated[
        bool, typer.Option("--windows", help="ENTITY is a document: its windows in 2D and 3D, with --html.")
    ] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a picture to this file.")] = None,
    json: JsonOption = False,
) -> None:
    """Show an entity and what is around it, with the sentences that say so; or the windows of a document."""
    if windows:
        _show_windows(chosen, entity, html, json)
        return
    from ragways.pictures.neighbourhood import neighbourhood

    with _opened(chosen) as opened:
        shown = neighbourhood(opened, entity, hops=hops)
    if html is not None:
        from ragways.pictures.shell import write_page

        write_page(html, shown.page())
    if json:
        print_json(to_plain(shown))
    elif html is not None:
        entities = counted(len(shown.nodes), "entity", "entities")
        typer.echo(f"wrote {html}: {entities}, {counted(len(shown.edges), 'relation')}")
    else:
        write_line(repr(shown))


def _show_windows(settings: Settings, document: str, html: Path | None, json: bool) -> None:
    from ragways.pictures.shell import write_page
    from ragways.pictures.window_map import document_map, map_page

    if html is None and not json:
        raise UsageError("windows are shown as a picture", "name its file with --html FILE")
    with _opened(settings) as opened:
        if html is not None:
            write_page(html, map_page(opened, document))
        if json:
            print_json(to_plain(document_map(opened, document)))
        else:
            typer.echo(f"wrote {html}")


@app.command()
@with_settings("index")
def heatmap(
    chosen: Settings,
    document: Annotated[str, typer.Argument(help="Id, key or title of a document.", metavar="DOCUMENT")],
    html: Annotated[Path, typer.Option("--html", help="File to write.")],
) -> None:
    """Write a picture of how similar the windows of a document are to each other."""
    from ragways.pictures.heatmap import heatmap as draw
    from ragways.pictures.shell import write_page

    with _opened(chosen) as opened:
        write_page(html, draw(opened, document))
    typer.echo(f"wrote {html}")


@app.command()
@with_settings("index")
def merges(chosen: Settings, json: JsonOption = False) -> None:
    """List names that were taken for the same entity, with the reason."""
    with _opened(chosen) as opened:
        rows = [*opened.graph.merges()]
        entities = opened.graph.entities({row[0] for row in rows}, described=False)
    if json:
        keys = ("entity", "name", "into", "reason", "documents")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    listed = [(name, into, why, documents, entities[id].name) for id, name, into, why, documents in rows]
    show_table(Table.of(("name", "taken for", "reason", "documents", "entity"), listed), limit=LISTED)


@app.command()
@with_settings("index", copy=False)
def split(
    chosen: Settings,
    name: Annotated[str, typer.Argument(help="A name that was taken for another.", metavar="NAME")],
    other: Annotated[str, typer.Argument(help="The name it was taken for.", metavar="OTHER")],
) -> None:
    """Undo a merge of two names for good, from the next run of `ragways index` on."""
    from ragways.cloud.copies import no_url
    from ragways.layers.graph.layer import split as undo
    from ragways.layers.graph.names import veto_hash

    no_url(chosen.index, "ragways graph split")
    with _opened(chosen) as opened:
        merged = {veto_hash(one, into) for _, one, into, _, _ in opened.graph.merges()}
        folder = opened.folder
    if veto_hash(name, other) not in merged:
        raise UsageError(f"{name!r} and {other!r} were not merged", "see what was with: ragways graph merges")
    undo(folder, name, other)
    typer.echo(f"{printable(name)} and {printable(other)} will be two entities after the next run of: ragways index")


def _opened(settings: Settings) -> closing[Index]:
    from ragways.index.open import Index

    return closing(Index.open(settings.index))
