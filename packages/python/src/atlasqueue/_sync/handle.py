# Written by scripts/unasync.py from _async. Do not edit.
# pyright: reportUnnecessaryIsInstance=false
"""A submitted job, to follow."""

from __future__ import annotations

from time import monotonic
from typing import Any, Callable, Generic, TypeVar

from .._clock import sleep
from .._errors import DeadlineError, JobCancelledError, JobFailedError, UnavailableError
from .._http import Options
from .._models import Job, read
from .send import Sender

R = TypeVar("R")

_HOLD_SECONDS_MAX = 20
_POLL_SECONDS = 0.25


class Handle(Generic[R]):
    """A job by its id. `created` is False if its key or its unique key already named it; `job` is how it was then."""

    def __init__(
        self,
        sender: Sender,
        id: str,
        *,
        job: Job | None = None,
        created: bool = True,
        decode: Callable[[Any], R] | None = None,
    ) -> None:
        self.id = id
        self.job = job
        self.created = created
        self._sender = sender
        self._decode = decode

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    def get(self) -> Job:
        """The job now. Raises NotFoundError."""
        return read(Job, self._sender.ask("GET", "jobs", self.id))

    def wait(self, timeout: float = 60.0) -> Job:
        """The job when it is final. Raises DeadlineError after `timeout` seconds; the job goes on."""
        return wait_for_job(self._sender, self.id, timeout)

    def result(self, timeout: float = 60.0) -> R:
        """What the handler returned. Raises JobFailedError, JobCancelledError, and DeadlineError after `timeout` s."""
        job = self.wait(timeout)
        if job.status == "cancelled":
            raise JobCancelledError(job)
        if job.status != "succeeded":
            raise JobFailedError(job)
        found: R = self._decode(job.result) if self._decode else job.result
        return found


def wait_for_job(sender: Sender, id: str, timeout: float) -> Job:
    """Asks until the job is final. The server holds each request back for up to 20 s."""
    ends_at = monotonic() + timeout
    while True:
        asked_at = monotonic()
        left = max(0.0, ends_at - asked_at)
        hold = min(_HOLD_SECONDS_MAX, int(left))
        patient = Sender(_patient(sender.options, left), sender.transport)
        try:
            query = {"wait_seconds": hold} if hold > 0 else {}
            job = read(Job, patient.ask("GET", "jobs", id, query=query, hold=hold))
        except UnavailableError:
            if monotonic() >= ends_at:
                raise
            sleep(_POLL_SECONDS)
            continue
        if job.is_final:
            return job
        now = monotonic()
        if now >= ends_at:
            raise DeadlineError(f"job {id} was {job.status} after {timeout:g} s, and is left as it is")
        # A server that answers early, as it is stopping, must not be asked again at once.
        if now - asked_at < hold - _POLL_SECONDS or hold == 0:
            sleep(min(_POLL_SECONDS, ends_at - now))


def _patient(options: Options, left: float) -> Options:
    from dataclasses import replace

    return replace(options, retries=float("inf"), retry_max=left)
