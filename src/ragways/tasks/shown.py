"""What tasks of writing questions and of judging share: how an input becomes the variables of a prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

from ragways.models.task import Task

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

In = TypeVar("In", bound="DataclassInstance")
Out = TypeVar("Out")
Passages = Sequence[tuple[str, str]]
"""Titles and texts; the first has number 1."""


def numbered(texts: Sequence[str]) -> str:
    """A line each, with its number; white space inside a text cannot make it look like two."""
    return "\n".join(f"{n}. {' '.join(text.split())}" for n, text in enumerate(texts, start=1))


def shown(given: DataclassInstance) -> dict[str, object]:
    """The fields of an input as prompts show them: passages and lists of texts are numbered from 1."""
    return {field.name: _shown(getattr(given, field.name)) for field in fields(given)}


def _shown(value: object) -> object:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    if all(isinstance(one, tuple) for one in value):
        return "\n\n".join(f"[{n}] {title}\n{text}" for n, (title, text) in enumerate(value, start=1))
    return numbered(value)


def task(
    name: str,
    reply: type[Out],
    max_output: int,
    check: Callable[[Out, In], str | None] | None = None,
    *,
    keep: Callable[[Out, In], Out] | None = None,
    temperature: float = 0.0,
    words: Mapping[str, Mapping[str, str]] | None = None,
    render: Callable[[In], Mapping[str, object]] = shown,
    whole: bool = False,
) -> Task[In, Out]:
    """A task whose prompt file has its name; `words` say what stands in a prompt for the values of a field."""

    def rendered(given: In) -> Mapping[str, object]:
        tables = words or {}
        return {key: tables.get(key, {}).get(str(value), value) for key, value in render(given).items()}

    prompt = name.replace(" ", "-")
    return Task(
        name,
        prompt,
        reply,
        temperature=temperature,
        max_output=max_output,
        check=check,
        keep=keep,
        render=rendered,
        whole=whole,
    )
