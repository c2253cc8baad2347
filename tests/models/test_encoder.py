"""The files that encoders share: whatever is wrong with one, the error says so and how to mend it."""

import asyncio
import json
import re
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ragways.core.errors import MissingPart, RagwaysError, StoreFailed
from ragways.models import encoder
from ragways.models.encoder import WEIGHTS, Encoder

FILES = ("words.npy", "word_scales.npy", "tokenizer.json", "embedder.onnx")
"""What embedding needs."""
REPOSITORY = Path(__file__).parent.parent.parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files that may be damaged, which a process opens for the first time."""
    for file in WEIGHTS.iterdir():
        (tmp_path / file.name).symlink_to(file)
    monkeypatch.setattr(encoder, "WEIGHTS", tmp_path)
    return tmp_path


def use() -> None:
    opened = Encoder("embedder.onnx", max_tokens=256, threads=1)
    opened.run(opened.ids("a pier"))


def bit(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "missing": lambda _: None,
    "empty": lambda _: b"",
    "short": lambda data: data[:-100],
    "bit": bit,
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_refused_with_the_cure(
    folder: Path, name: str, damage: Callable[[bytes], bytes | None]
) -> None:
    data = damage((WEIGHTS / name).read_bytes())
    (folder / name).unlink()
    if data is not None:
        (folder / name).write_bytes(data)
    kind: type[RagwaysError] = MissingPart if data is None else StoreFailed
    with pytest.raises(kind, match=re.escape(name)) as refused:
        use()
    assert "pip install --force-reinstall" in refused.value.cure


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"files": {"words.npy": 3}}'])
def test_a_damaged_manifest_is_refused_with_the_cure(folder: Path, text: str | None) -> None:
    (folder / "manifest.json").unlink()
    if text is not None:
        (folder / "manifest.json").write_text(text)
    with pytest.raises(MissingPart, match="manifest") as refused:
        use()
    assert "pip install --force-reinstall" in refused.value.cure


def test_a_file_that_onnxruntime_cannot_run_is_an_error_with_its_cure(folder: Path) -> None:
    other = b"no model"
    manifest = json.loads((WEIGHTS / "manifest.json").read_text())
    manifest["files"]["embedder.onnx"]["crc32"] = zlib.crc32(other)
    for name, data in (("embedder.onnx", other), ("manifest.json", json.dumps(manifest).encode())):
        (folder / name).unlink()
        (folder / name).write_bytes(data)
    with pytest.raises(MissingPart, match="onnxruntime cannot run") as refused:
        use()
    assert "upgrade onnxruntime" in refused.value.cure


def test_the_longest_come_first_and_a_question_waits_for_few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Encoder("embedder.onnx", max_tokens=8, threads=1)
    submit, submitted = ThreadPoolExecutor.submit, 0
    waiting: list[int] = []
    order: list[int] = []

    def counted(*given: Any) -> Any:
        nonlocal submitted
        submitted += 1
        waiting.append(submitted - len(order))
        return submit(*given)

    def work(text: str) -> int:
        time.sleep(0.001)
        order.append(len(text))
        return len(text)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", counted)
    texts = ["x" * (7 * number % 50) for number in range(50)]
    assert asyncio.run(opened.each(work, texts, len)) == [len(text) for text in texts]
    assert max(waiting) == encoder.AHEAD
    assert order == sorted(order, reverse=True)


def test_the_files_come_with_licence_notice_and_origin() -> None:
    manifest = json.loads((WEIGHTS / "manifest.json").read_text())
    assert set(manifest["files"]) == {*FILES, "reader.onnx"}
    assert {file.name for file in WEIGHTS.iterdir()} == {*FILES, "reader.onnx", "manifest.json", "LICENSE", "NOTICE"}
    assert sum(file.stat().st_size for file in WEIGHTS.iterdir()) < 45_000_000
    assert manifest["origin"]["licence"] == "Apache-2.0"
    assert "Apache License" in (WEIGHTS / "LICENSE").read_text()
    assert manifest["origin"]["model"] in (WEIGHTS / "NOTICE").read_text()
