"""Write the pages that are made from the code: `make docs`. A test fails when they are stale."""

from __future__ import annotations

import io
import re
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path

from typer.core import TyperGroup
from typer.main import get_command

from ragways.apps.cli import full_app
from ragways.apps.settings_file import settings_text
from ragways.evaluation.datasets import DATASETS
from ragways.evaluation.judges import JUDGES
from ragways.evaluation.metric import REFUSALS
from ragways.evaluation.metrics import METRICS
from ragways.evaluation.questions.generate import KINDS
from ragways.layers.table import LAYERS
from ragways.retrieval.ask import PARADIGMS
from ragways.retrieval.routing.features import FEATURES

HERE = Path(__file__).parent
NEEDED = {
    "gold": "a gold answer", "short": "one that is no text", "answer": "a question with an answer",
    "null": "a question without one",
    "ranks": "gold evidence", "evidence": "that something was found", "citations": "citations",
}  # fmt: skip
NOTE = "<!-- Made by docs/generate.py from the code; change that, then run `make docs`. -->\n"


def cli_page() -> str:
    lines = [NOTE, "# The command line\n"]
    command = get_command(full_app())
    for words in _commands(command):
        with redirect_stdout(io.StringIO()) as shown, suppress(SystemExit):
            command([*words, "--help"], prog_name="ragways", terminal_width=80)
        text = "\n".join(line.rstrip() for line in shown.getvalue().strip().splitlines())
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


def evaluation_page() -> str:
    lines = [NOTE, "# Evaluation\n", (HERE / "evaluation.intro.md").read_text(), "## Metrics\n"]
    lines += ["Metrics are values: `Recall @ 5` is `recall@5`, at any rank.\n"]
    lines += ["| metric | family | what it says | needs | a refusal |", "|---|---|---|---|---|"]
    for metric in METRICS.values():
        name = f"`{metric.name}`" + (" (less is better)" if metric.less_is_better else "")
        name += " (advisory)" if metric.advisory else ""
        needs = ", ".join(NEEDED[need] for need in metric.needs) or "nothing"
        refusal = REFUSALS[metric.refusal]
        if metric.source_refusal is not None:
            refusal += f"; in the source it {REFUSALS[metric.source_refusal]}"
        lines.append(f"| {name} | {metric.family} | {metric.summary} | {needs} | {refusal} |")
    lines += ["", "## Judges\n", "| judge | by | what it does |", "|---|---|---|"]
    lines += [f"| `{judge.name}` | {judge.by} | {judge.summary} |" for judge in JUDGES.values()]
    lines += ["", "## Data sets\n", "| format | what | licence | citation |", "|---|---|---|---|"]
    lines += [
        f"| `{x.name}`{'' if x.seen else ' (not tried on the data)'} | {x.summary} | {x.licence} | {x.citation} |"
        for x in DATASETS.values()
    ]
    lines += ["", "## Kinds of generated questions\n", "| kind | what | layers |", "|---|---|---|"]
    lines += [f"| `{x.name}` | {x.summary} | {', '.join(sorted(x.needs)) or 'none'} |" for x in KINDS.values()]
    return "\n".join(lines) + "\n"


def routing_page() -> str:
    lines = [NOTE, "# Routing\n", (HERE / "routing.intro.md").read_text(), "## Features\n"]
    lines += ["`ragways route explain` shows them for a question; `eval run` keeps them with every record.\n"]
    lines += ["| feature | what it is |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in FEATURES.items()]
    return "\n".join(lines) + "\n"


PAGES = {"cli.md": cli_page, "paradigms.md": paradigms_page, "settings.md": settings_page,
         "evaluation.md": evaluation_page, "routing.md": routing_page}  # fmt: skip


def main() -> None:
    for name, page in PAGES.items():
        (HERE / name).write_text(re.sub(r"\n{3,}", "\n\n", page()), encoding="utf-8")
        sys.stdout.write(f"wrote docs/{name}\n")


if __name__ == "__main__":
    main()
