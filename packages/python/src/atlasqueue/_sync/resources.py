# Written by scripts/unasync.py from _async. Do not edit.
# pyright: reportUnnecessaryIsInstance=false
"""Queues, schedules, dead letters, tokens and flows."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Iterator, List, Mapping, Sequence

from .._models import BulkAnswer, DeadGroup, Flow, Job, Page, Queue, Schedule, Token, read
from .._submission import Backoff, Seconds, Submission, backoff_of, seconds_of
from .jobs import pages
from .send import Sender


class Queues:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(self) -> Iterator[Queue]:
        """All queues, by name."""
        for item in pages(self._sender, ("queues",), {}, size=1_000):
            yield read(Queue, item)

    def get(self, queue: str) -> Queue:
        return read(Queue, self._sender.ask("GET", "queues", queue))

    def pause(self, queue: str) -> Queue:
        """Its jobs stay, and none starts until `resume`. Safe to repeat."""
        return read(Queue, self._sender.ask("POST", "queues", queue, "pause"))

    def resume(self, queue: str) -> Queue:
        return read(Queue, self._sender.ask("POST", "queues", queue, "resume"))

    def set_limits(
        self,
        queue: str,
        *,
        concurrency: int | None = None,
        group_concurrency: int | None = None,
        rate: tuple[int, float] | None = None,
        group_rate: tuple[int, float] | None = None,
        fair_by: str | None = None,
    ) -> Queue:
        """Replaces all limits. None is unlimited, but one job at once for a group. A rate is (starts, seconds).

        With `fair_by="group"` groups take turns. Safe to repeat.
        """
        body = {
            "concurrency": concurrency,
            "group_concurrency": group_concurrency,
            "rate": _rate(rate),
            "group_rate": _rate(group_rate),
            "fair_by": fair_by,
        }
        return read(Queue, self._sender.ask("PUT", "queues", queue, "limits", body=body))

    def set_defaults(
        self,
        queue: str,
        *,
        max_attempts: int | None = None,
        backoff: Backoff | None = None,
        timeout: Seconds | None = None,
        retention: Seconds | None = None,
        result_ttl: Seconds | None = None,
    ) -> Queue:
        """Replaces all defaults of new jobs that name no value of their own. None is the system's. Safe to repeat."""
        body = {
            "max_attempts": max_attempts,
            "backoff": backoff_of(backoff),
            "timeout_seconds": seconds_of(timeout),
            "retention_seconds": seconds_of(retention),
            "result_ttl_seconds": seconds_of(result_ttl),
        }
        return read(Queue, self._sender.ask("PUT", "queues", queue, "defaults", body=body))


def _rate(given: tuple[int, float] | None) -> dict[str, float] | None:
    return None if given is None else {"limit": given[0], "period_seconds": given[1]}


