"""E-mail: a message (.eml) or a mailbox of them (.mbox). The subject is the title; what is quoted from others
is left out, attachments are named and never opened.
"""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.text import normal_lines, one_line
from ragways.core.types import Document
from ragways.corpus.builder import UNTITLED, TextBuilder
from ragways.corpus.source import LoadOptions, Skipped, SourceFile, read_all
from ragways.corpus.web.html import html_document

_MAX_PARTS = 200
_HEADERS = {"from": "author", "to": "to", "cc": "cc", "date": "date"}
_STUMBLES = (ValueError, LookupError, AttributeError, TypeError, RecursionError)
"""What the library's parser of headers raises for some."""
_QUOTE_INTRO = re.compile(r"(?:On|Am|Le|El|Il|Op|Em|Den) .{5,300}(?::|wrote|schrieb|écrit)\s*:?$")
_FORWARDED = re.compile(r"-{2,} ?(?:Original Message|Ursprüngliche Nachricht|Message d'origine) ?-{2,}$", re.IGNORECASE)


def load_message(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    document = _document(read_all(file, options.max_bytes), file, file.key, options)
    if document is None:
        raise LoadError("is no e-mail message", "check that it has a From, Date or Subject line")
    yield document


def load_mailbox(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    """A document a message. Lines that begin with `From ` stand between messages."""
    data = read_all(file, options.max_bytes)
    if not data.startswith(b"From "):
        raise LoadError("is no mailbox", "it should begin with a line `From …`")
    for number, message in enumerate(re.split(rb"\r?\n\r?\n(?=From )", data), start=1):
        key = f"{file.key}#{number}"
        try:
            document = _document(message.partition(b"\n")[2].replace(b"\n>From ", b"\nFrom "), file, key, options)
        except _STUMBLES:
            document = None
        if document is None:
            options.notice(Skipped(key, "is no e-mail message"))
        else:
            yield document


def _document(data: bytes, file: SourceFile, key: str, options: LoadOptions) -> Document | None:
    message = email.message_from_bytes(data, policy=email.policy.default)
    facts = {name: one_line(_header(message, header), 500) for header, name in _HEADERS.items()}
    subject = one_line(_header(message, "subject"), 300)
    if not subject and not facts["author"] and not facts["date"]:
        return None
    builder = TextBuilder(options.max_text)
    plain, page, attached = _parts(message)
    if plain:
        _write_own(builder, plain)
    elif page:
        builder.append(html_document(page, SourceFile(Path(UNTITLED), key), options), levels=1)
    if attached:
        builder.paragraph()
        builder.text(f"Attachments: {'; '.join(attached)}")
    facts["date"] = iso_date(facts["date"])
    return builder.document(key, subject or file.stem, "email", {**facts, "attachments": "; ".join(attached)})


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message.get(name, ""))
    except _STUMBLES:
        return ""


def _parts(message: EmailMessage) -> tuple[str, bytes, list[str]]:
    """The plain text, the web page, and names of attachments."""
    plain: list[str] = []
    page = b""
    attached: list[str] = []
    for number, part in enumerate(message.walk()):
        if number > _MAX_PARTS:
            break
        name = part.get_filename()
        if part.is_multipart():
            continue
        if name or part.get_content_disposition() == "attachment":
            attached.append(one_line(str(name or part.get_content_type()), 200))
        elif part.get_content_type() == "text/plain":
            plain.append(_decoded(part))
        elif part.get_content_type() == "text/html" and not page:
            page = _decoded(part).encode("utf-8", "replace")
    return "\n\n".join(plain).strip(), page, attached


def _decoded(part: EmailMessage) -> str:
    data = part.get_payload(decode=True)
    data = data if isinstance(data, bytes) else b""
    try:
        return data.decode(part.get_content_charset() or "utf-8")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")  # a charset that is wrong or unknown


def _write_own(builder: TextBuilder, text: str) -> None:
    """Write a message without quoted lines, the line that announces them, and the signature."""
    own: list[str] = []
    for line in normal_lines(text):
        if line == "-- " or _FORWARDED.match(line.strip()):
            break
        if not line.startswith(">"):
            own.append("" if _QUOTE_INTRO.match(line.strip()) else line)
    written = "\n".join(own)
    builder.plain_text(written if written.strip() else text)
