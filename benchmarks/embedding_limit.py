"""How near the offline embedder comes to what this processor could do, and whether all its threads have work.

    python benchmarks/embedding_limit.py [--json]

The limit is computed: the multiplications of a text's products with int8 weights, by the rate at which onnxruntime does
the largest of these products here, alone, on one thread. What the encoder does besides (attention, norms, quantizing)
is not in it, so that 1 cannot be reached. Threads: the share of the time of embedding 400 texts into a work cache in
which a thread ran or waited for a processor (Linux); what is left, it had nothing to do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from embedding import LENGTHS, pseudo_text
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from ragways.index.embedding import Embedding

from ragways.core.runtime import silent
from ragways.core.types import content_hash
from ragways.index.recipe import Summary
from ragways.models.encoder import Encoder, session, word_vectors
from ragways.models.minilm import MiniLM
from ragways.store.cache import WorkCache

LAYERS, WIDTH, INNER = 6, 384, 1536
PRODUCTS = LAYERS * (4 * WIDTH * WIDTH + 2 * WIDTH * INNER)
"""Multiplications with weights that a token takes."""


def int8_rate(rows: int, seconds: float = 1.0) -> float:
    """Multiplications a CPU second of the product of `rows` tokens with the largest weights."""
    dice = np.random.default_rng(1)
    weights = numpy_helper.from_array(dice.integers(-127, 127, (WIDTH, INNER)).astype(np.int8), "weights")
    step = numpy_helper.from_array(np.float32(1 / 127), "step")
    scales = numpy_helper.from_array(np.full(INNER, 0.01, np.float32), "scales")
    zero = numpy_helper.from_array(np.uint8(128), "zero")
    node = helper.make_node(
        "MatMulIntegerToFloat", ["x", "weights", "step", "scales", "zero"], ["y"], domain="com.microsoft"
    )
    given = helper.make_tensor_value_info("x", TensorProto.UINT8, [rows, WIDTH])
    taken = helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, INNER])
    graph = helper.make_graph([node], "product", [given], [taken], [weights, step, scales, zero])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    opened = session(model.SerializeToString(), "a product")
    tokens = dice.integers(0, 255, (rows, WIDTH)).astype(np.uint8)
    return rows * WIDTH * INNER / _cpu(lambda: opened.run(None, {"x": tokens}), seconds)


def _cpu(work: Callable[[], object], seconds: float) -> float:
    """CPU seconds that one call takes."""
    work()
    began, calls = time.process_time(), 0
    while time.process_time() - began < seconds:
        work()
        calls += 1
    return (time.process_time() - began) / calls


def of_length(tokens: int) -> dict[str, float]:
    """One text of so many tokens, on one thread."""
    encoder = Encoder("embedder.onnx", max_tokens=256, threads=1)
    text = pseudo_text(random.Random(tokens), MiniLM(), tokens)
    ids = encoder.ids(text)
    whole = _cpu(lambda: encoder.run(encoder.ids(text)), 2.0)
    rate = int8_rate(len(ids))
    return {
        "tokens": len(ids),
        "int8_gmacs": round(rate / 1e9, 1),
        "texts_a_cpu_second": round(1 / whole, 1),
        "limit": round(rate / (PRODUCTS * len(ids)), 1),
        "share_of_the_limit": round(PRODUCTS * len(ids) / rate / whole, 2),
        "share_of_the_tokenizer": round(_cpu(lambda: encoder.ids(text), 0.3) / whole, 3),
        "share_of_word_vectors": round(_cpu(lambda: word_vectors(ids), 0.3) / whole, 3),
    }


def busy(count: int = 400) -> list[float]:
    """The share of the time in which each thread of the embedder had something to do."""
    model, dice = MiniLM(), random.Random(5)
    texts = [pseudo_text(dice, model, dice.choice((20, 60, 100))) for _ in range(count)]

    def at_work() -> NDArray[np.float64]:
        """Seconds that each thread ran, or stood in the queue of a processor that others held."""
        stats = [Path(f"/proc/self/task/{number}/schedstat").read_text().split() for number in numbers]
        return np.array([int(ran) + int(waited) for ran, waited, _ in stats]) / 1e9

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(model.embed(["ready"] * 8))
        numbers = [thread.native_id for thread in threading.enumerate() if thread.name.startswith("encoder")]
        embedding = Embedding(model, WorkCache(Path(folder)))
        before, began = at_work(), time.perf_counter()
        asyncio.run(embedding.see_to({content_hash(t): t for t in texts}, Summary(), silent, layer="vectors"))
        found = (at_work() - before) / (time.perf_counter() - began)
    return [round(float(share), 3) for share in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [of_length(tokens) for tokens in LENGTHS]
    shares = busy() if Path("/proc/self/schedstat").exists() else []
    if options.json:
        print(json.dumps({"texts": rows, "busy": shares}, indent=2))
        return
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    print("threads at work:", shares)


if __name__ == "__main__":
    main()
