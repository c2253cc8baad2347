"""One POST to an OpenAI-compatible endpoint: JSON out, JSON or a stream of events in, and every failure under a name.

`Refused`: another try would be refused too. `TryAgain`: another try may succeed. Where nothing listens at the address,
or a web page does, that is an error at once, unless the endpoint answered before: then it is an outage that may pass.
The key is sent in a header and appears nowhere else: not in errors, traces or reprs.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ragways.core.errors import ModelError, ModelRefused, ModelUnavailable, SettingsError
from ragways.models.limits import TryAgain

if TYPE_CHECKING:
    import httpx2

LONGEST_REPLY = 16 << 20
CONNECT = 5.0
"""Seconds to reach an endpoint; an answer may take longer."""
_LINES = "application/x-ndjson"
_STREAMS = ("text/event-stream", _LINES)
_MAY_PASS = {408, 409, 425, 429}
_STAY = {501, 505}
_LONGEST_REASON = 300  # characters of the endpoint's own words that an error repeats


_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum (?:context|prompt|input)|too many (?:input )?tokens|"
    r"(?:prompt|input|request|messages?) (?:is|are) too (?:long|large)|reduce the length|"
    r"token count\b.{0,40}\bexceeds|exceeds? the (?:model'?s? )?(?:context|token)",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content[ _-]?(?:filter|management|policy)|usage polic|safety (?:system|setting|filter|polic)|moderation|"
    r"\bflagged\b|responsible ?ai",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})


@dataclass(frozen=True)
class Extras:
    """What goes with every request besides the key: headers, parameters of the URL, and the header of the key."""

    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    auth: str = "authorization"


class Refused(Exception):
    """A status that another try would not change, with the endpoint's own words."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{status}: {reason}" if reason else str(status))
        self.status = status
        self.reason = reason
        said = reason if status in (400, 413, 422) else ""
        self.too_long, self.filtered = bool(_TOO_LONG.search(said)), bool(_FILTERED.search(said))

    def explained(self, base_url: str, model: str) -> ModelRefused:
        """As an error for a person, naming the setting that cures it."""
        if self.status in (401, 403):
            what, cure = "refused the key", "set the key of this endpoint (settings `model.key`, `embedder.key`)"
        elif self.status == 404 or 300 <= self.status < 400:
            what = f"does not know this address or the model {model!r}"
            cure = "check the settings `base_url` (most end in /v1) and `name`, of `model` or `embedder`"
        elif self.status == 429:
            what, cure = (
                "has no credit left for this key",
                "add credit there, or set another key",
            )
        elif self.too_long:
            what = f"says that the prompt is longer than the context of {model!r}"
            cure = (
                "set `model.context`, so that passages are packed to fit; or show it less (`tokens` of a method, as in "
                "--set tokens=2000; `graph.passage_tokens` of a graph), leave less room for the answer "
                "(`answer.tokens`), or use a model or server with a longer context"
            )
        elif self.filtered:
            what = f"did not pass this prompt on to {model!r}: its filter of content objects"
            cure = "ask in other words, leave the document out (--where), or use an endpoint without this filter"
        else:
            what = f"refused the request to {model!r}"
            cure = "check the setting `model.name`; `ragways model check` finds out which calls it takes"
        return ModelRefused(f"the endpoint {base_url} {what} ({self})", cure)


OnEvent = Callable[[dict[str, object]], bool]
"""Takes an event of a stream; whether it carries anything of the reply."""


