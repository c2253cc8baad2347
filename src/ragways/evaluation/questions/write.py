"""A generated set as files: the questions, a line each, and beside them where they come from."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ragways.core.errors import UsageError
from ragways.evaluation.datasets.plain import row
from ragways.evaluation.questions.generate import Generated


def about_file(file: Path) -> Path:
    """`questions.jsonl` → `questions.about.json`."""
    return file.with_name(f"{file.name.removesuffix('.jsonl')}.about.json")


def write(generated: Generated, file: Path) -> None:
    """Both files whole, or an error: a draft takes the place of what was there before only when it is finished."""
    lines = "".join(json.dumps(row(q), ensure_ascii=False) + "\n" for q in generated.questions)
    about = {
        **generated.provenance,
        "questions": len(generated.questions),
        "counts": generated.counts,
        "notes": list(generated.notes),
        "stopped": generated.stopped,
    }
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        for path, text in ((file, lines), (about_file(file), json.dumps(about, ensure_ascii=False, indent=1) + "\n")):
            draft = path.with_name(f"{path.name}.draft")
            draft.write_text(text, encoding="utf-8")
            os.replace(draft, path)
    except OSError as error:
        raise UsageError(
            f"cannot write {file}: {error.strerror or error}", "name a file that can be written"
        ) from error
