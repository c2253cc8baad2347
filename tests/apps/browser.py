"""A headless Chromium, driven over a pipe in its DevTools protocol: messages of JSON, each ended by a zero byte."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import struct
import subprocess
import sys
import time
import zlib
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MISSING = "a browser is missing; get one with: sudo apt-get install chromium"
needs_browser = pytest.mark.skipif(BROWSER is None, reason=MISSING)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
    # A page that nobody sees would be given next to no time beside other work, and its clocks slowed down.
    "--disable-renderer-backgrounding", "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
)  # fmt: skip
SECONDS = 600.0  # jobs give way to other work, and other tests are that
# The protocol is spoken at these very numbers.
PIPED = """
import os, sys
ends = [os.dup(int(text)) for text in sys.argv[1:3]]
for number, end in zip((3, 4), ends):
    os.dup2(end, number)
    os.set_inheritable(number, True)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page. `errors` are what it complained of: exceptions, what the console calls an error, and dialogs, which are
    dismissed.
    """

    def __init__(self, profile: Path) -> None:
        there, self._out = os.pipe()
        self._in, back = os.pipe()
        command = [str(BROWSER), *FLAGS, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", PIPED, str(there), str(back), *command],
            pass_fds=(there, back),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(there)
        os.close(back)
        self._buffer, self._number, self._session = b"", 0, ""
        self.errors: list[str] = []
        self.requests: list[str] = []
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=20)
        os.close(self._in)
        os.close(self._out)

    def _write(self, method: str, params: dict[str, Any]) -> int:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        return self._number

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        number = self._write(method, params)
        until = time.monotonic() + SECONDS
        while True:
            got = self._receive(until)
            if got.get("id") == number:
                assert "error" not in got, got
                return dict(got["result"])
            self._note(got)

    def _receive(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            more = os.read(self._in, 1 << 20)
            assert more, "the browser went away"
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(line))

    def _note(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(str(details.get("exception", {}).get("description") or details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.errors.append(f"a dialog opened: {params['message']}")
            self._write("Page.handleJavaScriptDialog", {"accept": False})
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, url: str, *, width: int = 1400, height: int = 1000, dark: bool = False) -> None:
        """Until all of it is drawn."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=scheme)
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=url)
        self.wait("document.body && document.body.dataset.drawn === 'all'")

    def ask(self, script: str) -> Any:
        """The value of an expression."""
        got = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in got, got["exceptionDetails"]
        return got["result"].get("value")

    def wait(self, script: str) -> None:
        until = time.monotonic() + SECONDS
        while not self._holds(script):
            if time.monotonic() > until:
                raise AssertionError(f"never: {script}; it shows: {self.ask('document.body?.innerText')}"[:4000])
            time.sleep(0.02)

    def _holds(self, script: str) -> bool:
        """Whether an expression is true; one that is asked while the page is exchanged for another is not yet."""
        try:
            return bool(self.ask(f"Boolean({script})"))
        except AssertionError as error:
            if "Inspected target navigated" in str(error):
                return False
            raise

    def type(self, text: str) -> None:
        self.send("Input.insertText", text=text)

    def press(self, key: str, code: int) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)
        if key == "Enter":
            self.send("Input.dispatchKeyEvent", type="char", text="\r", key=key, windowsVirtualKeyCode=code)

    def click(self, selector: str) -> None:
        """With the mouse, where it stands on the screen, when it has stopped moving and nothing lies over it."""
        found = self.ask(
            f"(async () => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center'});"
            " let at, before;"
            " for (let frame = 0; frame < 100; frame += 1) {"
            "   const b = e.getBoundingClientRect();"
            "   before = at; at = [b.x + Math.min(40, b.width / 2), b.y + b.height / 2];"
            "   if (`${at}` === `${before}` && e.contains(document.elementFromPoint(...at))) break;"
            "   await new Promise(requestAnimationFrame);"
            " } return at; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=found[0], y=found[1], button="left", clickCount=1)

    def screenshot(self, *, scale: float = 1.0) -> bytes:
        """What is seen, as a PNG; smaller where only its colours are wanted."""
        wide, high, down = self.ask("[innerWidth, innerHeight, scrollY]")
        clip = {"x": 0, "y": down, "width": wide, "height": high, "scale": scale}
        got = self.send("Page.captureScreenshot", format="png", clip=clip)
        return base64.b64decode(got["data"])


def colours(png: bytes) -> Counter[bytes]:
    """How often each colour is on a PNG of 8 bits a channel, as a browser makes them."""
    width, height, depth, kind, _, _, interlace = struct.unpack(">IIBBBBB", png[16:29])
    assert (depth, interlace) == (8, 0)
    size = {2: 3, 6: 4}[kind]
    at, parts = 8, []
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            parts.append(png[at + 8 : at + 8 + length])
        at += 12 + length
    raw, stride = zlib.decompress(b"".join(parts)), width * size
    found: Counter[bytes] = Counter()
    above = bytearray(stride)
    for row in range(height):
        start = row * (stride + 1)
        line = _unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), above, size)
        found.update(bytes(line[x : x + 3]) for x in range(0, stride, size))
        above = line
    return found


def _unfiltered(kind: int, line: bytearray, above: bytearray, size: int) -> bytearray:
    for x in range(len(line) if kind else 0):
        left, up = (line[x - size] if x >= size else 0), above[x]
        corner = above[x - size] if x >= size else 0
        line[x] = (line[x] + (left, up, (left + up) // 2, _paeth(left, up, corner))[kind - 1]) & 255
    return line


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))