class Transport:
    """Keeps one HTTP client for its life, made in the event loop that uses it first. Close it in that loop.

    With `total_timeout`, `timeout` bounds each wait of a reply, and `total_timeout` the whole of it. Without, `timeout`
    bounds the whole.
    """

    def __init__(
        self,
        base_url: str,
        key: str | None = None,
        *,
        timeout: float = 60.0,
        total_timeout: float | None = None,
        extras: Extras | None = None,
    ) -> None:
        self.base_url = _checked(base_url)
        self.timeout = timeout
        self.total_timeout = total_timeout
        self._key = _checked_key(key)
        self._extras = _checked_extras(extras or Extras())
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._answered = False

    def __repr__(self) -> str:
        return f"Transport({self.base_url!r})"

    async def post(
        self, path: str, payload: dict[str, object], on_event: OnEvent | None = None
    ) -> dict[str, object] | None:
        """The object that the endpoint answers with. The first byte of it must come within `timeout`, and no two parts
        of it may be further apart.

        With `on_event`, an endpoint may answer with a stream of events instead: each is handed to it as it comes, and
        the result is None. The waits are then those for events that carry something; comments end none.
        """
        import httpx2

        body = json.dumps(payload, separators=(",", ":")).encode()
        try:
            async with (
                asyncio.timeout(self.total_timeout or self.timeout) as whole,
                asyncio.timeout(self.timeout) as wait,
            ):
                status, headers, data = await self._exchange(self.base_url + path, body, on_event, wait)
        except (TimeoutError, httpx2.TimeoutException) as error:
            unheard = isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout)
            raise TryAgain(self._too_late(whole.expired()), lost=not unheard) from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise ModelRefused(f"the certificate of {self.base_url} is not trusted", "check `base_url`") from None
            if isinstance(error, httpx2.ConnectError) and not self._answered:
                raise self._nobody_there(error) from None
            lost = isinstance(error, httpx2.ReadError | httpx2.RemoteProtocolError | httpx2.DecodingError)
            raise TryAgain(self._scrubbed(f"{type(error).__name__}: {error}"), lost=lost) from None
        return None if data is None else self._understood(status, headers, data)

    async def get(self, path: str) -> dict[str, object]:
        """Return the object at an address of the endpoint; an empty one where it has none to give within seconds."""
        import httpx2

        try:
            async with asyncio.timeout(min(CONNECT, self.timeout)):
                response = await self._open().get(self.base_url + path)
                data = (
                    response.content if response.status_code == 200 and len(response.content) < LONGEST_REPLY else b""
                )
        except (TimeoutError, httpx2.HTTPError):
            return {}
        return _parsed(data) or {}

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    def _too_late(self, whole: bool) -> str:
        if self.total_timeout is None:
            return f"no answer within {self.timeout:g} s"
        if whole:
            return f"the reply was not whole after {self.total_timeout:g} s, the setting `model.total_timeout`"
        return f"nothing came for {self.timeout:g} s, the setting `model.timeout`"

    async def _exchange(
        self, url: str, body: bytes, on_event: OnEvent | None, wait: asyncio.Timeout
    ) -> tuple[int, httpx2.Headers, bytes | None]:
        """The status, the headers, and the body where it was no stream. `wait` begins anew with each part."""
        data, events, clock = bytearray(), None, asyncio.get_running_loop().time
        async with self._open().stream("POST", url, content=body) as response:
            kind = response.headers.get("content-type", "")
            if on_event is not None and response.status_code == 200 and kind.startswith(_STREAMS):
                events, self._answered = _Events(lines=kind.startswith(_LINES)), True
            else:
                wait.reschedule(clock() + self.timeout)
            size = 0
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > LONGEST_REPLY:
                    raise TryAgain(f"a reply of more than {LONGEST_REPLY >> 20} MiB", lost=True)
                if events is None or on_event is None:
                    data += chunk
                    wait.reschedule(clock() + self.timeout)
                    continue
                for event in events.feed(chunk):
                    if event.get("error"):
                        raise TryAgain(self._scrubbed(_reason(event, b"")), lost=True)
                    if on_event(event):
                        wait.reschedule(clock() + self.timeout)
        return response.status_code, response.headers, None if events is not None else bytes(data)

    def _open(self) -> httpx2.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            import httpx2

            headers = {
                "content-type": "application/json",
                "accept": "application/json, text/event-stream",
                "accept-encoding": "identity",
            }
            if self._key:
                auth = self._extras.auth
                headers[auth] = f"Bearer {self._key}" if auth == "authorization" else self._key
            headers |= {name.lower(): value for name, value in self._extras.headers.items()}
            self._loop = loop
            self._client = httpx2.AsyncClient(
                headers=headers,
                params=dict(self._extras.query),
                timeout=httpx2.Timeout(None, connect=min(CONNECT, self.timeout)),  # the rest is bounded by `post`
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
                # Reading the machine's certificates takes longer than many calls, and plain http needs none.
                verify=self.base_url.startswith("https:"),
                trust_env=not _is_loopback(self.base_url),  # a proxy does not reach this machine
            )
        return self._client

    def _understood(self, status: int, headers: httpx2.Headers, data: bytes) -> dict[str, object]:
        found = _parsed(data)
        self._answered = self._answered or found is not None
        if 200 <= status < 300:
            if found is None and not self._answered and _is_page(headers, data):
                raise ModelRefused(
                    f"{self.base_url} answers with a web page, not as an endpoint does",
                    "check the setting `base_url`: most end in /v1, and a sign-in page or a proxy may stand before it",
                )
            if found is None:
                raise TryAgain(f"the reply is no JSON object ({len(data):,} bytes)", lost=True)
            if found.get("error"):
                raise TryAgain(self._scrubbed(_reason(found, b"")))
            return found
        reason = self._scrubbed(_reason(found, data))
        if status == 429 and found is not None and "insufficient_quota" in json.dumps(found.get("error")):
            raise Refused(status, reason)
        if status in _MAY_PASS or (status >= 500 and status not in _STAY):
            raise TryAgain(f"{status}: {reason}", after=_retry_after(headers), limited=status == 429)
        raise Refused(status, reason)

    def _nobody_there(self, error: Exception) -> ModelError:
        host = urlsplit(self.base_url).hostname or ""
        reason = self._scrubbed(str(error))
        if any(
            words in reason for words in ("Name or service", "getaddrinfo", "nodename", "name resolution", "No address")
        ):
            return ModelUnavailable(
                f"there is no host {host!r} ({reason})",
                f"check the setting `base_url` ({self.base_url}) and the network",
            )
        return ModelUnavailable(
            f"nobody listens at {self.base_url} ({reason})",
            "is the server running? Start it, or check the setting `base_url`: host, port, and /v1 at its end",
        )

    def _scrubbed(self, text: str) -> str:
        secrets = (self._key, *(value for value in self._extras.headers.values() if len(value) >= 8))
        for secret in filter(None, secrets):
            text = text.replace(secret, "***")
        return text


