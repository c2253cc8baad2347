"""Everything that can go wrong, as one tree. Each error is one line for a person and carries its cure.

RagwaysError
├── UsageError            the request makes no sense (unknown paradigm, empty question)
│   ├── SettingsError     the settings file or an environment variable
│   ├── PluginClash       two plug-ins bring one name
│   └── ToolError         a tool was called with what is not there
├── StoreError            the index folder
│   ├── NoIndex           there is none
│   ├── WrongVersion      another version of ragways wrote it
│   ├── EmbedderChanged   it was built with another embedder
│   ├── MissingLayer      a paradigm needs a layer that is not built
│   ├── StoreBusy         another process is writing
│   └── StoreFailed       no write access
│       ├── StoreExhausted  disk full, too few file handles
│       └── StoreDamaged  a file that cannot be what was written
├── LoadError             one file could not be read; the run goes on without it
│   └── NoText            it could be read, and there is nothing in it
├── ModelError            the language model or embedding endpoint
│   ├── NoModel           none is configured and the task cannot be done without one
│   ├── ModelUnavailable  still failing after every retry
│   ├── ModelRefused      the endpoint refused it (key, name, request)
│   └── UnusableReply     the reply does not fit its type, even after asking again
├── MissingPart           an optional package is not installed
├── BudgetExceeded        the next call could pass the budget
└── BudgetHeld            what is left of the budget is held for calls under way
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class RagwaysError(Exception):
    """An error that a user can act on: `message` says what, `cure` says what to do."""

    exit_code = 1

    def __init__(self, message: str, cure: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.cure = cure

    def __str__(self) -> str:
        return f"{self.message}: {self.cure}" if self.cure else self.message


class UsageError(RagwaysError):
    exit_code = 2


class SettingsError(UsageError):
    pass


class PluginClash(UsageError):
    pass


class ToolError(UsageError):
    """Shown to whoever called the tool, with the nearest names or ids that would have been right."""

    def __init__(self, message: str, nearest: Sequence[str] = (), cure: str = "") -> None:
        super().__init__(message, cure)
        self.nearest = tuple(nearest)


class StoreError(RagwaysError):
    exit_code = 3


class NoIndex(StoreError):
    pass


class WrongVersion(StoreError):
    pass


class EmbedderChanged(StoreError):
    pass


class MissingLayer(StoreError):
    pass


class StoreBusy(StoreError):
    pass


class StoreFailed(StoreError):
    pass


class StoreExhausted(StoreFailed):
    """The system lacks something. It says nothing of the files."""


class StoreDamaged(StoreFailed):
    pass


class LoadError(RagwaysError):
    pass


class NoText(LoadError):
    pass


class ModelError(RagwaysError):
    exit_code = 4


class NoModel(ModelError):
    pass


class ModelUnavailable(ModelError):
    pass


class ModelRefused(ModelError):
    pass


class UnusableReply(ModelError):
    """Has the text of the reply, so that a person can see what the model wrote."""

    def __init__(self, message: str, cure: str = "", *, reply: str = "") -> None:
        super().__init__(message, cure)
        self.reply = reply


class MissingPart(RagwaysError):
    exit_code = 3


class BudgetExceeded(RagwaysError):
    exit_code = 5


class BudgetHeld(RagwaysError):
    exit_code = 5


FREE_SPACE = "free some space and run again"
TOO_FEW_HANDLES = "close programs that hold many files open, or allow more of them (ulimit -n), then run again"
LACKS = {
    errno.ENOSPC: FREE_SPACE, errno.EDQUOT: FREE_SPACE, errno.EMFILE: TOO_FEW_HANDLES, errno.ENFILE: TOO_FEW_HANDLES,
}  # fmt: skip
"""What to do where the system lacks something, by the number of its error."""
PARTLY = 6
"""Exit code of a run that finished, but could not do all of it (a file that could not be read)."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The cure for a name that does not exist: `did you mean naive?`, or the names there are."""
    names = sorted(known)
    near = get_close_matches(name[:80], names, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"choose from {', '.join(names)}"
