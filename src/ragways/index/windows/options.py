"""What shapes the layer, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ragways.core.errors import SettingsError
from ragways.core.suggest import did_you_mean
from ragways.index.layer import Site

_KEPT_AS = "windows"


@dataclass(frozen=True, slots=True)
class Options:
    """Sentences in a window and how far it slides; edges a window has within its document (`top_k`) and to others
    (`top_x`), and a document to others of its themes (`top_t`).
    """

    size: int = 3
    slide: int = 1
    top_k: int = 10
    top_x: int = 10
    top_t: int = 10

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Options:
        known = [field.name for field in fields(cls)]
        for name, value in values.items():
            if name not in known:
                raise SettingsError(f"there is no setting windows.{name}", did_you_mean(name, known))
            least = 1 if name in ("size", "slide") else 0
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise SettingsError(f"windows.{name} cannot be {value!r}", f"give a whole number from {least} up")
        options = cls(**values)
        if options.slide > options.size:
            raise SettingsError(
                f"windows.slide {options.slide} is more than windows.size {options.size}: sentences would be left out",
                "slide by at most the size",
            )
        return options


def options_of(site: Site) -> Options:
    """The settings given, else those that this index was built with: a removal must not change them."""
    given = site.settings.get("windows")
    if given is None:
        given = json.loads(site.store.meta().get(_KEPT_AS, "{}"))
    return Options.parse(given)


def keep_options(site: Site) -> None:
    site.store.set_meta({_KEPT_AS: json.dumps(asdict(options_of(site)), sort_keys=True)})
