"""Errors as a client of the service sees them: a status, a code, a sentence and a cure; never a path, a stack or a name
that belongs to another tenant.

ServiceError
├── BadRequest     400  the request makes no sense
├── Unauthorized   401  no key, or none that is valid
├── OverBudget     402  nothing is left to spend
├── Forbidden      403  the key may not do this
├── NotFound       404  not there, or not the caller's
├── TooSlow        408  the request did not come in time
├── Conflict       409  it does not fit what is there
├── TooLarge       413  more than may be sent
├── TooMany        429  more requests than one may have; Retry-After says when to come again
└── Full           503  more requests than the server can take; Retry-After, too
"""

from __future__ import annotations

import logging
import math
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ragways.core import errors
from ragways.core.errors import (
    BudgetExceeded,
    BudgetHeld,
    EmbedderChanged,
    LoadError,
    MissingLayer,
    MissingPart,
    ModelError,
    NoIndex,
    NoModel,
    PluginClash,
    RagwaysError,
    SettingsError,
    StoreBusy,
    StoreError,
    ToolError,
    UsageError,
    WrongVersion,
)
from ragways.core.text import clean

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response

LONGEST_MESSAGE = 500


class ErrorDetails(BaseModel):
    """What went wrong and what to do; `id` finds it in the server's log."""

    id: str
    code: str
    message: str
    cure: str


class ErrorReply(BaseModel):
    """The body of every error."""

    error: ErrorDetails


_REFERENCE = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorReply.__name__}"}}}
ERRORS: dict[int | str, dict[str, Any]] = {
    500: {"model": ErrorReply},
    **{
        status: {"description": HTTPStatus(status).phrase, "content": _REFERENCE}
        for status in (400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429, 501, 502, 503, 504)
    },
}
"""What any route may answer instead, for the OpenAPI document: `APIRouter(responses=ERRORS)`. Only one names the model,
as FastAPI takes a millisecond for each that does.
"""
_log = logging.getLogger("ragways.service")
SECRET = re.compile(r"rgw_([0-9a-f]{1,64})_[A-Za-z0-9_-]+")
"""A key as it is shown once; the first group is its id."""
_PATH = re.compile(r"(?:(?<![^\s\"'(=:`])(?:[a-zA-Z]:\\|\\\\|~?/|\.{1,2}/))(?:[^\n]*[/\\])?[^\s:;,)\"'`]*")


def redacted(text: str) -> str:
    """The text with the secret of every key in it taken out."""
    return SECRET.sub(r"rgw_\1_…", text) if "rgw_" in text else text


