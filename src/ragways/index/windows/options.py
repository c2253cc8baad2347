"""What shapes the layer, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ragways.core.errors import SettingsError
from ragways.index.layer import BuildContext, check_names, given_settings, keep_settings


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
        check_names("windows", values, [field.name for field in fields(cls)])
        for name, value in values.items():
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


def options_of(context: BuildContext) -> Options:
    return Options.parse(given_settings(context, "windows"))


def keep_options(context: BuildContext) -> None:
    keep_settings(context, "windows", options_of(context))
