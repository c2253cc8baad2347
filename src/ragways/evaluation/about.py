"""What a run is: written once when it begins, checked when it goes on."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import ragways
from ragways.core.errors import UsageError
from ragways.index.export import replacing

FILE = "run.json"


@dataclass(frozen=True)
class About:
    """`id` tells replies of this run from those of others; `data` says where the questions come from."""

    id: str
    version: str
    seed: int = 0
    prompts: str = ""
    model: str = ""
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
    data: Mapping[str, Any] | None = None,
    construction: Mapping[str, Mapping[str, float]] | None = None,
) -> About:
    """That of a folder: as it was written when the run began, or new. Another seed or model is another run."""
    known = About.read(folder)
    if known is not None and (known.seed, known.prompts, known.model) != (seed, prompts, model):
        raise UsageError(
            f"{folder} holds a run with seed {known.seed}, {known.prompts} prompts and {known.model or 'no'} model",
            "name another folder with --out, or give the same --seed and settings",
        )
    about = About(
        known.id if known is not None else secrets.token_hex(8),
        ragways.__version__,
        seed,
        prompts,
        model,
        {**(known.data if known is not None else {}), **(data or {})},
        {**(known.construction if known is not None else {}), **(construction or {})},
    )
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / FILE) as draft:
        draft.write_text(json.dumps(asdict(about), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return about
