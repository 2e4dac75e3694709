"""Every error of the package. Each carries what the API said."""

from __future__ import annotations

import builtins
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping

if TYPE_CHECKING:
    from ._models import Job


@dataclass(frozen=True)
class Problem:
    """The body of an error response (RFC 9457). `instance` is the id of the request in the API's log."""

    type: str
    title: str
    detail: str
    status: int = 0
    instance: str = ""
    errors: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    #: The request, or a part of it, may have been carried out.
    maybe_done: bool = False


class AtlasQueueError(Exception):
    """A call that failed.

    `status` is the response's, `problem` what the API said, `request_id` finds the request in the API's log, and
    `retry_after` is how many seconds the server asked callers to wait. Each is None if there was no such thing.
    """

    status: int | None = None
    problem: Problem | None = None
    request_id: str | None = None
    retry_after: float | None = None
    #: How often the request was sent.
    tries: int = 1

    @property
    def from_api(self) -> bool:
        """Whether the API itself said this. A proxy in between also returns 404, 409 or 503, and knows no jobs."""
        return self.problem is not None and self.problem.type.startswith("/problems/")

    @property
    def database_away(self) -> bool:
        """Whether the API said that its database is unavailable. It ends no lease meanwhile."""
        return self.problem is not None and self.problem.type == "/problems/unavailable"


class AuthError(AtlasQueueError):
    """401 or 403: no token, an unknown or expired one, or one that does not allow this."""


class NotFoundError(AtlasQueueError):
    """404: nothing here has this id, or it belongs to another tenant."""


class ConflictError(AtlasQueueError):
    """409: the request does not fit the job's status."""


class UnderWayError(ConflictError):
    """409: another call with this idempotency key has begun and not finished."""


class LeaseLostError(ConflictError):
    """The job is no longer held under this lease: stop working on it."""


class JobFinishedError(ConflictError):
    """The job has finished, so it cannot be cancelled."""


class NotRetryableError(ConflictError):
    """Only a dead, cancelled or failed job can be retried."""


class ValidationError(AtlasQueueError):
    """400 or 422. `errors` name each field that is wrong by its JSON pointer."""

    @property
    def errors(self) -> list[dict[str, str]]:
        return self.problem.errors if self.problem else []


class IdempotencyMismatchError(AtlasQueueError):
    """The idempotency key was used for another request: one of the two is a mistake."""


class TooLargeError(AtlasQueueError):
    """413: a body, payload or result larger than the server accepts."""


class RateLimitError(AtlasQueueError):
    """429, after the retries."""


class UnavailableError(AtlasQueueError):
    """502, 503 or 504, after the retries: the API or its database is unavailable."""


class DeadlineError(AtlasQueueError, builtins.TimeoutError):
    """No response in time, or a job was not final in time. Whether the request was carried out is unknown."""


class NetworkError(AtlasQueueError, ConnectionError):
    """No connection, or one that broke. `refused` if it was never made, so that nothing was carried out."""

    def __init__(self, message: str, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused


class UnexpectedAnswerError(AtlasQueueError):
    """A success that is not the API's: perhaps the URL is another server's."""


class JobFailedError(AtlasQueueError):
    """The job whose result was asked for is dead. `error_type`, `error_message` and `data` are of its last error."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"job {job.id} is dead: {job.last_error or job.dead_reason or 'no reason was given'}")
        self.job = job
        kind, colon, message = (job.last_error or "").partition(": ")
        named = colon != "" and " " not in kind
        self.error_type = kind if named else "Error"
        self.error_message = message if named else job.last_error or ""
        result: object = job.result
        self.data: Any = job.result.get("error_data") if isinstance(result, dict) else None


class JobCancelledError(AtlasQueueError):
    """The job whose result was asked for was cancelled."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"job {job.id} was cancelled")
        self.job = job


class PayloadError(Exception):
    """A payload, or a result, does not fit the types of the job's function."""


class StepError(Exception):
    """A step or a wait that cannot be done: its name, its result or its time."""


class RetryAfter(Exception):
    """Raise this in a handler to choose when the job is tried again. `delay` in seconds, at most a year."""

    def __init__(self, delay: float, message: str = "") -> None:
        super().__init__(message or f"again in {delay:g} s")
        if not 0 <= delay <= 31_536_000:
            raise ValueError(f"delay must be a number of seconds from 0 to 31536000; got {delay!r}")
        self.delay = delay


class DoNotRetry(Exception):
    """Raise this in a handler if retrying cannot help: the job becomes a dead letter at once."""


_by_problem = {
    "lease-lost": LeaseLostError,
    "job-finished": JobFinishedError,
    "not-retryable": NotRetryableError,
    "idempotency-mismatch": IdempotencyMismatchError,
    "idempotency-under-way": UnderWayError,
}
_by_status = {
    400: ValidationError,
    401: AuthError,
    403: AuthError,
    404: NotFoundError,
    408: DeadlineError,
    409: ConflictError,
    413: TooLargeError,
    422: ValidationError,
    429: RateLimitError,
    502: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
}


def error_of_problem(what: str, status: int, problem: Problem | None, reason: str = "") -> AtlasQueueError:
    """The error that a response stands for. `what` is the call, such as "GET /v1/jobs/17"."""
    kind = problem.type.rsplit("/", 1)[-1] if problem else ""
    error_class = _by_problem.get(kind) or _by_status.get(status) or AtlasQueueError
    error: AtlasQueueError = error_class(f"{what}: {status} {_words_of(problem) if problem else reason}".rstrip())
    error.status = status
    error.problem = problem
    error.request_id = (problem.instance or None) if problem else None
    return error


def _words_of(problem: Problem) -> str:
    faults = "; ".join(f"{fault.get('pointer') or '/'} {fault.get('message', '')}" for fault in problem.errors)
    return f"{problem.title}: {faults or problem.detail}"


def read_problem(given: object) -> Problem | None:
    """A problem from its JSON, as bytes or parsed; None if it is none."""
    if isinstance(given, (bytes, str)):
        try:
            given = json.loads(given)
        except ValueError:
            return None
    if not isinstance(given, Mapping):
        return None
    fields: dict[str, Any] = dict(given)  # pyright: ignore[reportUnknownArgumentType]
    if not all(isinstance(fields.get(name), str) for name in ("type", "title", "detail")):
        return None
    known: dict[str, Any] = {name: fields[name] for name in ("type", "title", "detail")}
    if isinstance(fields.get("status"), int):
        known["status"] = fields["status"]
    if isinstance(fields.get("instance"), str):
        known["instance"] = fields["instance"]
    if isinstance(fields.get("errors"), list):
        known["errors"] = [fault for fault in fields["errors"] if isinstance(fault, dict)]
    return Problem(**known, maybe_done=fields.get("maybe_done") is True)
