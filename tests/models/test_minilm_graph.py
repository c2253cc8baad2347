"""Reading safetensors by hand: whatever is in the file, either tensors or one clear error."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.errors import StoreFailed
from ragways.models.minilm_graph import read_safetensors


def written(header: object, body: bytes = b"", length: int | None = None) -> bytes:
    text = json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + body


def entry(begin: int, end: int, *shape: int, dtype: str = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def test_reads_what_was_written() -> None:
    values = np.arange(6, dtype="<f4").reshape(2, 3)
    header = {"__metadata__": {"format": "pt"}, "b": entry(8, 32, 2, 3), "ids": entry(0, 8, 1, dtype="I64")}
    found = read_safetensors(written(header, bytes(8) + values.tobytes()))
    assert list(found) == ["b"]
    assert np.array_equal(found["b"], values)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1234567",
        (2**63).to_bytes(8, "little"),
        written({}, length=50),
        written([1]),
        written({"a": entry(0, 8, 1)}, bytes(8)),
        written({"a": entry(0, 8, 2)}, bytes(4)),
        written({"a": entry(-4, 4, 2)}, bytes(8)),
        written({"a": entry(8, 0, 2)}, bytes(8)),
        written({"a": entry(0, 4, -1, -1)}, bytes(8)),
        written({"a": {"dtype": "F32"}}, bytes(8)),
        written({"a": {"dtype": "F32", "shape": 3, "data_offsets": "no"}}, bytes(8)),
        written({"a": entry(0, 4, 1) | {"data_offsets": [0.0, 4.0]}}, bytes(8)),
        (4).to_bytes(8, "little") + b"\xff\xfe{}",
    ],
    ids=range(14),
)
def test_damaged_files_are_refused(data: bytes) -> None:
    with pytest.raises(StoreFailed, match="reinstall"):
        read_safetensors(data)


@given(st.binary(max_size=64))
def test_noise_never_breaks_out(data: bytes) -> None:
    with contextlib.suppress(StoreFailed):
        assert read_safetensors(data) == {}
