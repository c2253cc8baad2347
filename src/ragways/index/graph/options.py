"""The settings of the graph layer, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ragways.core.errors import SettingsError
from ragways.index.layer import check_names

WAYS = ("rules", "model", "import")


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """How the graph is made.

    `way`: by rules, by a model, or imported from `file`. `gleaning`: how often a model is asked what it missed.
    `structure`: titles, links, boxes and tables count whichever way is chosen. `passage_tokens`: short passages are
    packed into one call up to this many tokens. `vectors`: which entities get a vector (`shared`: articles and those
    that more than one chunk names; `all`; `none`). `near`: merge names that are alike both as strings (at least
    `near_string`) and by meaning (at least `near_cosine`). `apart`: pairs of names that are never merged.
    """

    way: str = "rules"
    gleaning: int = 0
    file: str = ""
    structure: bool = True
    passage_tokens: int = 1200
    vectors: str = "shared"
    relation_vectors: bool = False
    near: bool = False
    near_string: float = 0.88
    near_cosine: float = 0.9
    apart: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> GraphOptions:
        """From `settings["graph"]`; there the file to import is called `import`."""
        given = dict(settings.get("graph", {}))
        if "import" in given:
            given["file"] = given.pop("import")
        check_names("graph", given, {field.name for field in fields(cls)})
        given["apart"] = tuple((str(one), str(other)) for one, other in given.get("apart", ()))
        options = cls(**given)
        if options.way not in WAYS:
            raise SettingsError(f"graph.way is {options.way!r}", f"choose from {', '.join(WAYS)}")
        if options.vectors not in ("shared", "all", "none"):
            raise SettingsError(f"graph.vectors is {options.vectors!r}", "choose from shared, all, none")
        if options.way == "import" and not options.file:
            raise SettingsError("graph.way is import, but graph.import names no file", "set it to a file of triples")
        return options
