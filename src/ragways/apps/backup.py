"""`ragways backup` and `ragways restore`: all that a server keeps, as one file and back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import JsonOption, print_json, with_settings
from ragways.core.text import counted

if TYPE_CHECKING:
    from ragways.service.backup import BackupSummary
    from ragways.settings import Settings


@with_settings("data")
def backup(
    chosen: Settings,
    file: Annotated[Path, typer.Argument(help="File to write; it must not be there.")],
    json: JsonOption = False,
) -> None:
    """Write all that a server keeps to one file, also while it runs: collections, keys, jobs, conversations, the log.

    Indexes that were given to the server by --index are not in it: they are somebody else's. Keep the file as safe as
    the documents: it has them all. Secrets of keys are not in it, only their hashes.
    """
    from ragways.service.backup import backup as write

    folder = chosen.serve.data
    _report(write(folder, file), f"{folder} → {file}", json)


@with_settings("data")
def restore(
    chosen: Settings,
    file: Annotated[Path, typer.Argument(help="A file that ragways backup wrote.")],
    json: JsonOption = False,
) -> None:
    """Put a backup into a folder that is missing or empty, after all of it was checked.

    A server that is started on it goes on with the jobs that were under way.
    """
    from ragways.service.backup import restore as read

    folder = chosen.serve.data
    _report(read(file, folder), f"{file} → {folder}", json)


def _report(done: BackupSummary, what: str, json: bool) -> None:
    if json:
        print_json(asdict(done))
    else:
        content = f"{counted(done.collections, 'collection')}, {counted(done.files, 'file')}"
        typer.echo(f"{what}: {content}, {done.bytes / 1e6:,.1f} MB")
        for name in done.damaged:
            typer.echo(f"{name} was damaged before it was copied: start an index job, with rebuild if it is a database")
