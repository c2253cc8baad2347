"""Puts a trained reader into the product: `src/ragways/models/weights/reader.onnx` and its entry in the manifest.

    python -m training.export reader-0.npz

The file is what `training.reader` wrote (int8). Nothing is rounded again: the same file gives the same bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from release.weights import WEIGHTS, build, manifest
from training.weights import read_quantised

FILE = "reader.onnx"
TOLD = {
    "made by": "training/reader.py and training/export.py; see training/README.md for data, licences and figures",
    "licence": "Apache-2.0",
    "from": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), taught by thenlper/gte-small (MIT)",
}


def onnx_bytes(file: Path) -> bytes:
    """The reader as ONNX, from the quantised weights in a file."""
    weights = read_quantised(file)
    encoder = {name.removeprefix("encoder."): value for name, value in weights.items() if name.startswith("encoder.")}
    return build(encoder | {name: weights[name] for name in ("head.weight", "head.bias")}, "int8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    data = onnx_bytes(parser.parse_args().weights)
    (WEIGHTS / FILE).write_bytes(data)
    (WEIGHTS / "manifest.json").write_bytes(manifest({FILE: data}, reader=TOLD))
    print(f"{len(data):,} bytes")


if __name__ == "__main__":
    main()
