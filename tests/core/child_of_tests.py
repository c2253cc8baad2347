"""What the children of these tests do: turn a text round, after a while, or fail."""

from __future__ import annotations

import os
import time
from typing import Any

from ragways.core.children import serve


def work(piece: dict[str, Any]) -> dict[str, Any]:
    """Do what the piece says."""
    time.sleep(piece.get("wait", 0.0))
    if "exit" in piece:
        os._exit(3)
    if "fail" in piece:
        raise ValueError("this cannot be done")
    return {"text": piece["text"][::-1], "process": os.getpid(), "environment": sorted(os.environ)}


if __name__ == "__main__":
    serve(work)
