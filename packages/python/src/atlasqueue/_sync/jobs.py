# Written by scripts/unasync.py from _async. Do not edit.
# pyright: reportUnnecessaryIsInstance=false
"""Submit, read, wait, cancel, retry."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Iterable, Iterator, Callable, List, Mapping, Sequence, TypeVar

from .._codec import encode
from .._errors import JobFinishedError
from .._http import Call, key_header, path_of, random_key, to_body
from .._models import Attempt, Explanation, Job, Page, Reason, Streamed, read
from .._submission import Backoff, Seconds, Submission, Unique
from .._tracing import sending_many, sending_one
from .flow import FlowBuilder
from .handle import Handle, wait_for_job
from .send import Sender
from .stream import submit_stream

R = TypeVar("R")

_BATCH_JOBS_MAX = 1_000
_BATCH_BYTES_MAX = 1_000_000
_PAGE_JOBS = 50


class Jobs:
    """The calls about jobs. Each may raise AuthError, RateLimitError, UnavailableError, NetworkError, DeadlineError."""

    _sender: Sender

    def submit(
        self,
        type: str | Submission,
        payload: object = None,
        *,
        queue: str | None = None,
        priority: int | None = None,
        max_attempts: int | None = None,
        run_at: datetime | None = None,
        delay: Seconds | None = None,
        timeout: Seconds | None = None,
        expires_in: Seconds | None = None,
        group: str | None = None,
        tags: Sequence[str] | None = None,
        backoff: Backoff | None = None,
        retention: Seconds | None = None,
        result_ttl: Seconds | None = None,
        unique: Unique | None = None,
        depends_on: Sequence[str] | None = None,
        on_parent_failure: str | None = None,
        idempotency_key: str | None = None,
    ) -> Handle[Any]:
        """Stores a job; returns when it is durable. See `Submission` for the fields.

        Without an idempotency key one is made, so that a repeated try makes no second job; give your own to be safe
        across a restart of your program. Raises ValidationError, IdempotencyMismatchError, TooLargeError (payload
        256 KiB), and ValueError or TypeError for a payload that has no JSON form.

            job = client.submit("email.send", {"to": "ada@example.org"}, queue="mail")
            print(job.id, job.result(timeout=30))
        """
        if isinstance(type, Submission):
            return self.submit_as(type, None)
        given = Submission(
            type=type,
            payload={} if payload is None else payload,
            queue=queue,
            priority=priority,
            max_attempts=max_attempts,
            run_at=run_at,
            delay=delay,
            timeout=timeout,
            expires_in=expires_in,
            group=group,
            tags=tags,
            backoff=backoff,
            retention=retention,
            result_ttl=result_ttl,
            unique=unique,
            depends_on=depends_on,
            on_parent_failure=on_parent_failure,
            idempotency_key=idempotency_key,
        )
        return self.submit_as(given, None)

    def submit_as(self, job: Submission, decode: Callable[[Any], R] | None) -> Handle[R]:
        """Like `submit`; the handle's result is what `decode` makes of it."""
        key = random_key() if job.idempotency_key is None else job.idempotency_key
        call = Call("POST", path_of("jobs"), body=to_body(job.to_wire()), headers=key_header(key))
        with sending_one(self._sender.options.tracing, job):
            answer = self._sender.call(call)
        stored = read(Job, answer.body)
        return Handle(self._sender, stored.id, job=stored, created=answer.status == 201, decode=decode)

    def submit_many(self, jobs: Iterable[Submission]) -> List[Handle[Any]]:
        """Any number of jobs; handles in the same order.

        Up to 1,000 jobs and 1 MB go in one request, stored whole or not at all. More go in parts, one after another,
        and if one fails those before it are stored: with your own keys it is safe to call again.
        """
        handles: list[Handle[Any]] = []
        all_jobs = list(jobs)
        with sending_many(self._sender.options.tracing, all_jobs):
            for part in _parts_of(all_jobs):
                body = b'{"jobs":[' + b",".join(part) + b"]}"
                answer = self._sender.call(Call("POST", path_of("jobs", "batch"), body=body))
                handles += [
                    Handle(self._sender, one["id"], job=read(Job, one), created=one["created"])
                    for one in answer.body["jobs"]
                ]
        return handles

    def submit_stream(self, jobs: Iterable[Submission] | Iterable[Submission]) -> Iterator[Streamed]:
        """Any number of jobs as they come, such as the rows of a file; yields what became of each, in order.

        A refused job has an `error`, and those after it go on. Up to 500 jobs go in one request; what got no response
        is sent again under its keys, so each job is stored once.
        """
        return submit_stream(self._sender, jobs)

    def flow(self) -> FlowBuilder:
        """Puts together jobs that depend on each other, to be stored as one. Nothing is sent before its `submit`."""
        return FlowBuilder(self._sender)

    def handle(self, id: str) -> Handle[Any]:
        """The handle of a job whose id you kept."""
        return Handle(self._sender, id)

    def get(self, id: str) -> Job:
        """The job now. Raises NotFoundError."""
        return read(Job, self._sender.ask("GET", "jobs", id))

    def wait(self, id: str, timeout: float = 60.0) -> Job:
        """The job when it is succeeded, dead or cancelled. Raises DeadlineError after `timeout` seconds."""
        return wait_for_job(self._sender, id, timeout)

    def list(
        self,
        *,
        queue: str | None = None,
        type: str | None = None,
        status: str | None = None,
        group: str | None = None,
        tag: str | None = None,
        key: str | None = None,
        search: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        limit: int | None = None,
    ) -> Iterator[Job]:
        """Jobs, newest first, fetched a page at a time; at most `limit`."""
        query = {
            "queue": queue,
            "type": type,
            "status": status,
            "group": group,
            "tag": tag,
            "key": key,
            "search": search,
            "created_after": created_after and created_after.isoformat(),
            "created_before": created_before and created_before.isoformat(),
        }
        for item in pages(self._sender, ("jobs",), query, limit):
            yield read(Job, item)

    def cancel(self, id: str, *, idempotency_key: str | None = None) -> Job:
        """Ends a job that is not final; if it is running, its handler is aborted. Raises JobFinishedError."""
        try:
            return read(Job, self._sender.ask("POST", "jobs", id, "cancel", key=idempotency_key))
        except JobFinishedError as error:
            # The response of an earlier try may have been lost, and this be its doing.
            if error.tries == 1:
                raise
            job = self.get(id)
            if job.status != "cancelled":
                raise
            return job

    def retry(self, id: str, *, idempotency_key: str | None = None) -> Job:
        """Queues a dead, cancelled or failed job again, now and with all its attempts. Raises NotRetryableError."""
        # Not after a lost response: by then the job may have run and died again.
        return read(Job, self._sender.ask("POST", "jobs", id, "retry", safe=False, key=idempotency_key))

    def edit_and_retry(self, id: str, *, patch: Mapping[str, Any] | None = None, payload: object = None) -> Job:
        """Like `retry`, with another payload: `patch` is a JSON merge patch, `payload` the whole. Give one of them."""
        body = {"patch": patch and encode(patch), "payload": payload and encode(payload)}
        return read(Job, self._sender.ask("POST", "jobs", id, "edit", body=body, safe=False))

    def delete(self, id: str) -> None:
        """Deletes a finished job and its attempts. Raises ConflictError and NotFoundError."""
        self._sender.ask("DELETE", "jobs", id, safe=False)

    def attempts(self, id: str) -> List[Attempt]:
        """Every attempt of a job, how it ended and why. Raises NotFoundError."""
        answer = self._sender.ask("GET", "jobs", id, "attempts")
        return [read(Attempt, item) for item in answer["items"]]

    def explain(self, id: str) -> Explanation:
        """Why a job does not run now. Raises NotFoundError."""
        answer = self._sender.ask("GET", "jobs", id, "explain")
        reasons = [read(Reason, reason) for reason in answer["reasons"]]
        return read(Explanation, {**answer, "reasons": reasons})

    def parents(self, id: str, *, cursor: str | None = None, limit: int | None = None) -> Page[dict[str, Any]]:
        """A page of the jobs that a job waits or waited for, each with ref, id, status and result."""
        answer = self._sender.ask("GET", "jobs", id, "parents", query={"cursor": cursor, "limit": limit})
        return Page(answer["items"], answer["next_cursor"])

    def signal(self, id: str, name: str, payload: object = None, *, idempotency_key: str | None = None) -> str:
        """Sends a signal to a job that waits for it, or will. Returns sent, sent_before or too_late.

        Of a name the first signal counts. Raises JobFinishedError.
        """
        body = {"payload": encode(payload)}
        key = idempotency_key or random_key()
        answer = self._sender.ask("POST", "jobs", id, "signals", name, body=body, key=key)
        return str(answer["outcome"])

    def steps(self, id: str) -> dict[str, Any]:
        """The results of a job's steps by their names."""
        answer = self._sender.ask("GET", "jobs", id, "steps")
        return {step["name"]: step["result"] for step in answer["steps"]}


def pages(
    sender: Sender,
    at: tuple[str, ...],
    query: Mapping[str, object],
    limit: int | None = None,
    size: int = _PAGE_JOBS,
) -> Iterator[dict[str, Any]]:
    """The items of all pages. A page may be empty and still be followed by another."""
    left = float("inf") if limit is None else limit
    cursor: str | None = None
    while left > 0:
        page = sender.ask("GET", *at, query={**query, "limit": int(min(left, size)), "cursor": cursor})
        for item in page["items"][: None if limit is None else int(left)]:
            left -= 1
            yield item
        cursor = page["next_cursor"]
        if cursor is None:
            return


def _parts_of(jobs: Iterable[Submission]) -> Iterable[list[bytes]]:
    """The jobs as JSON, in parts that fit one request. One too large for any is its own part, and is refused."""
    part: list[bytes] = []
    size = 0
    for job in jobs:
        key = random_key() if job.idempotency_key is None else job.idempotency_key
        text = to_body({**job.to_wire(), "idempotency_key": key})
        if part and (len(part) == _BATCH_JOBS_MAX or size + len(text) > _BATCH_BYTES_MAX):
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text) + 1
    if part:
        yield part