class Schedules:
    """Jobs that recur by cron. Raises NotFoundError for an unknown name."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def put(
        self, name: str, *, cron: str, job: Submission, timezone: str | None = None, catch_up: str | None = None
    ) -> Schedule:
        """Creates a schedule or replaces it; safe to repeat, as at the start of a program.

        `cron` has five fields; `timezone` is an IANA name, by default UTC. `catch_up` says what becomes of times that
        passed while nothing ran: none, one (default) or all.
        """
        return read(
            Schedule, self._sender.ask("PUT", "schedules", name, body=_schedule(cron, job, timezone, catch_up))
        )

    def create(
        self, name: str, *, cron: str, job: Submission, timezone: str | None = None, catch_up: str | None = None
    ) -> Schedule:
        """Like `put`, and raises ConflictError if the name is taken."""
        body = {"name": name, **_schedule(cron, job, timezone, catch_up)}
        return read(Schedule, self._sender.ask("POST", "schedules", body=body, safe=False))

    def get(self, name: str) -> Schedule:
        return read(Schedule, self._sender.ask("GET", "schedules", name))

    def list(self) -> Iterator[Schedule]:
        """All schedules, by name."""
        for item in pages(self._sender, ("schedules",), {}):
            yield read(Schedule, item)

    def pause(self, name: str) -> Schedule:
        return read(Schedule, self._sender.ask("POST", "schedules", name, "pause"))

    def resume(self, name: str) -> Schedule:
        return read(Schedule, self._sender.ask("POST", "schedules", name, "resume"))

    def run(self, name: str) -> Job:
        """Submits its job now, besides its times."""
        return read(Job, self._sender.ask("POST", "schedules", name, "run", safe=False))

    def delete(self, name: str) -> None:
        """The jobs that it made stay."""
        self._sender.ask("DELETE", "schedules", name, safe=False)


def _schedule(cron: str, job: Submission, timezone: str | None, catch_up: str | None) -> dict[str, Any]:
    return {"cron": cron, "timezone": timezone, "catch_up": catch_up, "job": job.to_wire()}


class DeadLetters:
    """Jobs that failed for good."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(
        self,
        *,
        queue: str | None = None,
        type: str | None = None,
        fingerprint: str | None = None,
        limit: int | None = None,
    ) -> Iterator[Job]:
        """The most recently dead first, fetched a page at a time."""
        query = {"queue": queue, "type": type, "fingerprint": fingerprint}
        for item in pages(self._sender, ("dlq",), query, limit):
            yield read(Job, item)

    def groups(self, *, type: str | None = None, cursor: str | None = None) -> Page[DeadGroup]:
        """Grouped by type and error, a page at a time."""
        answer = self._sender.ask("GET", "dlq", "groups", query={"type": type, "cursor": cursor})
        return Page([read(DeadGroup, item) for item in answer["items"]], answer["next_cursor"])

    def replay(
        self,
        *,
        ids: Sequence[str] | None = None,
        queue: str | None = None,
        type: str | None = None,
        tag: str | None = None,
        fingerprint: str | None = None,
        died_after: datetime | None = None,
        died_before: datetime | None = None,
        all: bool = False,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> BulkAnswer:
        """Queues dead letters again, with all their attempts: by id, by what they have in common, or `all=True`."""
        which = _which(ids, queue, type, tag, fingerprint, died_after, died_before, all)
        return self._change("replay", which, dry_run, idempotency_key)

    def purge(
        self,
        *,
        ids: Sequence[str] | None = None,
        queue: str | None = None,
        type: str | None = None,
        tag: str | None = None,
        fingerprint: str | None = None,
        died_after: datetime | None = None,
        died_before: datetime | None = None,
        all: bool = False,
        dry_run: bool = False,
    ) -> BulkAnswer:
        """Deletes dead letters for good. Otherwise like `replay`."""
        return self._change(
            "purge", _which(ids, queue, type, tag, fingerprint, died_after, died_before, all), dry_run, None
        )

    def _change(self, verb: str, which: Mapping[str, Any], dry_run: bool, key: str | None) -> BulkAnswer:
        # Not after a lost response: by then a job may have died again.
        body = {**which, "dry_run": dry_run}
        return read(BulkAnswer, self._sender.ask("POST", "dlq", verb, body=body, safe=dry_run, key=key))


def _which(
    ids: Sequence[str] | None,
    queue: str | None,
    type: str | None,
    tag: str | None,
    fingerprint: str | None,
    died_after: datetime | None,
    died_before: datetime | None,
    all: bool,
) -> dict[str, Any]:
    return {
        "ids": list(ids) if ids is not None else None,
        "queue": queue,
        "type": type,
        "tag": tag,
        "fingerprint": fingerprint,
        "died_after": died_after and died_after.isoformat(),
        "died_before": died_before and died_before.isoformat(),
        "all": True if all else None,
    }


class Tokens:
    """API tokens. All calls but `revoke` of your own token need the scope `admin`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(self) -> List[Token]:
        return [read(Token, item) for item in (self._sender.ask("GET", "tokens"))["items"]]

    def create(self, name: str, scopes: Sequence[str], *, expires_in_seconds: int | None = None) -> Token:
        """Makes a token of the scopes submit, read, work, metrics or admin. Only this response has the token itself."""
        body = {"name": name, "scopes": list(scopes), "expires_in_seconds": expires_in_seconds}
        # Not after a lost response: the token in it would be lost, and another one made.
        return read(Token, self._sender.ask("POST", "tokens", body=body, safe=False))

    def rotate(self, id: str, *, overlap_seconds: int | None = None) -> Token:
        """A successor with the same name and scopes; the old one works for `overlap_seconds` more, by default a day."""
        body = {"overlap_seconds": overlap_seconds}
        return read(Token, self._sender.ask("POST", "tokens", id, "rotate", body=body, safe=False))

    def revoke(self, id: str) -> None:
        """Ends a token. Raises NotFoundError if it is not valid any more."""
        self._sender.ask("DELETE", "tokens", id, safe=False)


class Flows:
    """Flows as a whole."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def get(self, id: str) -> Flow:
        return read(Flow, self._sender.ask("GET", "flows", id))

    def list(self, *, state: str | None = None, limit: int | None = None) -> Iterator[Flow]:
        """Newest first. `state` is running, held, succeeded, failed or cancelled."""
        for item in pages(self._sender, ("flows",), {"state": state}, limit):
            yield read(Flow, item)

    def cancel(self, id: str) -> int:
        """Cancels its jobs that are not final; returns how many."""
        return int((self._sender.ask("POST", "flows", id, "cancel", safe=False))["changed"])

    def retry(self, id: str) -> int:
        """Queues again what failed; returns how many jobs."""
        return int((self._sender.ask("POST", "flows", id, "retry", safe=False))["changed"])
