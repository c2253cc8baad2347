"""Files of weights: from published ones to those that training starts from, and from trained ones to the product's."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper

from ragways.models.encoder import session
from ragways.models.reader import HEADS
from tests.models.test_weights import reference
from training.export import onnx_bytes
from training.start import checked, pack
from training.weights import WORDS, read_quantised, write_quantised

TRAINING = Path(__file__).parent.parent.parent / "training"
HIDDEN, WIDE, POSITIONS = 384, 768, 16
Weights = dict[str, NDArray[np.float32]]


@pytest.fixture(scope="module")
def weights() -> Weights:
    """A reader of one layer."""
    generator = np.random.default_rng(3)

    def some(*shape: int) -> NDArray[np.float32]:
        return generator.normal(0, 0.08, shape).astype(np.float32)

    layer = "encoder.layer.0"
    sizes = {f"{layer}.attention.self.{part}": (HIDDEN, HIDDEN) for part in ("query", "key", "value")}
    sizes |= {f"{layer}.attention.output.dense": (HIDDEN, HIDDEN), f"{layer}.intermediate.dense": (WIDE, HIDDEN)}
    sizes |= {f"{layer}.output.dense": (HIDDEN, WIDE)}
    found = {"embeddings.position_embeddings.weight": some(POSITIONS, HIDDEN)}
    found["embeddings.token_type_embeddings.weight"] = some(2, HIDDEN)
    found[WORDS] = some(50, HIDDEN)
    for name, shape in sizes.items():
        found[f"{name}.weight"], found[f"{name}.bias"] = some(*shape), some(shape[0])
    for name in ("embeddings", f"{layer}.attention.output", f"{layer}.output"):
        found[f"{name}.LayerNorm.weight"], found[f"{name}.LayerNorm.bias"] = 1 + some(HIDDEN), some(HIDDEN)
    heads = {"head.weight": some(len(HEADS), HIDDEN), "head.bias": some(len(HEADS))}
    return {f"encoder.{name}": value for name, value in found.items()} | heads


def test_what_is_written_comes_back_within_half_a_step(weights: Weights, tmp_path: Path):
    file = tmp_path / "reader.npz"
    write_quantised(file, weights)
    back = read_quantised(file)
    assert set(back) == set(weights) - {f"encoder.{WORDS}"}
    for name, value in back.items():
        int8 = value.ndim == 2 and "embeddings" not in name and "head" not in name
        step = np.abs(weights[name]).max(axis=-1, keepdims=True) / (63 if int8 else 1000)
        assert (np.abs(value - weights[name]) <= step * 0.501).all(), name
    write_quantised(tmp_path / "again.npz", back)
    again = read_quantised(tmp_path / "again.npz")
    assert all(np.allclose(again[name], back[name], rtol=1e-6) for name in back)
    write_quantised(tmp_path / "words.npz", weights, words=True)
    words = read_quantised(tmp_path / "words.npz")[f"encoder.{WORDS}"]
    assert np.abs(words - weights[f"encoder.{WORDS}"]).max() < 0.002


def test_the_exported_reader_gives_what_bert_with_its_heads_gives(weights: Weights, tmp_path: Path):
    file = tmp_path / "reader.npz"
    write_quantised(file, weights)
    model = onnx_bytes(file)
    assert model == onnx_bytes(file)
    words = np.random.default_rng(4).normal(size=(9, HIDDEN)).astype(np.float32)
    found = session(model, "reader").run(None, {"words": words[None]})[0][0]
    assert found.shape == (9, len(HEADS))
    encoder = {name.removeprefix("encoder."): value for name, value in weights.items() if name != "head.weight"}
    expected = reference(encoder, words, heads=12) @ weights["head.weight"].T + weights["head.bias"]
    assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


def test_nothing_is_rounded_twice_on_the_way_to_the_product(weights: Weights, tmp_path: Path):
    file = tmp_path / "reader.npz"
    write_quantised(file, weights)
    constants = {
        one.name: numpy_helper.to_array(one) for one in onnx.load_from_string(onnx_bytes(file)).graph.initializer
    }
    with np.load(file, allow_pickle=False) as packed:
        trained = packed["encoder.encoder.layer.0.intermediate.dense.weight"]
    assert (trained == constants["encoder.layer.0.intermediate.dense.weight"].T).all()


def test_the_start_has_all_but_the_pooling_layer_and_other_files_are_refused(weights: Weights, tmp_path: Path):
    encoder = {name.removeprefix("encoder."): value for name, value in weights.items() if name.startswith("encoder.")}
    pack(tmp_path / "start.npz", encoder | {"pooler.dense.weight": np.ones((HIDDEN, HIDDEN), np.float32)})
    back = read_quantised(tmp_path / "start.npz")
    assert set(back) == set(encoder)
    (tmp_path / "model.onnx").write_bytes(b"another")
    with pytest.raises(ValueError, match="not the file"):
        checked(tmp_path / "model.onnx", hashlib.sha256(b"one").hexdigest())
    assert checked(tmp_path / "model.onnx", hashlib.sha256(b"another").hexdigest()) == b"another"


def test_torch_is_imported_only_where_a_model_is_trained_or_run():
    def uses_torch(path: Path) -> bool:
        nodes = list(ast.walk(ast.parse(path.read_text())))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        return any(name.split(".")[0] == "torch" for name in names)

    found = {path.stem for path in TRAINING.glob("*.py") if uses_torch(path)}
    assert found == {"model", "figures", "reader", "evidence"}
