"""A paradigm: a way to answer, as a declaration and a function that joins its steps."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any

from annotated_types import Ge, Gt

from ragways.core.errors import UsageError, did_you_mean
from ragways.core.step import Step
from ragways.core.types import Answer, Query
from ragways.retrieval.resources import Resources
from ragways.tasks.answers import AnswerBy

Strategy = Step[Query, Answer]
Count = Annotated[int, Gt(0)]
"""A setting that must be at least 1."""
Tokens = Annotated[int, Ge(0)]
"""A budget; none at all leaves the question without evidence."""


def _none_unused(_: Mapping[str, Any]) -> frozenset[str]:
    return frozenset()


@dataclass(frozen=True)
class Paradigm:
    """`build`'s keyword-only parameters are its settings. `source` names the document it comes from, as in docs/.

    `needs` are the layers that it needs with its default settings; `unused` gives those that it does not use with other
    settings.
    """

    name: str
    summary: str
    source: str
    needs: frozenset[str]
    build: Callable[..., Strategy]
    unused: Callable[[Mapping[str, Any]], frozenset[str]] = field(default=_none_unused, repr=False)

    def needs_with(self, settings: Mapping[str, Any]) -> frozenset[str]:
        """The layers that it needs with these settings."""
        return self.needs - self.unused(settings)

    @property
    def settings(self) -> dict[str, Any]:
        """Names and defaults."""
        return {name: parameter.default for name, parameter in self._parameters().items()}

    def strategy(self, use: Resources, settings: Mapping[str, Any] | None = None) -> Strategy:
        """Its steps on these resources, once the layers and the settings have been checked."""
        chosen = self.check(settings or {})
        use.index.require(self.needs_with(chosen))
        if (reader := chosen.get("reader")) and "reader" not in self._parameters():
            del chosen["reader"]
            use = replace(use, answer_by=reader)
        return self.build(use, **chosen)

    def check(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings with values of the right types, or an error with the nearest name."""
        from pydantic import TypeAdapter, ValidationError

        parameters = {**_keyword_only(_all_take), **self._parameters()}
        checked = {}
        for name, value in settings.items():
            if name not in parameters:
                raise UsageError(f"{self.name} has no setting {name!r}", did_you_mean(name, parameters))
            try:
                checked[name] = TypeAdapter(_type_of(parameters[name])).validate_python(value)
            except ValidationError as error:
                wrong = error.errors()[0]["msg"]
                raise UsageError(f"setting {name} of {self.name} cannot be {value!r}", wrong) from None
        return checked

    def _parameters(self) -> dict[str, inspect.Parameter]:
        return _keyword_only(self.build)


def _all_take(*, reader: AnswerBy = "read") -> None:
    """Settings of every paradigm besides its own: `reader` overrides `answer.reader`."""


def _type_of(parameter: inspect.Parameter) -> Any:  # noqa: ANN401 - an annotation
    """The type of a setting; one without annotation takes any value."""
    return Any if parameter.annotation is parameter.empty else parameter.annotation


@cache
def _keyword_only(build: Callable[..., object]) -> dict[str, inspect.Parameter]:
    signature = inspect.signature(build, eval_str=True)
    return {p.name: p for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}


def parse_settings(given: Iterable[str]) -> dict[str, str]:
    """Settings as they are written, `k=20`, by name."""
    values = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"{text!r} is not a setting", "write it as name=value, e.g. --set k=20")
        values[name.strip()] = value.strip()
    return values


def parse_variant(text: str) -> tuple[str, dict[str, str]]:
    """A paradigm with settings as it is written, `naive[k=20;tokens=4000]`: its name, and its settings by name."""
    name, bracket, rest = text.strip().partition("[")
    if bracket and not rest.endswith("]"):
        raise UsageError(f"{text.strip()!r} has no closing bracket", "write it as naive[k=20]")
    return name.strip(), parse_settings([pair for pair in rest.removesuffix("]").split(";") if pair.strip()])