class ServiceError(Exception):
    """An error with its place in HTTP. `message` says what, `cure` what to do; both may be shown to the client."""

    status = 500
    code = "internal"

    def __init__(
        self, status: int, code: str, message: str, cure: str = "", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = clean(message)  # it may name what a client sent
        self.cure = clean(cure)
        self.headers = headers or {}

    def body(self, request: str) -> dict[str, Any]:
        """The body of the reply; `request` is the id under which the server has logged it."""
        return {"error": {"id": request, "code": self.code, "message": self.message, "cure": self.cure}}

    def openai_body(self, request: str) -> dict[str, Any]:
        """The same in the shape that clients of OpenAI's API read."""
        message = f"{self.message}: {self.cure}" if self.cure else self.message
        kind = _OPENAI_KINDS.get(self.status, "api_error" if self.status >= 500 else "invalid_request_error")
        return {"error": {"message": f"{message} ({request})", "type": kind, "code": self.code, "param": None}}


_OPENAI_KINDS = {
    401: "authentication_error", 402: "insufficient_quota", 403: "permission_error", 429: "rate_limit_error",
}  # fmt: skip


class _Kind(ServiceError):
    """An error whose status and code are those of its class. `retry_after` are seconds to wait."""

    def __init__(self, message: str, cure: str = "", *, retry_after: float | None = None) -> None:
        wait = {} if retry_after is None else {"Retry-After": str(max(1, math.ceil(retry_after)))}
        super().__init__(self.status, self.code, message, cure, wait)


class BadRequest(_Kind):
    status, code = 400, "bad_request"


class Unauthorized(_Kind):
    status, code = 401, "unauthorized"

    def __init__(
        self, message: str = "a valid key is needed", cure: str = "send the header Authorization: Bearer KEY"
    ) -> None:
        super().__init__(message, cure)
        self.headers = {"WWW-Authenticate": "Bearer"}


class OverBudget(_Kind):
    status, code = 402, "budget"


class Forbidden(_Kind):
    status, code = 403, "forbidden"


class NotFound(_Kind):
    """`NotFound("collection")`: only the kind of thing is named, whether it is missing or somebody else's."""

    status, code = 404, "not_found"

    def __init__(self, what: str, cure: str = "") -> None:
        super().__init__(f"there is no such {what}", cure)


class TooSlow(_Kind):
    status, code = 408, "too_slow"


class Conflict(_Kind):
    status, code = 409, "conflict"


class TooLarge(_Kind):
    status, code = 413, "too_large"


class TooMany(_Kind):
    status, code = 429, "too_many"

    def __init__(self, message: str, cure: str = "", *, retry_after: float = 1.0) -> None:
        super().__init__(message, cure, retry_after=retry_after)


class Full(_Kind):
    status, code = 503, "full"

    def __init__(
        self, message: str = "the server is busy", cure: str = "try again in a moment", *, retry_after: float = 1.0
    ) -> None:
        super().__init__(message, cure, retry_after=retry_after)


# Errors of the library


def error_data(error: RagwaysError) -> dict[str, Any]:
    """An error as data, for another process."""
    return {"kind": type(error).__name__, "message": error.message, "cure": error.cure}


def error_of(data: dict[str, Any]) -> RagwaysError:
    """The error that another process sent; of a kind that is not known here, a RagwaysError."""
    kind = getattr(errors, data["kind"], None)
    if not (isinstance(kind, type) and issubclass(kind, RagwaysError)):
        kind = RagwaysError
    return kind(data["message"], cure=data["cure"])


def from_ragways(error: RagwaysError) -> ServiceError:
    """The error as a client may see it.

    An error about the request keeps its message, without paths. One about the server's disk, its settings or its model
    endpoint may quote addresses and parts of keys: it gets a message of our own, and the log has the rest.
    """
    for kind, status, code, *words in _PLACES:
        if isinstance(error, kind):
            message, cure = words or (without_paths(error.message), _BY_COMMAND.sub(_BY_JOB, without_paths(error.cure)))
            return ServiceError(status, code, message, cure, {"Retry-After": "1"} if status in (429, 503) else None)
    return ServiceError(500, "internal", UNKNOWN, UNKNOWN_CURE)


def as_service(error: ServiceError | RagwaysError) -> ServiceError:
    """The same of either kind."""
    return error if isinstance(error, ServiceError) else from_ragways(error)


_BY_COMMAND = re.compile(r"build with: ragways index PATH --with (\S+)")
_BY_JOB = r"start a job of kind index with the layers \1"
"""A cure by the command line, and by what a client of the service has."""
UNKNOWN = "the request could not be answered"
UNKNOWN_CURE = "try again; if it stays, tell whoever runs the server the id of this error"
# The first that fits; without words of its own, those of the error.
_PLACES: tuple[tuple[type[RagwaysError], int, str] | tuple[type[RagwaysError], int, str, str, str], ...] = (
    (NoIndex, 409, "no_index", "this collection has not been indexed yet", "start a job of kind index"),
    (WrongVersion, 409, "wrong_version", "the index was made by another version of ragways", "index it again"),
    (EmbedderChanged, 409, "embedder_changed", "the index was made with another embedder", "index it again"),
    (MissingLayer, 409, "missing_layer"),
    (StoreBusy, 503, "busy", "the collection is being written", "try again in a moment"),
    (StoreError, 503, "index", "the index of this collection cannot be used", "tell whoever runs the server"),
    (NoModel, 501, "no_model", "the server has no language model for this", "choose a paradigm that needs none"),
    (ModelError, 502, "model", "the language model gave no usable answer", "try again, or choose another paradigm"),
    (MissingPart, 501, "missing_part", "the server lacks a part for this", "tell whoever runs the server"),
    (PluginClash, 500, "internal", UNKNOWN, UNKNOWN_CURE),
    (ToolError, 404, "not_found"),
    (SettingsError, 400, "settings"),
    (UsageError, 400, "usage"),
    (LoadError, 422, "unreadable"),
    (BudgetExceeded, 402, "budget"),
    (BudgetHeld, 429, "budget_held"),
)


def handle_errors(app: FastAPI) -> None:
    """Have an app answer every error in this shape; an unexpected one is left to the gate."""
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    async def known(request: Request, error: Exception) -> Response:
        if isinstance(error, RagwaysError):
            shown = from_ragways(error)
            fields = {"request": request_id(request), "code": shown.code}
            if shown.message != error.message:  # else the client has it; it may quote the request
                fields["error"] = redacted(str(error))
            _log.info("%s", type(error).__name__, extra={"fields": fields})
            return reply(request, shown)
        return reply(request, error if isinstance(error, ServiceError) else _foreign(error))

    for kind in (ServiceError, RagwaysError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, known)


def request_id(request: Request) -> str:
    """The id that the gate gave a request; it stands in its errors and in the log."""
    return str(request.scope.get("ragways.request", ""))


def reply(request: Request, error: ServiceError) -> Response:
    """The error as a response, in the shape that the clients of its path read."""
    from starlette.responses import JSONResponse

    openai = request.url.path.startswith("/v1/")
    shown = error.openai_body(request_id(request)) if openai else error.body(request_id(request))
    return JSONResponse(shown, error.status, error.headers)


def _foreign(error: Exception) -> ServiceError:
    """Errors of FastAPI. What was sent is not repeated: only where in it the fault is."""
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        where = ".".join(str(part)[:40] for part in first["loc"][:6])
        return ServiceError(422, "invalid", f"{where}: {first['msg'][:200]}", "see /api/v1/openapi.json")
    status = error.status_code if isinstance(error, HTTPException) else 500
    code, message = {
        404: ("not_found", "there is no such page"),
        405: ("method", "this method cannot be used here"),
    }.get(status, ("http", HTTPStatus(status).phrase.lower()))
    headers = dict(getattr(error, "headers", None) or {})
    return ServiceError(status, code, message, "see /api/v1/openapi.json" if status in (404, 405) else "", headers)


def without_paths(text: str) -> str:
    """The text with every whole path of the server's disk taken out, and cut to a length that a person reads.

    Folders may have spaces in their names: so everything up to the last slash of a line goes.
    """
    return _PATH.sub("…", text)[:LONGEST_MESSAGE]
