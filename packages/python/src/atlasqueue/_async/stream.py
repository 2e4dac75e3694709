"""Any number of jobs over POST /v1/jobs/stream, up to 500 lines a request."""

from __future__ import annotations

import json
import random
from time import monotonic
from typing import Any, AsyncIterable, AsyncIterator, Iterable

from .._clock import async_sleep
from .._errors import AtlasQueueError, TooLargeError, UnexpectedAnswerError, error_of_problem, read_problem
from .._http import Answer, Call, path_of, random_key, to_body
from .._models import Streamed
from .._retry import backoff_seconds, may_repeat
from .._submission import Submission
from .send import AsyncSender

_LINES_MAX = 500
_BYTES_MAX = 1_000_000
#: A slow source: what has come is sent when the next job comes later than this.
_LINGER_SECONDS = 0.5
_WHAT = "POST /v1/jobs/stream"
_LINES = {"content-type": "application/x-ndjson", "accept": "application/x-ndjson"}

#: A key and its line.
Line = tuple[str, bytes]


async def submit_stream(
    sender: AsyncSender, jobs: AsyncIterable[Submission] | Iterable[Submission]
) -> AsyncIterator[Streamed]:
    index = 0
    async for lines in _chunks(jobs):
        async for answered in _send_lines(sender, lines):
            yield Streamed(index=index, **answered)
            index += 1


async def _send_lines(sender: AsyncSender, lines: list[Line]) -> AsyncIterator[dict[str, Any]]:
    """Sends lines until each is answered. A request without progress counts as a failed try."""
    tries = 0
    while lines:
        progress = 0
        last: AtlasQueueError | None = None
        answer = await sender.call(
            Call("POST", path_of("jobs", "stream"), body=b"".join(line for _, line in lines), headers=_LINES)
        )
        for said in _lines_of(answer):
            if "end" in said:
                last = _error_of(said)
                # The line that ended it is the oldest one.
                if isinstance(last, TooLargeError):
                    yield {"key": lines[progress][0], "error": last}
                    progress, last = progress + 1, None
                break
            if progress == len(lines):
                raise UnexpectedAnswerError(f"{_WHAT}: an answer to nothing")
            key = lines[progress][0]
            progress += 1
            error = _error_of(said)
            yield (
                {"key": key, "error": error}
                if error
                else {"key": key, "id": said["id"], "status": said["status"], "outcome": said["outcome"]}
            )
        lines = lines[progress:]
        tries = 0 if progress else tries + 1
        if not lines:
            return
        if last is not None and not may_repeat(last, True):
            raise last
        if tries > sender.options.retries:
            raise last or UnexpectedAnswerError(f"{_WHAT}: {len(lines)} jobs have no answer")
        await async_sleep(((last.retry_after if last else None) or 0.0) + backoff_seconds(tries, random.random()))


def _lines_of(answer: Answer) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    for line in answer.text.split(b"\n"):
        try:
            parsed: Any = json.loads(line) if line.strip() else None
        except ValueError:
            # The response broke off: what is missing is sent again.
            break
        if parsed is not None:
            said.append(parsed)
    return said


def _error_of(said: dict[str, Any]) -> AtlasQueueError | None:
    problem = read_problem(said.get("error"))
    return error_of_problem(_WHAT, problem.status, problem) if problem else None


async def _chunks(jobs: AsyncIterable[Submission] | Iterable[Submission]) -> AsyncIterator[list[Line]]:
    lines: list[Line] = []
    size = 0
    since = monotonic()
    async for job in _each(jobs):
        key = random_key() if job.idempotency_key is None else job.idempotency_key
        line = to_body({**job.to_wire(), "idempotency_key": key}) + b"\n"
        if not lines:
            since = monotonic()
        elif len(lines) == _LINES_MAX or size + len(line) > _BYTES_MAX or monotonic() - since > _LINGER_SECONDS:
            yield lines
            lines, size, since = [], 0, monotonic()
        lines.append((key, line))
        size += len(line)
    if lines:
        yield lines


async def _each(jobs: AsyncIterable[Submission] | Iterable[Submission]) -> AsyncIterator[Submission]:
    if isinstance(jobs, AsyncIterable):
        async for job in jobs:
            yield job
    else:
        for job in jobs:
            yield job
