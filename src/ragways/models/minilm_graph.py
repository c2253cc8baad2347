"""The ONNX graph of all-MiniLM-L6-v2, written node by node from its safetensors file.

The graph takes one text at a time and has no padding and no mask: a text's vector then depends on that text alone,
bit for bit. On a CPU a batch of one is as fast as a batch of many (see benchmarks/embedding.py).

int8 means: weights quantised per output channel, activations per token. Attention, layer norm and pooling stay fp32.

Nodes are chosen for speed and are meant to run as they stand, with onnxruntime's own optimisation off: it would put
slower fused nodes back in. So nothing in the file depends on the machine that built it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from ragways.core.errors import StoreFailed

Precision = Literal["int8", "fp32"]
Weights = Mapping[str, NDArray[np.float32]]

LAYERS: Final = 6
HEADS: Final = 12
HIDDEN: Final = 384
EPSILON: Final = 1e-12

WEIGHT_LEVELS: Final = 63
"""Weights take −63 … 63, 7 bits. With 8, x86 processors without VNNI overflow in silence, because they add two products
into 16 bits: 255 · 63 · 2 fits. Giving up the bit here moves vectors less than giving it up in the activations, whose
rows have larger outliers (mean cosine to fp32 .9967 against .9953)."""

LEVELS: Final = 127
"""Activations take −127 … 127, stored as 1 … 255."""

MICROSOFT: Final = "com.microsoft"
HEADER_LIMIT: Final = 100_000_000


def read_safetensors(data: bytes) -> dict[str, NDArray[np.float32]]:
    """The fp32 tensors of a safetensors file: 8 bytes of header length, JSON header, raw little-endian data."""
    damaged = StoreFailed("the model's weights are no whole safetensors file", "reinstall the package they belong to")
    if len(data) < 8:
        raise damaged
    length = int.from_bytes(data[:8], "little")
    if length > min(len(data) - 8, HEADER_LIMIT):
        raise damaged
    try:
        header = json.loads(data[8 : 8 + length])
        body = memoryview(data)[8 + length :]
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        return {name: _tensor(entry, body) for name, entry in entries.items() if entry["dtype"] == "F32"}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged from error


def _tensor(entry: Mapping[str, Any], body: memoryview) -> NDArray[np.float32]:
    begin, end = entry["data_offsets"]
    shape = [int(size) for size in entry["shape"]]
    if not 0 <= begin <= end <= len(body) or end - begin != 4 * math.prod(shape) or min(shape, default=0) < 0:
        raise ValueError("a tensor lies outside the file")
    return np.frombuffer(body[begin:end], dtype="<f4").reshape(shape)


def build(weights: Weights, precision: Precision) -> bytes:
    """The model as ONNX bytes. Input `ids` (1, t); outputs `sentence` (1, 384) of length 1 and `tokens` (1, t, 384)."""
    graph = _Graph(weights, precision)
    hidden = graph.embeddings("ids")
    for layer in range(LAYERS):
        hidden = graph.layer(hidden, f"encoder.layer.{layer}")
    return graph.finish(hidden)


class _Graph:
    """Collects nodes and constants; each method adds one part of BERT and returns the name of its output."""

    def __init__(self, weights: Weights, precision: Precision) -> None:
        self.weights = weights
        self.precision = precision
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

    def embeddings(self, ids: str) -> str:
        words = self.weights["embeddings.word_embeddings.weight"]
        if self.precision == "int8":
            # fp16 moves a vector far less than int8 does and halves the largest part of the file.
            table = self.constant("words", words.astype(np.float16))
            hidden = self.node("Cast", self.node("Gather", table, ids), to=TensorProto.FLOAT)
        else:
            hidden = self.node("Gather", self.constant("words", words), ids)
        # Every text is a first segment, so its segment vector can be added to the positions beforehand.
        positions = self.weights["embeddings.position_embeddings.weight"]
        positions = positions + self.weights["embeddings.token_type_embeddings.weight"][0]
        zero, one = (self.constant(f"index_{i}", np.array([i], np.int64)) for i in (0, 1))
        length = self.node("Gather", self.node("Shape", ids), one)
        places = self.node("Slice", self.constant("positions", positions), zero, length, zero)
        return self.layer_norm(self.node("Add", hidden, places), "embeddings")

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
        return self.node("MultiHeadAttention", *heads, domain=MICROSOFT, num_heads=HEADS)

    def linear(self, hidden: str, name: str) -> str:
        product = self.product(hidden, name, self.weights[f"{name}.weight"])
        return self.node("Add", product, self.constant(f"{name}.bias", self.weights[f"{name}.bias"]))

    def product(self, hidden: str, name: str, weight: NDArray[np.float32]) -> str:
        """`hidden` times the transposed weight, whose rows are output channels."""
        if self.precision == "fp32":
            return self.node("MatMul", hidden, self.constant(f"{name}.weight", weight.T))
        scale = (np.abs(weight).max(axis=1) / WEIGHT_LEVELS).astype(np.float32)
        quantised = np.rint(weight / scale[:, None]).clip(-WEIGHT_LEVELS, WEIGHT_LEVELS).astype(np.int8)
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

    def finish(self, hidden: str) -> bytes:
        mean = self.node("ReduceMean", hidden, self.constant("token_axis", np.array([1], np.int64)), keepdims=0)
        self.nodes.append(helper.make_node("LpNormalization", [mean], ["sentence"], axis=-1, p=2))
        self.nodes.append(helper.make_node("Identity", [hidden], ["tokens"]))
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "all-MiniLM-L6-v2",
            [value("ids", TensorProto.INT64, [1, "t"])],
            [value("sentence", TensorProto.FLOAT, [1, HIDDEN]), value("tokens", TensorProto.FLOAT, [1, "t", HIDDEN])],
            list(self.constants.values()),
        )
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="ragways")
        return bytes(model.SerializeToString(deterministic=True))
