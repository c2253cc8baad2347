"""Encoders on the CPU, offline: the files in `weights/`, and how they are run.

All encoders share one tokenizer and one table of word vectors (int8, with a scale for each row). Each kind has an ONNX
file of its own, which takes the word vectors of a text and gives what it was trained for. `release/weights.py` makes
the files, and `weights/manifest.json` has a checksum of each, which is compared when a process first opens it.
"""

from __future__ import annotations

import asyncio
import json
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import MissingPart, StoreFailed, UsageError
from ragways.core.runtime import default_threads, no_telemetry, together
from ragways.models.embed import Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WEIGHTS: Final = Path(__file__).parent / "weights"
CURE: Final = "install ragways again: pip install --force-reinstall --no-deps ragways"
POSITIONS: Final = 512
START: Final = 101
END: Final = 102
CHARACTERS_PER_TOKEN: Final = 20
"""A text is cut at this many characters for each token allowed, so that a book costs no more than a page."""

AHEAD: Final = 4
"""Texts of one call that wait for each thread: enough that no thread is idle while results are stored, and few, for a
question during indexing waits for these.
"""

In = TypeVar("In")
Out = TypeVar("Out")


class Encoder:
    """One ONNX file of `weights/`. Opened on first use, once in a process; safe to share between tasks and threads.

    Each text is run alone, one text a thread. On a CPU that is as fast as padded batches (a tenth slower for texts of
    20 tokens), and what comes out for a text is the same, bit for bit, whatever else is run with it.
    """

    def __init__(self, file: str, *, max_tokens: int, threads: int | None = None) -> None:
        if not 3 <= max_tokens <= POSITIONS:
            raise UsageError(f"max_tokens is {max_tokens}", f"choose 3 to {POSITIONS}")
        self._file = file
        self._max_tokens = max_tokens
        self._threads = max(1, threads or default_threads())
        self._workers = ThreadPoolExecutor(self._threads, thread_name_prefix="encoder")

    def close(self) -> None:
        """Let go of the threads; what waits is dropped."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    def count(self, text: str) -> int:
        """Tokens of a text: nothing cut off, special tokens left out."""
        return len(tokenizer().encode(_valid(text), add_special_tokens=False).ids)

    def ids(self, text: str) -> list[int]:
        """Tokens of a text, cut at the limit, between the two special ones."""
        text = _valid(text[: CHARACTERS_PER_TOKEN * self._max_tokens])
        # One text a call: encoding in batches would start the tokenizer's own threads.
        found = tokenizer().encode(text, add_special_tokens=False).ids
        return [START, *found[: self._max_tokens - 2], END]

    def run(self, ids: Sequence[int]) -> Vectors:
        """The encoder's output for one text: a row for each token, special ones included."""
        with _SESSION_LOCK:
            running = _session(WEIGHTS / self._file)
        result: Vectors = running.run(None, {"words": word_vectors(ids)[None]})[0][0]
        return result

    async def each(self, work: Callable[[In], Out], items: Sequence[In], length: Callable[[In], int]) -> list[Out]:
        """Run `work` on each item in the threads, the longest first, so that none is left alone with a long one at the
        end; results in the order given.
        """
        loop = asyncio.get_running_loop()
        places = iter(sorted(range(len(items)), key=lambda place: -length(items[place])))
        done: dict[int, Out] = {}

        async def next_ones() -> None:
            for place in places:
                done[place] = await loop.run_in_executor(self._workers, work, items[place])

        await together(next_ones() for _ in range(min(len(items), AHEAD * self._threads)))
        return [done[place] for place in range(len(items))]


def _valid(text: str) -> str:
    """The text without lone surrogates, which the tokenizer cannot take."""
    return text.encode("utf-8", "replace").decode("utf-8")


# The files. Each is opened once in a process, however many indexes are open; each has its own lock, so that counting
# tokens does not wait for the table.

_TOKENIZER_LOCK, _TABLE_LOCK, _SESSION_LOCK = threading.Lock(), threading.Lock(), threading.Lock()


def comes_with(name: str) -> bool:
    """Whether this version has such a file in `weights/`, be it there and whole or not."""
    try:
        return name in json.loads((WEIGHTS / "manifest.json").read_bytes())["files"]
    except (OSError, ValueError, LookupError, TypeError):
        return True  # opening it says what is wrong


def checked_path(name: str) -> Path:
    """The path of a file of `weights/`, once its bytes are known to be those that this version was made with."""
    path, known = WEIGHTS / name, _manifest(name)["crc32"]
    try:
        found = zlib.crc32(path.read_bytes())
    except OSError as error:
        raise _unreadable(name, error) from error
    if found != known:
        raise StoreFailed(f"{path} is not the file that this version of ragways came with", CURE)
    return path


def known_hash(name: str) -> str:
    """The SHA-256 of a file of `weights/`. MissingPart where this version came without the file."""
    return str(_manifest(name)["sha256"])


def _manifest(name: str) -> Mapping[str, object]:
    try:
        row = json.loads((WEIGHTS / "manifest.json").read_bytes())["files"][name]
        return {"crc32": int(row["crc32"]), "sha256": str(row["sha256"])}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: Exception) -> MissingPart:
    return MissingPart(f"{WEIGHTS / name} or the manifest beside it cannot be read ({type(error).__name__})", CURE)


def tokenizer() -> Tokenizer:
    """The tokenizer of all encoders, which neither pads nor cuts."""
    with _TOKENIZER_LOCK:
        return _tokenizer(WEIGHTS)


@cache
def _tokenizer(_folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    opened = Tokenizer.from_buffer(checked_path("tokenizer.json").read_bytes())
    opened.no_padding()
    opened.no_truncation()
    return opened


def word_vectors(ids: Sequence[int]) -> Vectors:
    """A row of the word table for each token: (tokens, 384)."""
    with _TABLE_LOCK:
        table, scales = _table(WEIGHTS)
    places = np.asarray(ids)
    rows: Vectors = table[places] * scales[places, None]
    return rows


@cache
def _table(_folder: Path) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    # Mapped, not read: a question touches a few rows, and processes share the pages.
    table = np.load(checked_path("words.npy"), mmap_mode="r", allow_pickle=False)
    return table, np.load(checked_path("word_scales.npy"), allow_pickle=False)


@cache
def _session(path: Path) -> Any:  # noqa: ANN401 - onnxruntime has no types
    return session(checked_path(path.name).read_bytes(), path.name)


def session(model: bytes, name: str) -> Any:  # noqa: ANN401 - onnxruntime has no types
    """What runs an ONNX model on one thread; the caller has threads of its own."""
    no_telemetry()
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # where the program that uses ragways has imported it before
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Planning which buffers to share takes three quarters of the start and saves no time later.
    options.enable_mem_reuse = False
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise MissingPart(f"onnxruntime cannot run {name} ({error})", "pip install --upgrade onnxruntime") from error
