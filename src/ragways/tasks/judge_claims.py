"""Split a text that answers a question into claims, each of which can be checked alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragways.models.task import Task


@dataclass(frozen=True, slots=True)
class Claims:
    """None where the text says nothing that could be true or false."""

    claims: tuple[str, ...]


def _check(reply: Claims, variables: Mapping[str, object]) -> str | None:  # noqa: ARG001
    empty = next((n for n, claim in enumerate(reply.claims, start=1) if not claim.strip()), None)
    return None if empty is None else f"claim {empty} is empty"


CLAIMS = Task("judge claims", prompt="judge-claims", reply=Claims, max_output=3000, check=_check)
