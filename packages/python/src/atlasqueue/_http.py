"""Requests and responses as data: how a call becomes a request, and a response an answer or an error. No I/O."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from typing import Any, Mapping
from urllib.parse import quote, urlencode, urlsplit

from ._errors import AtlasQueueError, NetworkError, UnexpectedAnswerError, error_of_problem, read_problem
from ._retry import parse_retry_after
from ._tracing import Tracing


@dataclass(frozen=True)
class HttpRequest:
    """What a transport sends."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None


@dataclass(frozen=True)
class HttpResponse:
    """What a transport received. The names of the headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class TransportError(Exception):
    """A transport had no connection, or one that broke. `refused` if it was never made."""

    def __init__(self, message: str, *, refused: bool) -> None:
        super().__init__(message)
        self.refused = refused


@dataclass(frozen=True)
class Options:
    """How a client sends its requests."""

    url: str
    token: str | None
    headers: Mapping[str, str]
    #: Seconds for one try, on top of the time that it waits on the server.
    timeout: float
    #: Tries after the first, where a retry is safe.
    retries: float
    #: No try starts later than this many seconds after the first.
    retry_max: float
    tracing: Tracing | None = None


@dataclass(frozen=True)
class Call:
    """One call of the API."""

    method: str
    path: str
    query: Mapping[str, object] = field(default_factory=dict[str, object])
    #: Serialized once, so that every try sends the same.
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Sending it twice is the same as sending it once.
    safe: bool = True
    #: Seconds that the server may hold the response back.
    hold: float = 0.0
    #: The response is of no use after this many seconds on top of `hold`.
    answer_max: float | None = None

    @property
    def what(self) -> str:
        return f"{self.method} {self.path}"

    def timeout(self, options: Options) -> float:
        return min(options.timeout, self.answer_max or options.timeout) + self.hold


@dataclass(frozen=True)
class Answer:
    """A success. `body` is its JSON, `text` as it came."""

    status: int
    body: Any
    text: bytes
    replayed: bool
    #: When the try that got it was sent, by the clock of `time.monotonic()`, and which try it was.
    sent_at: float = 0.0
    tries: int = 1


class Body(dict[str, Any]):
    """The JSON of a response. A field that is missing means that something else than the API responded."""

    def __missing__(self, name: str) -> Any:
        raise UnexpectedAnswerError(f"the response has no {name!r}: is this AtlasQueue's URL?")


def checked_options(
    url: str, token: str | None, headers: Mapping[str, str], timeout: float, retries: float, retry_max: float
) -> Options:
    """Refuses what no request could be sent with. No message shows a token or the user of a URL."""
    parts = urlsplit(url) if isinstance(url, str) else urlsplit("")  # pyright: ignore[reportUnnecessaryIsInstance]
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url must be an http(s) URL, such as http://127.0.0.1:8000")
    if parts.username or parts.password:
        raise ValueError("url must be without a user and password; a token says who calls")
    if parts.query or parts.fragment:
        raise ValueError("url must be without a query and a fragment, such as http://127.0.0.1:8000")
    if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token):
        raise ValueError("token must be printable ASCII without spaces")
    for name, value in (("timeout", timeout), ("retries", retries), ("retry_max", retry_max)):
        if not value >= 0:
            raise ValueError(f"{name} must be a number from 0; got {value!r}")
    return Options(
        f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", token, headers, timeout, retries, retry_max
    )


def request_of(options: Options, call: Call) -> HttpRequest:
    headers = {"accept": "application/json"}
    if call.body is not None:
        headers["content-type"] = "application/json"
    if options.token is not None:
        headers["authorization"] = f"Bearer {options.token}"
    if options.tracing is not None:
        headers.update(options.tracing.headers())
    headers.update(options.headers)
    headers.update(call.headers)
    query = urlencode([(name, str(value)) for name, value in call.query.items() if value is not None])
    return HttpRequest(call.method, f"{options.url}{call.path}{'?' + query if query else ''}", headers, call.body)


def answer_of(options: Options, call: Call, response: HttpResponse) -> Answer:
    """The answer in a response. Raises the error that any other response stands for."""
    if not 200 <= response.status < 300:
        raise _error_of(options, call, response)
    replayed = response.headers.get("idempotency-replayed") == "true"
    if response.status == 204 or call.headers.get("accept") == "application/x-ndjson":
        return Answer(response.status, {}, response.body, replayed)
    try:
        body: object = json.loads(response.body)
    except ValueError:
        body = None
    # Not checked further: an older client must accept a newer server's fields.
    if not isinstance(body, dict):
        error = UnexpectedAnswerError(
            f"{call.what}: {response.status}, but the body is not a JSON object: is this AtlasQueue's URL?"
        )
        error.status = response.status
        raise error
    found = Body(body)  # pyright: ignore[reportUnknownArgumentType]
    return Answer(response.status, found, response.body, replayed)


def _error_of(options: Options, call: Call, response: HttpResponse) -> AtlasQueueError:
    text = hide_token(options, response.body.decode("utf-8", "replace"))
    error = error_of_problem(call.what, response.status, read_problem(text))
    error.request_id = response.headers.get("x-request-id") or error.request_id
    error.retry_after = parse_retry_after(response.headers.get("retry-after"))
    return error


def hide_token(options: Options, text: str) -> str:
    return text.replace(options.token, "[token]") if options.token else text


def network_error(options: Options, call: Call, thrown: TransportError) -> NetworkError:
    what = f"{call.what}: no connection to {options.url}" if thrown.refused else call.what
    return NetworkError(f"{what}: {hide_token(options, str(thrown))}", refused=thrown.refused)


def to_body(value: object) -> bytes:
    """JSON. Raises a ValueError for NaN and infinite numbers, and a TypeError for what JSON does not have."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def path_of(*at: str) -> str:
    """A path after /v1, of names and ids."""
    return "/v1/" + "/".join(_segment(name) for name in at)


def _segment(name: str) -> str:
    if not isinstance(name, str) or name in ("", ".", ".."):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"not an id or a name: {name!r}")
    return quote(name, safe="")


def random_key() -> str:
    """128 random bits in hexadecimal."""
    return os.urandom(16).hex()


def random_token() -> str:
    """A UUID for one request that leases."""
    key = random_key()
    return f"{key[:8]}-{key[8:12]}-{key[12:16]}-{key[16:20]}-{key[20:]}"


def key_header(key: str) -> dict[str, str]:
    """An idempotency key as its header, quoted so that spaces at its ends and quotes inside count."""
    if len(key) > 512 or not re.fullmatch(r"(?!schedule:) *[!-~][ -~]*", key):
        raise ValueError(
            "idempotency_key must be 1 to 512 printable ASCII characters that do not start with schedule:; "
            f"got {key[:40]!r}"
        )
    escaped = re.sub(r'([\\"])', r"\\\1", key)
    return {"idempotency-key": f'"{escaped}"'}
