"""A job to be submitted, in Python's own types, and its form on the wire."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Mapping, Sequence

from ._codec import encode

Seconds = float | timedelta


@dataclass(frozen=True)
class Backoff:
    """How long a failed job waits: `Backoff.fixed(5)` or `Backoff.exponential(1, max_seconds=60)`."""

    kind: str
    base_seconds: float
    max_seconds: float | None = None

    @staticmethod
    def fixed(seconds: float) -> Backoff:
        return Backoff("fixed", seconds)

    @staticmethod
    def exponential(base_seconds: float, max_seconds: float | None = None) -> Backoff:
        return Backoff("exponential", base_seconds, max_seconds)


@dataclass(frozen=True)
class Unique:
    """At most one job with a key in its queue: while it is active, or within `window_seconds` of its creation.

    Without a `key`, jobs of the same type and payload are the same. `on_conflict` is return, replace or reject.
    """

    key: str | None = None
    window_seconds: int | None = None
    on_conflict: str = "return"


@dataclass(frozen=True)
class Submission:
    """A job to submit. What is None is left to the server: queue "default", priority 0, the queue's defaults.

    `payload` is a dict, a dataclass or a pydantic model. `delay` is in seconds or a timedelta and excludes `run_at`,
    which needs a time zone. `timeout` in seconds ends an attempt. Jobs of one `group` run in order. A job that no worker
    has taken `expires_in` seconds after its submission is cancelled. The job is kept for `retention` after it has
    finished, and its result for `result_ttl`.
    """

    type: str
    payload: object = field(default_factory=dict[str, Any])
    queue: str | None = None
    priority: int | None = None
    max_attempts: int | None = None
    run_at: datetime | None = None
    delay: Seconds | None = None
    timeout: Seconds | None = None
    expires_in: Seconds | None = None
    group: str | None = None
    tags: Sequence[str] | None = None
    backoff: Backoff | None = None
    retention: Seconds | None = None
    result_ttl: Seconds | None = None
    unique: Unique | None = None
    depends_on: Sequence[str] | None = None
    on_parent_failure: str | None = None
    idempotency_key: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """As JSON, without the idempotency key. Raises ValueError and TypeError for what the wire cannot hold."""
        payload = encode(self.payload)
        if not isinstance(payload, dict):
            raise TypeError(
                f"payload must be a dict, a dataclass or a pydantic model; got {type(self.payload).__name__}"
            )
        if self.run_at is not None and self.run_at.tzinfo is None:
            raise ValueError("run_at must have a time zone, such as datetime.now(timezone.utc)")
        fields: dict[str, Any] = {
            "type": self.type,
            "payload": payload,
            "queue": self.queue,
            "priority": self.priority,
            "max_attempts": self.max_attempts,
            "run_at": self.run_at and self.run_at.isoformat(),
            "delay_seconds": seconds_of(self.delay),
            "timeout_seconds": seconds_of(self.timeout),
            "expires_in": seconds_of(self.expires_in),
            "group": self.group,
            "tags": list(self.tags) if self.tags else None,
            "backoff": backoff_of(self.backoff),
            "retention_seconds": seconds_of(self.retention),
            "result_ttl_seconds": seconds_of(self.result_ttl),
            "unique": self.unique and self._unique_to_wire(self.unique),
            "depends_on": list(self.depends_on) if self.depends_on else None,
            "on_parent_failure": self.on_parent_failure if self.depends_on else None,
        }
        return _without_none(fields)

    def to_sql(self) -> tuple[str, str, str]:
        """The arguments of `atlasqueue.submit`, for a transaction of yours. Raises like `to_wire`.

        cursor.execute("SELECT atlasqueue.submit(%s, %s, %s)", send_email.submission(to="ada@example.org").to_sql())
        """
        fields = _without_none({**self.to_wire(), "idempotency_key": self.idempotency_key})
        return fields.pop("type"), json.dumps(fields.pop("payload")), json.dumps(fields)

    @staticmethod
    def _unique_to_wire(unique: Unique) -> dict[str, Any]:
        scope = "active" if unique.window_seconds is None else "window"
        return _without_none({**unique.__dict__, "scope": scope})


def backoff_of(given: Backoff | None) -> dict[str, Any] | None:
    """As the wire has it."""
    return None if given is None else _without_none(given.__dict__)


def seconds_of(given: Seconds | None) -> float | None:
    """As the wire has them."""
    if isinstance(given, timedelta):
        return given.total_seconds()
    # The wire wants a whole number where there is one.
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _without_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
