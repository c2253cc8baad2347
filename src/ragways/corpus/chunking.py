"""How a text is cut into chunks: a setting, with the sources' own ways as presets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from ragways.core.errors import UsageError

if TYPE_CHECKING:
    from semantic_text_splitter import TextSplitter


@dataclass(frozen=True, slots=True)
class Chunking:
    """At most `size` units a chunk, never across the borders of `within`; cuts at the highest border that fits.

    With `title`, a chunk is searched by its article's and section's title as well as by its text.
    """

    size: int
    overlap: int
    unit: Literal["characters", "tokens"] = "characters"
    within: Literal["document", "section", "paragraph"] = "document"
    title: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.size:
            raise UsageError(
                f"a chunk of {self.size} {self.unit} cannot overlap by {self.overlap}",
                "set chunking.overlap below chunking.size",
            )

    @property
    def name(self) -> str:
        """Everything that shapes the chunks, as a text to compare by."""
        return " ".join(f"{key}={value}" for key, value in asdict(self).items())


PRESETS: dict[str, Chunking] = {
    # A section at a time, as long as the offline embedder reads in one go.
    "section": Chunking(1000, 0, within="section"),
    "thesis": Chunking(1200, 100, title=False),
    "router-bench": Chunking(512, 100, unit="tokens"),
    "agentic": Chunking(500, 40, within="paragraph", title=False),
}


STRETCH = 50_000
"""Characters cut at once."""


@cache
def _splitter(chunking: Chunking) -> TextSplitter:
    from semantic_text_splitter import TextSplitter

    if chunking.unit == "tokens":
        return TextSplitter.from_tiktoken_model("gpt-4", chunking.size, chunking.overlap)
    return TextSplitter(chunking.size, chunking.overlap)


def cut(text: str, start: int, end: int, chunking: Chunking) -> list[tuple[int, int]]:
    """Chunks of `text[start:end]` as offsets into `text`, in order, without white space at their ends."""
    # A token is at least a byte, so a text of so few bytes needs no splitter.
    length = end - start if chunking.unit == "characters" else len(text[start:end].encode())
    if length <= chunking.size:
        return _trimmed(text, start, end)
    splitter = _splitter(chunking)
    return [
        (begin + offset, begin + offset + len(piece))
        for begin, stop in _stretches(text, start, end)
        for offset, piece in splitter.chunk_indices(text[begin:stop])
    ]


def _stretches(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Parts that the splitter can take: its time grows with the square of a text that has no borders to cut at."""
    while end - start > STRETCH:
        borders = (text.rfind(mark, start + STRETCH // 2, start + STRETCH) for mark in ("\n\n", "\n", " "))
        stop = next((border for border in borders if border > 0), start + STRETCH)
        yield start, stop
        start = stop
    yield start, end


def _trimmed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    stripped = piece.strip()
    return [(start + left, start + left + len(stripped))] if stripped else []
