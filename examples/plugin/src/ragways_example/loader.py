"""A loader: INI files, a section of the document for each section of the file."""

from __future__ import annotations

import configparser
from collections.abc import Iterator

from ragways import Document
from ragways.core.errors import LoadError, NoText
from ragways.core.types import Heading
from ragways.corpus.load import Loader
from ragways.corpus.source import LoadOptions, SourceFile


def load(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    """One document a file. What is wrong with a file is a LoadError: it is listed, and the run goes on."""
    try:
        text = file.path.read_bytes()[: options.max_bytes].decode("utf-8")
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(text)
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        raise LoadError(f"{file.key} is not an INI file: {type(error).__name__}", "check the file") from error
    if not parser.sections():
        raise NoText(f"{file.key} has no section")
    title = file.path.stem
    lines, headings, at = [], [], 0
    for name in parser.sections():
        headings.append(Heading(at, at + len(name), 2, name))
        for line in (name, *(f"{key}: {value}" for key, value in parser[name].items()), ""):
            lines.append(line)
            at += len(line) + 1
    yield Document(file.key, title, "\n".join(lines), "ini", headings=tuple(headings))


INI = Loader("ini", (".ini",), "Settings in sections.", load)
