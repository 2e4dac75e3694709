"""What the API returns, as dataclasses. Fields of a newer server that are unknown here are left out."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, Mapping, TypeVar

from ._errors import UnexpectedAnswerError

JobStatus = Literal["scheduled", "blocked", "queued", "running", "failed", "succeeded", "dead", "cancelled"]
FINAL = frozenset({"succeeded", "dead", "cancelled"})

Row = TypeVar("Row")


def read(model: type[Row], given: Mapping[str, Any]) -> Row:
    """A dataclass from the JSON of a response. Fields typed `datetime` are parsed."""
    values: dict[str, Any] = {}
    for one in dataclasses.fields(model):  # pyright: ignore[reportArgumentType]
        if one.name in given:
            value = given[one.name]
            values[one.name] = parse_time(value) if isinstance(value, str) and "datetime" in str(one.type) else value
    try:
        return model(**values)
    except TypeError as error:
        raise UnexpectedAnswerError(f"the response is no {model.__name__}: is this AtlasQueue's URL?") from error


def parse_time(text: str) -> datetime:
    """An RFC 3339 time; Python before 3.11 reads no Z."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


@dataclass(frozen=True)
class Job:
    """A job. A token without the scope `read` gets its id, status and times after a change; the rest is None then."""

    id: str
    status: JobStatus
    type: str = ""
    queue: str = ""
    priority: int = 0
    attempts: int = 0
    max_attempts: int = 0
    payload: dict[str, Any] = field(default_factory=dict[str, Any])
    result: Any = None
    last_error: str | None = None
    run_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    expires_at: datetime | None = None
    group: str | None = None
    tags: list[str] | None = None
    worker_id: str | None = None
    locked_until: datetime | None = None
    progress: Any = None
    timeout_seconds: int | None = None
    retention_seconds: int | None = None
    result_ttl_seconds: int | None = None
    dead_reason: str | None = None
    waits_for: str | None = None
    traceparent: str | None = None
    tracestate: str | None = None
    flow_id: str | None = None

    @property
    def is_final(self) -> bool:
        """Succeeded, dead or cancelled."""
        return self.status in FINAL


@dataclass(frozen=True)
class Attempt:
    """One run of a job. `outcome` is succeeded, failed, lost, cancelled or running."""

    attempt: int
    outcome: str
    worker_id: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    error: str | None = None
    log: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


@dataclass(frozen=True)
class Reason:
    """Why a job does not run now: a code for programs, a detail for people."""

    code: str
    detail: str


@dataclass(frozen=True)
class Explanation:
    status: JobStatus
    reasons: list[Reason]
    trace_id: str | None = None
    trace_url: str | None = None


@dataclass(frozen=True)
class LeasedJob:
    """A job that is yours until `ends_at`, by the clock of `time.monotonic()`. A heartbeat extends that."""

    job: Job
    lease_token: str
    ends_at: float
    steps: dict[str, Any] = field(default_factory=dict[str, Any])
    signals: dict[str, Any] = field(default_factory=dict[str, Any])
    steps_complete: bool = False
    #: By ref, of a job that waited for others; each with id, status and result.
    parents: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    parents_complete: bool = True


@dataclass(frozen=True)
class Parked:
    """What came of waiting for a signal: `outcome` is parked, signalled or timed_out."""

    outcome: str
    payload: Any = None
    until: datetime | None = None


@dataclass(frozen=True)
class Queue:
    queue: str
    paused: bool
    counts: dict[str, int]
    limits: dict[str, Any]
    oldest_queued_at: datetime | None = None
    defaults: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Schedule:
    name: str
    cron: str
    timezone: str
    catch_up: str
    job: dict[str, Any]
    paused: bool = False
    #: The next five times, as RFC 3339 texts.
    next_runs: list[str] = field(default_factory=list[str])
    last_run: datetime | None = None
    last_job_id: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True)
class Token:
    """A token as listed. `token` is there only in the response that made it."""

    id: str
    name: str
    hint: str
    scopes: list[str]
    created_at: datetime | None = None
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class DeadGroup:
    """Dead letters of one type whose errors have one pattern."""

    type: str
    fingerprint: str
    error: str
    count: int
    sample_job_id: str
    first_seen: datetime | None = None
    last_seen: datetime | None = None


@dataclass(frozen=True)
class BulkAnswer:
    """How many dead letters matched, and how many were changed; fewer if time ran out. Then call again."""

    matched: int
    changed: int
    complete: bool = True
    died_before: datetime | None = None


@dataclass(frozen=True)
class Flow:
    """Jobs that depend on each other. `state` is running, held, succeeded, failed or cancelled."""

    id: str
    state: str
    jobs: int = 0
    counts: dict[str, int] = field(default_factory=dict[str, int])
    created_at: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True)
class WorkerInfo:
    """A worker that reports itself. Workers over HTTP do not."""

    id: str
    host: str
    pid: int
    queues: list[str]
    handlers: list[str]
    concurrency: int
    active: int
    state: str
    last_seen: datetime | None = None
    started_at: datetime | None = None
    version: str | None = None
    memory_bytes: int | None = None
    jobs_per_minute: int | None = None


@dataclass(frozen=True)
class Page(Generic[Row]):
    """One page of a list; continue with its `next_cursor` until that is None."""

    items: list[Row]
    next_cursor: str | None


@dataclass(frozen=True)
class Streamed:
    """What became of a job of `submit_stream`, by its place. `outcome` is created, replayed, existing or replaced."""

    index: int
    key: str
    id: str | None = None
    status: str | None = None
    outcome: str | None = None
    error: Exception | None = None
