"""What a run is: written once when it begins, checked when it goes on."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import ragways
from ragways.core.errors import UsageError
from ragways.index.export import replacing

FILE = "run.json"
CURE = "name another folder with --out, or give the settings it was made with"


@dataclass(frozen=True)
class About:
    """`id` tells replies of this run from those of others; `index` is what the index held, `ways` the settings of each
    name in the records; `data` says where the questions come from.
    """

    id: str
    version: str
    seed: int = 0
    prompts: str = ""
    model: str = ""
    index: str = ""
    ways: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    construction: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> About | None:
        try:
            return cls(**json.loads((folder / FILE).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None


def begin(
    folder: Path,
    *,
    seed: int = 0,
    prompts: str = "",
    model: str = "",
    index: str = "",
    ways: Mapping[str, Mapping[str, Any]] | None = None,
    data: Mapping[str, Any] | None = None,
    construction: Mapping[str, Mapping[str, float]] | None = None,
) -> About:
    """That of a folder: as it was written when the run began, or new. Answers made otherwise are another run's."""
    known = About.read(folder)
    new = About(secrets.token_hex(8), ragways.__version__, seed, prompts, model, index, ways or {}, data or {},
                construction or {})  # fmt: skip
    if known is not None:
        _same(folder, known, new)
        new = replace(new, id=known.id, ways={**known.ways, **new.ways}, data={**known.data, **new.data},
                      construction={**known.construction, **new.construction})  # fmt: skip
    _make(folder)
    with replacing(folder / FILE) as draft:
        draft.write_text(json.dumps(asdict(new), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return new


def _same(folder: Path, known: About, new: About) -> None:
    """Whether a run may go on as it is meant to; an error says what is another now."""
    named = {"seed": (known.seed, new.seed), "prompts": (known.prompts, new.prompts), "model": (known.model, new.model)}
    for name, (before, now) in named.items():
        if before != now:
            raise UsageError(f"{folder} holds a run with {name} {before or 'none'!r}, not {now or 'none'!r}", CURE)
    if known.index and new.index and known.index != new.index:
        raise UsageError(f"{folder} holds a run over another index, or the index has changed since", CURE)
    for name, settings in new.ways.items():
        if name in known.ways and json.loads(json.dumps(settings)) != known.ways[name]:
            raise UsageError(f"{name} has other settings in the run of {folder}", CURE)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror or error}", "name another --out") from error
