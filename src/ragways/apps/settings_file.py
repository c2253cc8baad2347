"""`ragways init`: the settings file with every setting, made from the settings' own schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.core.errors import UsageError

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo


def init(
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("ragways.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
) -> None:
    """Write a settings file with every setting, its default and what it does."""
    from ragways.index.export import replacing

    if path.exists() and not force:
        raise UsageError(f"{path} is there already", "replace it with --force")
    with replacing(path) as draft:
        draft.write_text(settings_text(), encoding="utf-8")
    typer.echo(f"wrote {path}")


def settings_text() -> str:
    from pydantic import BaseModel

    from ragways.settings import Settings

    lines = [
        "# Settings of ragways. Every line that begins with `# name =` shows a default; remove the # to change it.",
        "",
    ]
    sections: list[tuple[str, type[BaseModel]]] = []
    for name, field in Settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            sections.append((name, field.annotation))
        elif name in ("prices", "paradigms", "layers"):
            continue
        else:
            lines += _setting(name, field)
    sections += _plug_in_layers()
    for name, section in sections:
        lines += ["", f"# {(section.__doc__ or '').strip()}", f"[{name}]"]
        roles: list[str] = []
        for key, field in section.model_fields.items():
            if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
                roles += ["", f"# {field.description}; what is not set here is as in [{name}]", f"[{name}.{key}]"]
                roles += _setting("name", field.annotation.model_fields["name"])
            else:
                lines += _setting(key, field)
        lines += roles
    lines += ["", "# USD for a million tokens, where the built-in table is wrong or does not know the model.",
              '# [prices."my-model"]', "# input = 0.5", "# output = 1.5"]  # fmt: skip
    lines += ["", "# Settings of a paradigm; `ragways paradigms` lists them.", "# [paradigms.naive]", "# k = 20"]
    return "\n".join(lines) + "\n"


def _plug_in_layers() -> list[tuple[str, type[BaseModel]]]:
    """Sections of the layers that plug-ins bring."""
    from ragways.layers.table import LAYERS
    from ragways.settings import Settings

    brought = (layer for layer in LAYERS.values() if layer.name not in Settings.model_fields)
    return [(f"layers.{layer.name}", layer.settings) for layer in brought if layer.settings.model_fields]


def _setting(name: str, field: FieldInfo) -> list[str]:
    return [f"# {field.description}", f"# {name} = {_value(field)}"]


def _value(field: FieldInfo) -> str:
    from pydantic import SecretStr

    default = field.get_default(call_default_factory=True, validated_data={})
    if default is None:
        return "…  (unset)"
    if isinstance(default, SecretStr):
        return '""'
    if isinstance(default, bool | int | float):
        return json.dumps(default)
    if isinstance(default, dict | tuple):
        return "{}" if isinstance(default, dict) else "[]"
    return json.dumps("" if str(default) == "." else str(default))
