"""Options that many commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragways.settings import Settings

IndexOption = Annotated[Path | None, typer.Option("--index", help="Folder of the index.", show_default=".ragways")]
SettingsOption = Annotated[Path | None, typer.Option("--settings", help="Settings file.", show_default="ragways.toml")]
TrustOption = Annotated[
    bool, typer.Option("--trust", help="Send your key also to a base URL that only the settings file names.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def chosen_settings(file: Path | None, index: Path | None = None, *, trust: bool = False) -> Settings:
    from ragways.settings import read_settings

    return read_settings(file, trust=trust, index=index)


def index_folder(file: Path | None, index: Path | None) -> Path:
    """The folder of the index, for what asks no model: no key can leave with a path, so none is checked."""
    return chosen_settings(file, index, trust=True).index
