"""The words behind the rows."""

from __future__ import annotations

from ragways.core.errors import StoreFailed
from ragways.core.types import Document
from ragways.index.reader import Index
from ragways.index.windows.reader import Windows


class Texts:
    """Texts of windows and sentences; each document is read once."""

    def __init__(self, index: Index, windows: Windows) -> None:
        self.windows = windows
        self._index = index
        self._documents: dict[str, Document] = {}

    def document(self, id: str) -> Document:
        if id not in self._documents:
            found = self._index.document(id)
            if found is None:
                raise StoreFailed(f"the windows name {id}, which is not in the index", "build again with --rebuild")
            self._documents[id] = found
        return self._documents[id]

    def title(self, window: int) -> str:
        return self.document(self.windows.document_of(window)).title

    def sentence(self, sentence: int) -> str:
        id = ":".join(self.windows.sentences.ids[sentence].split(":")[:2])
        start, end = self.windows.sentence_at[sentence].tolist()
        return self.document(id).text[start:end]

    def window(self, window: int) -> str:
        return " ".join(self.sentence(sentence) for sentence in self.windows.sentences_of(window))
