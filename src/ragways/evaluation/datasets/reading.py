"""JSON, JSON lines and their compressed forms as plain values."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import Any

from ragways.core.errors import UsageError

MOST_BYTES = 2 * 1024**3


def read_json(file: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """A list of rows, or what one JSON text holds."""
    try:
        text = _text(file)
        if file.name.removesuffix(".gz").removesuffix(".bz2").endswith((".jsonl", ".ndjson")):
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        return json.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}", "name a file that is there") from error
    except (ValueError, EOFError) as error:
        raise UsageError(f"{file} is not valid JSON: {error}", "check the file") from error


def _text(file: Path) -> str:
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(file.suffix, open)
    with opener(file, "rb") as stream:
        data: bytes = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UsageError(f"{file} is larger than {MOST_BYTES:,} bytes", "take a part of it")
    return data.decode("utf-8-sig")


def rows(file: Path) -> list[dict[str, Any]]:
    """The file as a list of objects."""
    found = read_json(file)
    if isinstance(found, dict):
        found = found.get("data", found.get("questions"))
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise UsageError(f"{file} does not hold a list of questions", "check --format")
    return found
