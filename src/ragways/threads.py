"""How many threads numeric libraries start. Imported, and called, before any of them."""

from __future__ import annotations

import os


def limit_threads() -> None:
    """One BLAS thread: for products this small, waking more costs more than it saves."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
