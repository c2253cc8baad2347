"""Choose where a walk goes next, or that it has gathered enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragways.models.task import Task


@dataclass(frozen=True, slots=True)
class Preview:
    """A window that the walk can go to: the title of its document, the beginning of its text."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The number, from 1, of a preview; 0 is to stop."""

    choice: int
    reason: str = ""


def _render(
    question: str,
    gathered: Sequence[str],
    previews: Sequence[Preview],
    enough: bool,  # noqa: ARG001
) -> Mapping[str, object]:
    shown = [f"[{number}] {preview.title}: {preview.text}" for number, preview in enumerate(previews, start=1)]
    return {"question": question, "gathered": "\n".join(gathered), "passages": "\n\n".join(shown)}


def _check(reply: Choice, variables: Mapping[str, object]) -> str | None:
    previews = variables["previews"]
    shown = len(previews) if isinstance(previews, Sequence) else 0
    if not 0 <= reply.choice <= shown:
        return f"there is no passage {reply.choice}; choose from 1 to {shown}, or 0 to stop"
    return None


async def _without(
    question: str,  # noqa: ARG001
    gathered: Sequence[str],  # noqa: ARG001
    previews: Sequence[Preview],  # noqa: ARG001
    enough: bool,
) -> Choice:
    """The first preview, which is the most similar to the question, unless similarity says that it is enough."""
    return Choice(0, "the best sentence beats the next window") if enough else Choice(1, "most similar to the question")


CHOOSE_HOP = Task(
    "choose hop",
    prompt="choose-hop",
    reply=Choice,
    without=_without,
    render=_render,
    check=_check,
    max_output=256,
)
