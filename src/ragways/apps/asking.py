"""One question in several ways: names and settings as the command line gives them, answers side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragways.assemble import opened
from ragways.core.errors import RagwaysError, UsageError
from ragways.core.trace import Budget
from ragways.retrieval.ask import PARADIGMS, Result, ask
from ragways.retrieval.resources import Resources
from ragways.settings import Settings

if TYPE_CHECKING:
    from ragways.evaluation.run import Variant

USUAL = "hybrid-words"
_BETWEEN = re.compile(r",(?![^\[]*\])")
"""A comma outside of brackets."""


def parse_names(given: Sequence[str]) -> list[str]:
    """Paradigms by name, several at once joined by commas; `all` is all of them."""
    names = [name.strip() for value in given for name in value.split(",") if name.strip()]
    chosen = [PARADIGMS.find(name).name for name in dict.fromkeys(names or [USUAL]) if name != "all"]
    return list(PARADIGMS) if "all" in names else chosen


def parse_variants(given: str, settings: Settings) -> list[Variant]:
    """Paradigms joined by commas, each with settings of its own if need be: `naive,naive[k=20;least=0.4]`."""
    from ragways.evaluation.run import Variant  # late: `ragways ask` needs nothing of an evaluation

    variants: dict[str, Variant] = {}
    for text in _BETWEEN.split(given):
        name, bracket, rest = text.strip().partition("[")
        if bracket and not rest.endswith("]"):
            raise UsageError(f"{text.strip()!r} has no closing bracket", "write it as naive[k=20]")
        values = parse_settings([part for part in rest.removesuffix("]").split(";") if part.strip()])
        for one in parse_names([name]) if name else ():
            label = f"{one}[{';'.join(f'{key}={value}' for key, value in values.items())}]" if values else one
            variants[label] = Variant(label, one, settings_of(one, [one], settings, values))
    if not variants:
        raise UsageError("no paradigm is named", "see: ragways paradigms")
    return list(variants.values())


def parse_settings(given: Sequence[str]) -> dict[str, str]:
    """`k=20` as a name and a value."""
    values = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"{text!r} is not a setting", "write it as name=value, e.g. --set k=20")
        values[name.strip()] = value.strip()
    return values


async def ask_all(
    settings: Settings, question: str, names: Sequence[str], values: Mapping[str, str], budget: float | None
) -> tuple[list[Result], list[tuple[str, RagwaysError]]]:
    """Answers, and for the paradigms that could not answer, why."""
    chosen = {name: settings_of(name, names, settings, values) for name in names}
    results: list[Result] = []
    failures: list[tuple[str, RagwaysError]] = []
    async with opened(settings) as use:
        for name in names:
            try:
                results.append(await _ask_one(use, question, name, chosen[name], budget))
            except RagwaysError as error:
                if len(names) == 1:
                    raise
                failures.append((name, error))
    return results, failures


async def _ask_one(use: Resources, question: str, name: str, chosen: Mapping[str, Any], budget: float | None) -> Result:
    return await ask(use, question, name, chosen, budget=Budget(usd=budget))


def settings_of(name: str, names: Sequence[str], settings: Settings, values: Mapping[str, str]) -> dict[str, Any]:
    """The file's settings of a paradigm, then the command's. One setting may concern only some of several paradigms."""
    paradigm = PARADIGMS.find(name)
    for other in settings.paradigms:
        PARADIGMS.find(other)  # a table for a paradigm that is not there is a slip
    known = {key for each in names for key in PARADIGMS.find(each).settings}
    own = {key: value for key, value in values.items() if key in paradigm.settings or key not in known}
    return paradigm.check({**settings.paradigms.get(name, {}), **own})
