"""Write the pages that are made from the code: `make docs`. A test fails when they are stale."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from ragways.apps.cli import app
from ragways.apps.settings_file import settings_text
from ragways.index.layers import LAYERS
from ragways.paradigms import PARADIGMS

HERE = Path(__file__).parent
NOTE = "<!-- Made by docs/generate.py from the code; change that, then run `make docs`. -->\n"


def cli_page() -> str:
    lines = [NOTE, "# The command line\n"]
    command = get_command(app)
    for words in _commands(command):
        shown = CliRunner().invoke(
            app, [*words, "--help"], prog_name="ragways", env={"COLUMNS": "100", "TERMINAL_WIDTH": "100"}
        )
        text = "\n".join(line.rstrip() for line in shown.output.strip().splitlines())
        lines.append(f"## ragways {' '.join(words)}".rstrip() + f"\n\n```text\n{text}\n```\n")
    return "\n".join(lines)


def _commands(command: object, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [words]
    if isinstance(command, TyperGroup):
        for name, inner in sorted(command.commands.items()):
            found += _commands(inner, (*words, name))
    return found


def paradigms_page() -> str:
    lines = [NOTE, "# Paradigms\n", (HERE / "paradigms.intro.md").read_text()]
    lines += ["| paradigm | what it does | layers it needs | settings and defaults | source |", "|---|---|---|---|---|"]
    for p in PARADIGMS.values():
        settings = ", ".join(f"`{name}={value}`" for name, value in p.settings.items())
        lines.append(f"| `{p.name}` | {p.summary} | {', '.join(sorted(p.needs)) or 'none'} | {settings} | {p.source} |")
    lines += ["", "## Layers\n", "| layer | holds | needs |", "|---|---|---|"]
    lines += [f"| `{x.name}` | {x.summary} | {', '.join(sorted(x.needs)) or 'none'} |" for x in LAYERS.values()]
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    intro = (HERE / "settings.intro.md").read_text()
    return f"{NOTE}\n# Settings\n\n{intro}\n```toml\n{settings_text()}```\n"


PAGES = {"cli.md": cli_page, "paradigms.md": paradigms_page, "settings.md": settings_page}


def main() -> None:
    for name, page in PAGES.items():
        (HERE / name).write_text(re.sub(r"\n{3,}", "\n\n", page()), encoding="utf-8")
        sys.stdout.write(f"wrote docs/{name}\n")


if __name__ == "__main__":
    main()
