"""What a tool says when it cannot do what it was asked."""

from __future__ import annotations

from collections.abc import Sequence

from ragways.core.errors import UsageError


class ToolError(UsageError):
    """Shown to whoever called the tool, with the nearest names or ids that would have been right."""

    def __init__(self, message: str, nearest: Sequence[str] = (), cure: str = "") -> None:
        super().__init__(message, cure)
        self.nearest = tuple(nearest)
