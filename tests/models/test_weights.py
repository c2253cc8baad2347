"""The script that makes the weights, on a small random model: its graph against BERT in plain numpy."""

import importlib.util
import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from ragways.models import encoder
from ragways.models.encoder import Encoder

HIDDEN, HEADS, INNER, LAYERS = 24, 2, 48, 2
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release_weights", ROOT / "release" / "weights.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def weights() -> dict[str, NDArray[np.float32]]:
    generator = np.random.default_rng(5)

    def some(*shape: int) -> NDArray[np.float32]:
        return generator.normal(0, 0.3, shape).astype(np.float32)

    found = {"embeddings.position_embeddings.weight": some(16, HIDDEN)}
    found["embeddings.token_type_embeddings.weight"] = some(2, HIDDEN)
    norms = ["embeddings"]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        sizes = {f"attention.self.{part}": (HIDDEN, HIDDEN) for part in ("query", "key", "value")}
        sizes |= {"attention.output.dense": (HIDDEN, HIDDEN), "intermediate.dense": (INNER, HIDDEN)}
        for part, shape in (sizes | {"output.dense": (HIDDEN, INNER)}).items():
            found[f"{name}.{part}.weight"], found[f"{name}.{part}.bias"] = some(*shape), some(shape[0])
        norms += [f"{name}.attention.output", f"{name}.output"]
    for name in norms:
        found[f"{name}.LayerNorm.weight"], found[f"{name}.LayerNorm.bias"] = 1 + some(HIDDEN), some(HIDDEN)
    return found


def reference(
    weights: Mapping[str, NDArray[np.float32]], words: NDArray[np.float32], heads: int = HEADS
) -> NDArray[np.float64]:
    """BERT as its paper has it, in 64 bits."""
    hidden = words.shape[1]
    layers = {name.split(".")[2] for name in weights if name.startswith("encoder.layer.")}
    erf = np.vectorize(math.erf, otypes=[np.float64])

    def dense(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return x @ weights[f"{name}.weight"].T.astype(np.float64) + weights[f"{name}.bias"]

    def norm(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-12)
        return x * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]

    x = words.astype(np.float64) + weights["embeddings.position_embeddings.weight"][: len(words)]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings")
    for layer in range(len(layers)):
        name = f"encoder.layer.{layer}"
        q, k, v = (
            dense(x, f"{name}.attention.self.{part}").reshape(len(x), heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(hidden // heads))
        mixed = (scores / scores.sum(2, keepdims=True) @ v).transpose(1, 0, 2).reshape(len(x), hidden)
        x = norm(x + dense(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output")
        inner = dense(x, f"{name}.intermediate.dense")
        x = norm(x + dense(inner * (1 + erf(inner / math.sqrt(2))) / 2, f"{name}.output.dense"), f"{name}.output")
    return x


@pytest.mark.parametrize(("precision", "worst"), [("fp32", 0.999999), ("int8", 0.995)])
def test_the_graph_is_bert(
    script: ModuleType,
    weights: dict[str, NDArray[np.float32]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    precision: str,
    worst: float,
) -> None:
    model = script.build(weights, precision, heads=HEADS)
    assert model == script.build(weights, precision, heads=HEADS), "the same weights give the same bytes"
    (tmp_path / "tiny.onnx").write_bytes(model)
    words = np.random.default_rng(6).normal(size=(9, HIDDEN)).astype(np.float32)
    monkeypatch.setattr(encoder, "WEIGHTS", tmp_path)
    monkeypatch.setattr(encoder, "checked_path", tmp_path.joinpath)
    monkeypatch.setattr(encoder, "word_vectors", lambda ids: words[list(ids)])
    found = Encoder("tiny.onnx", max_tokens=16, threads=1).run(range(9))
    expected = reference(weights, words)
    cosines = (found * expected).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.min() > worst


def test_quantised_rows_come_back_within_half_a_step(script: ModuleType) -> None:
    rows = np.random.default_rng(7).normal(size=(20, 8)).astype(np.float32)
    rows[3] = 0
    whole, scales = script.quantised_rows(rows, 127)
    assert whole.dtype == np.int8
    assert np.abs(whole * scales[:, None] - rows).max(axis=1) == pytest.approx(scales / 2, abs=float(scales.max()) / 2)
    assert (np.abs(whole).max(axis=1) == [0 if row == 3 else 127 for row in range(20)]).all()


def test_safetensors_are_read_and_others_than_the_originals_refused(script: ModuleType, tmp_path: Path) -> None:
    values = np.arange(6, dtype="<f4").reshape(2, 3)
    entries = {
        "__metadata__": {"format": "pt"},
        "b": {"dtype": "F32", "shape": [2, 3], "data_offsets": [8, 32]},
        "ids": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
    }
    header = json.dumps(entries).encode()
    data = len(header).to_bytes(8, "little") + header + bytes(8) + values.tobytes()
    assert {name: rows.tolist() for name, rows in script.read_safetensors(data).items()} == {"b": values.tolist()}
    (tmp_path / "model.safetensors").write_bytes(data)
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(ValueError, match="not the file"):
        script.make(tmp_path)