class _Events:
    """Server-sent events: the JSON objects in the `data` lines of what has come so far, and `{"done": true}`. With
    `lines`, every line is an object.
    """

    def __init__(self, *, lines: bool = False) -> None:
        self._rest = b""
        self._lines = lines

    def feed(self, chunk: bytes) -> Iterator[dict[str, object]]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            name, _, value = (b"data", b"", line) if self._lines else line.strip().partition(b":")
            if name != b"data" or not value.strip():
                continue  # comments keep the connection open; other fields say nothing about the text
            if value.strip() == b"[DONE]":
                yield {"done": True}
            elif (event := _parsed(value)) is not None:
                yield event
            else:
                raise TryAgain("an event of the stream is no JSON object", lost=True)


def _checked(base_url: str) -> str:
    try:
        parts = urlsplit(base_url)
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        known = False
    if not known or parts.username or parts.password or parts.query or parts.fragment:
        raise SettingsError("`base_url` is not the address of an endpoint", "write it like https://host/v1")
    return base_url.rstrip("/")


def _checked_key(key: str | None) -> str:
    key = (key or "").strip()
    if not all("!" <= sign <= "~" for sign in key):
        raise SettingsError("`key` holds characters that no key has", "copy the key again, without spaces or quotes")
    return key


def _checked_extras(extras: Extras) -> Extras:
    for name, value in extras.headers.items():
        if not _NAME.fullmatch(name) or name.lower() in _OURS:
            raise SettingsError(f"no request can be given the header {name!r}", "take it out of the setting `headers`")
        if not all(" " <= sign <= "~" for sign in value):
            raise SettingsError(f"the header {name!r} holds characters that no header has", "copy its value again")
    return extras


def _is_loopback(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_page(headers: httpx2.Headers, data: bytes) -> bool:
    return headers.get("content-type", "").startswith("text/html") or data.lstrip()[:1] == b"<"


def _parsed(data: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _reason(found: dict[str, object] | None, data: bytes) -> str:
    """The endpoint's own words: `error.message` as a rule, or the first words of whatever it sent."""
    error = found.get("error", found.get("detail", found.get("message"))) if found is not None else None
    if isinstance(error, dict):
        code = error.get("code")
        named = f" ({code})" if isinstance(code, str) and code and error.get("message") else ""
        error = f"{error.get('message') or error}{named}"
    text = str(error) if error else data[: 4 * _LONGEST_REASON].decode("utf-8", "replace")
    return " ".join(text.split())[:_LONGEST_REASON]


def _retry_after(headers: httpx2.Headers) -> float | None:
    text = headers.get("retry-after", "")
    try:
        if "retry-after-ms" in headers:
            return float(headers["retry-after-ms"]) / 1000
        return float(text)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
