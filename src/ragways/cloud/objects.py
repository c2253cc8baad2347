"""An object store, as far as an index needs one: small objects below a URL, got, put, listed and removed.

The client is obstore's. It takes credentials from the environment or the machine's role, and they stay in it: none is
part of a URL, of what is stored, or of an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from ragways.core.errors import MissingPart, NoIndex, RagwaysError, StoreBusy, StoreFailed, UsageError

_URL = re.compile(r"(s3|s3a|gs|gcs|az|abfs|abfss|file):(?:/+(.*))?", re.DOTALL)
_SAME = {"gcs": "gs"}
"""Schemes that other packages use for what the client calls otherwise."""
_TRIES = 3
_PATIENCE = timedelta(seconds=60)
_CREDENTIALS = (
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (of S3; GOOGLE_SERVICE_ACCOUNT of GCS, AZURE_STORAGE_ACCOUNT_NAME "
    "and AZURE_STORAGE_ACCOUNT_KEY of Azure), or use a machine with a role that may read and write there"
)


def url_of(index: Path) -> str:
    """The URL that is meant where an index is named by one; nothing where it is named by its folder.

    A path has lost one of the slashes of `s3://bucket/path`.
    """
    found = _URL.fullmatch(index.as_posix())
    if found is None:
        return ""
    scheme, rest = _SAME.get(found[1], found[1]), (found[2] or "").rstrip("/")
    if scheme == "file":
        return f"file:///{rest}"
    if not rest or set(rest) & set("@?#"):
        raise UsageError(
            f"{scheme}://… names no bucket, or more than a bucket and a path",
            "write it as s3://bucket/path; credentials come from the environment",
        )
    return f"{scheme}://{rest}"


class ObjectStore:
    """Objects below a URL, by name. Errors carry their cure."""

    def __init__(self, url: str) -> None:
        try:
            import obstore
            from obstore.store import from_url
        except ImportError:
            raise MissingPart(
                f"{url} is in an object store, and its client is not installed",
                "pip install 'ragways[cloud]', or name a folder with --index",
            ) from None
        self.url = url
        self._client = obstore
        more = {"mkdir": True} if url.startswith("file:") else {"retry_config": _retries()}
        with self._errors():
            self._store: Any = from_url(url, **more)

    def get(self, name: str) -> tuple[bytes, str] | None:
        """An object and its tag, which is another whenever it is written; None where there is none."""
        try:
            with self._errors():
                found = self._client.get(self._store, name)
                return bytes(found.bytes()), str(found.meta["e_tag"] or "")
        except NoIndex:
            return None

    def put(self, name: str, data: bytes) -> None:
        """Write an object of a name that nobody has used."""
        with self._errors():
            self._client.put(self._store, name, data, use_multipart=False)

    def replace(self, name: str, data: bytes, tag: str) -> None:
        """Write an object in the place of the one with this tag, or of none. Raises StoreBusy where it is another's by
        now.

        A store that cannot do both at a stroke (a plain file system) is looked at just before: two writers within that
        moment go unnoticed there.
        """
        with self._errors():
            try:
                self._client.put(self._store, name, data, mode={"e_tag": tag} if tag else "create")
            except NotImplementedError:
                now = self.get(name)
                if (now[1] if now else "") != tag:
                    raise self._overtaken() from None
                self._client.put(self._store, name, data)

    def names(self) -> list[str]:
        """Of all objects."""
        with self._errors():
            return [each["path"] for some in self._client.list(self._store) for each in some]

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects; one that is not there is no error."""
        doomed = sorted(names)
        with self._errors():
            for at in range(0, len(doomed), 500):
                try:
                    self._client.delete(self._store, doomed[at : at + 500])
                except FileNotFoundError:
                    for name in doomed[at : at + 500]:
                        self._remove_one(name)

    def _remove_one(self, name: str) -> None:
        try:
            self._client.delete(self._store, name)
        except FileNotFoundError:
            return

    def _overtaken(self) -> StoreBusy:
        return StoreBusy(
            f"another process has written to {self.url} meanwhile",
            "run again: nothing was changed, and finished work is stored",
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """What the client says in many lines, with requests and replies in them, becomes one with a cure."""
        try:
            yield
        except RagwaysError:
            raise
        except Exception as error:
            raise self._meaning(error) from None  # it may hold the id of a key

    def _meaning(self, error: Exception) -> RagwaysError:
        kind, details = type(error).__name__, str(error)
        if kind in ("AlreadyExistsError", "PreconditionError"):
            return self._overtaken()
        if "NoSuchBucket" in details or "bucket does not exist" in details:
            return StoreFailed(f"there is no bucket at {self.url}", "create it, or mend --index")
        if isinstance(error, FileNotFoundError):
            return NoIndex(f"there is no index at {self.url}", "build one with: ragways index PATH --index URL")
        refused = kind in ("PermissionDeniedError", "UnauthenticatedError") or isinstance(error, PermissionError)
        if refused or any(word in details.casefold() for word in ("/latest/api/token", "metadata", "credential")):
            what = f"{self.url} refuses access" if refused else f"no credentials for {self.url} were found"
            return StoreFailed(what, _CREDENTIALS)
        why = "; ".join(re.findall(r"status code: (\d+[^:<\n]{0,40})", details)[:1]) or "no answer"
        return StoreFailed(
            f"{self.url} failed ({why})", "see that it is reachable (AWS_ENDPOINT_URL, AWS_REGION), then run again"
        )


def _retries() -> dict[str, object]:
    return {"max_retries": _TRIES, "retry_timeout": _PATIENCE}
