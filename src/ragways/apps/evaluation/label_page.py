"""The page of `ragways eval label --page`: a server for this machine alone, as long as someone labels.

It listens on loopback only, at a port that was free. Its address holds a token; without it, or under another host's
name (so that no page of the web can be led here), there is nothing to see. The page is one file and loads nothing.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from ragways.core.errors import RagwaysError
from ragways.core.plain import to_plain
from ragways.evaluation.labels import Labelling, LabelValue
from ragways.pictures.shell import page_file, shell

HOST = "127.0.0.1"
MOST_BYTES = 1000
"""Of what the page sends: the place of an answer and a word."""
PATIENCE = 10.0
"""Seconds that a slow client may hold a connection."""


def label_page(work: Labelling) -> str:
    """The page with all answers to label. It does not hold the names of paradigms."""
    data = {"about": work.verdict.about, "by": work.by, "tasks": to_plain(work.tasks), "values": work.values,
            "choices": work.choices}  # fmt: skip
    body, style, script = (page_file(f"label.{kind}") for kind in ("html", "css", "js"))
    return shell("Labels", body, style=style, script=script, data={"data": data}, sends=True)


def serve(work: Labelling, ready: Callable[[str], None]) -> None:
    """Serve the page until someone is done; `ready` is told its address."""
    token = secrets.token_urlsafe(24)
    handler = type("Handler", (_Handler,), {"work": work, "token": token})
    with ThreadingHTTPServer((HOST, 0), handler) as server:
        ready(f"http://{HOST}:{server.server_port}/{token}/")
        server.serve_forever(poll_interval=0.1)


class _Handler(BaseHTTPRequestHandler):
    """GET gives the page, POST label takes one label, POST done ends it."""

    work: ClassVar[Labelling]
    token: ClassVar[str]
    server: ThreadingHTTPServer
    timeout = PATIENCE
    server_version, sys_version = "ragways", ""

    def do_GET(self) -> None:
        if self._asked() == "":
            self._reply(200, label_page(self.work).encode("utf-8", "replace"), "text/html; charset=utf-8")
        else:
            self._reply(404)

    def do_POST(self) -> None:
        asked = self._asked()
        if asked not in ("label", "done") or self.headers.get("Origin", self._home) != self._home:
            self._reply(404)
            return
        if asked == "done":
            self._reply(204)
            # From another thread: it waits for the loop that called this.
            threading.Thread(target=self.server.shutdown).start()
            return
        try:
            at, value = self._label(self._body())
            self.work.give(at, value)
        except ValueError:
            self._reply(400)
        except RagwaysError as error:  # another process is writing, or the disk is full: the page says so
            self._reply(503, str(error).encode("utf-8", "replace"))
        else:
            self._reply(204)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the address holds the token."""

    @property
    def _home(self) -> str:
        return f"http://{HOST}:{self.server.server_port}"

    def _asked(self) -> str | None:
        """What stands behind the token; None for who does not know it, or came by another name of this machine."""
        _, token, *rest = (*self.path.split("/", 2), "")[:3]
        known = secrets.compare_digest(token.encode("utf-8", "replace"), self.token.encode())
        return rest[0] if known and f"http://{self.headers.get('Host')}" == self._home else None

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or len(length) > 9 or int(length) > MOST_BYTES:
            raise ValueError("too long, or of no length")
        return self.rfile.read(int(length))

    def _label(self, body: bytes) -> tuple[int, LabelValue]:
        try:
            found = json.loads(body)
        except RecursionError:
            raise ValueError("too deep") from None
        at, value = (found.get("at"), found.get("value")) if isinstance(found, dict) else (None, None)
        said: LabelValue | None = next((one for one in self.work.choices if one == value), None)
        if type(at) is not int or not 0 <= at < len(self.work.tasks) or said is None:
            raise ValueError("no label")
        return at, said

    def _reply(self, code: int, body: bytes = b"", kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(code)
        headers = {
            "Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
        }  # fmt: skip
        for name, text in headers.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)
