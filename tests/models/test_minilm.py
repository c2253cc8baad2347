"""The offline embedder, against vectors of the original weights."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragways.core.errors import UsageError
from ragways.models.embed import Embedder, Vectors
from ragways.models.encoder import WEIGHTS
from ragways.models.minilm import VERSION, MiniLM

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


REFERENCE = Path(__file__).parent / "minilm_reference.npy"
"""The sentences' vectors by the original weights: a forward pass of theirs in plain numpy, 64 bits, kept in 16."""


@pytest.fixture(scope="session")
def model() -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="session")
def expected() -> NDArray[np.float64]:
    vectors: NDArray[np.float16] = np.load(REFERENCE, allow_pickle=False)
    return vectors.astype(np.float64)


def embed(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    return asyncio.run(embedder.embed(texts))


def tokens(embedder: Embedder, texts: Sequence[str]) -> list[Vectors]:
    return asyncio.run(embedder.tokens(texts))


def test_int8_is_near_the_reference(model: MiniLM, expected: NDArray[np.float64]) -> None:
    cosines = (embed(model, SENTENCES) * expected).sum(1)
    sentences, scraps = cosines[:-2], cosines[-2:]
    assert sentences.mean() > 0.994
    assert sentences.min() > 0.99
    # "a" and "": with no content to average over, quantisation shows most.
    assert scraps.min() > 0.95


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


def test_vectors_do_not_depend_on_threads(model: MiniLM) -> None:
    assert np.array_equal(embed(MiniLM(threads=1), SENTENCES), embed(model, SENTENCES))
    assert np.array_equal(embed(MiniLM(threads=3), SENTENCES * 4)[-9:], embed(model, SENTENCES))


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
    assert time.process_time() - begin < 10
    assert np.array_equal(huge, embed(model, [page]))


def test_a_text_is_cut_at_the_limit(model: MiniLM) -> None:
    text = "pier " * 300
    assert model.count([text]) == [300]
    assert len(tokens(model, [text])[0]) == 254
    wide = MiniLM(max_tokens=512)
    assert len(tokens(wide, [text])[0]) == 300
    assert len(tokens(wide, [text * 2])[0]) == 510


def test_names_tell_vectors_apart() -> None:
    assert MiniLM().name == "all-MiniLM-L6-v2/int8-2"
    assert MiniLM(max_tokens=512).name == "all-MiniLM-L6-v2/int8-2-512"


def test_senseless_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="512"):
        MiniLM(max_tokens=513)


def test_other_files_have_another_version() -> None:
    """An index keeps the embedder's name: files that move its vectors must not come under the old one."""
    files = json.loads((WEIGHTS / "manifest.json").read_text())["files"]
    parts = {name: files[name]["sha256"][:8] for name in ("words.npy", "word_scales.npy", "embedder.onnx")}
    made = {2: {"words.npy": "b4f678ba", "word_scales.npy": "7ca924aa", "embedder.onnx": "4b57e48f"}}
    assert parts == made[VERSION]


EMBED = """
import asyncio
from ragways.models.minilm import MiniLM
print(asyncio.run(MiniLM(threads=1).embed(["a pier"])).tobytes().hex())
"""


def test_a_first_run_converts_and_writes_nothing(model: MiniLM, tmp_path: Path) -> None:
    home = {"PATH": "", "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", EMBED], env=home, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == embed(model, ["a pier"]).tobytes().hex()
    assert list(tmp_path.iterdir()) == []
