"""No library reports to its vendor. Called before the library is imported, because it starts with the import."""

from __future__ import annotations

import os


def no_telemetry() -> None:
    """Tell onnxruntime to report nothing: from 1.31 on it would leave a device id and send events to its vendor."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
