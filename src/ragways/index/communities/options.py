"""The settings of the communities layer, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ragways.core.errors import SettingsError
from ragways.index.layer import BuildContext, check_names, given_settings, keep_settings

_WAYS = ("graph", "rules", "model")
_LEAST: dict[str, float] = {"size": 2, "members": 2, "text": 0, "tokens": 100, "resolution": 0.01, "seed": 0}


@dataclass(frozen=True, slots=True)
class CommunityOptions:
    """How communities and their reports are made.

    `way`: who writes the reports; `graph` is whoever made the graph. `size`: larger communities are split again.
    `members`: smaller ones get no report. `text`: a model reads no community with fewer tokens of the corpus behind it
    (the rule writes that report), for its prompt would cost more than it reads. `tokens`: most input of one report
    besides the prompt. `resolution`: more makes smaller communities. `seed`: of Leiden.
    """

    way: str = "graph"
    size: int = 60
    members: int = 3
    text: int = 400
    tokens: int = 2000
    resolution: float = 1.0
    seed: int = 0

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> CommunityOptions:
        check_names("communities", values, [field.name for field in fields(cls)])
        for name, value in values.items():
            if name == "way":
                if value not in _WAYS:
                    raise SettingsError(f"communities.way is {value!r}", f"choose from {', '.join(_WAYS)}")
                continue
            kinds = (int, float) if name == "resolution" else (int,)
            if not isinstance(value, kinds) or isinstance(value, bool) or value < _LEAST[name]:
                raise SettingsError(f"communities.{name} cannot be {value!r}", f"give a number from {_LEAST[name]} up")
        return cls(**values)


def options_of(context: BuildContext) -> CommunityOptions:
    return CommunityOptions.parse(given_settings(context, "communities"))


def keep_options(context: BuildContext, options: CommunityOptions, kind: str) -> None:
    """Remember how this index is built, and as what kind of result its reports are kept."""
    keep_settings(context, "communities", options, communities_kind=kind)


def kept_kind(context: BuildContext) -> str:
    """The kind of result that holds the reports of models; empty where rules write them."""
    return context.store.meta().get("communities_kind", "")


def by_model(context: BuildContext, options: CommunityOptions) -> bool:
    if options.way != "graph":
        return options.way == "model"
    made: str = json.loads(context.store.meta().get("graph", "{}")).get("way", "")
    return made == "model"
