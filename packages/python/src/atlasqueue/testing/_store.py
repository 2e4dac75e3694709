"""The jobs of a queue in memory: what a submission makes, and which jobs may run. Decides as the API does."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import Any, Generator, Literal, Mapping, Sequence
from uuid import uuid4

from .._models import Job

_POLICIES = ("cancel", "wait", "run")
_ON_CONFLICT = ("return", "replace", "reject")
_WAITING = ("scheduled", "blocked", "queued", "failed")

Outcome = Literal["created", "replayed", "existing", "replaced"]


class Refused(Exception):
    """What the API would refuse: the status, the kind and the detail of its problem."""

    def __init__(self, status: int, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail


@dataclass(frozen=True)
class Asked:
    """One job of a request. `parents` are ids by their refs, `key_of` is what its key stands for besides the job."""

    request: dict[str, Any]
    key: str | None = None
    key_of: object = None
    parents: Mapping[str, str] = field(default_factory=dict[str, str])
    on_parent_failure: str = "cancel"
    flow_id: str | None = None
    id: str = field(default_factory=lambda: str(uuid4()))


@dataclass(frozen=True)
class Kept:
    job: Job
    asked: Asked
    parents: Mapping[str, str]
    #: It was cancelled because a parent failed, and comes back if that parent is retried.
    lost_parent: bool = False


class Store:
    def __init__(self) -> None:
        self.jobs: dict[str, Kept] = {}
        self.steps: dict[str, dict[str, Any]] = {}
        self.signals: dict[str, dict[str, Any]] = {}
        #: When each wait of a job for a signal is over.
        self.waits: dict[str, dict[str, datetime]] = {}
        #: The job that a key stands for, and what was sent with it.
        self._keys: dict[str, tuple[str, object]] = {}
        self._uniques: dict[str, str] = {}

    def change(self, id: str, **changes: Any) -> Job:
        """Changes a job, and those whose status follows from it."""
        kept = self.jobs[id]
        self.jobs[id] = replace(kept, job=replace(kept.job, updated_at=now(), **changes), lost_parent=False)
        self._refresh()
        return self.jobs[id].job

    def wait_ends(self, id: str, signal: str, timeout_seconds: float) -> datetime:
        """When a wait is over. The time counts from the first attempt that waits."""
        ends = now() + timedelta(seconds=timeout_seconds)
        return self.waits.setdefault(id, {}).setdefault(signal, ends)

    def end_waits(self, at: datetime) -> bool:
        """Makes the jobs ready whose waits are over at a time. Says whether there are any."""
        ended = False
        for id, waits in self.waits.items():
            signal = self.jobs[id].job.waits_for
            if signal is not None and waits[signal] <= at:
                waits[signal] = min(waits[signal], now())
                self.change(id, waits_for=None)
                ended = True
        return ended

    def add_parents(self, parent: str, more: Sequence[str]) -> None:
        """Lets the jobs that wait for one job wait for others too."""
        for id, kept in self.jobs.items():
            if parent in kept.parents.values() and id not in more:
                self.jobs[id] = replace(kept, parents={**kept.parents, **{added: added for added in more}})

    @contextmanager
    def all_or_nothing(self) -> Generator[None, None, None]:
        before = dict(self.jobs), dict(self._keys), dict(self._uniques)
        try:
            yield
        except Refused:
            self.jobs, self._keys, self._uniques = before
            raise

    def insert(self, asked: Asked) -> tuple[Job, Outcome]:
        """Stores a job, or finds the one that stands for it. Raises Refused."""
        _require("on_parent_failure", asked.on_parent_failure, _POLICIES)
        known, outcome = self._by_key(asked) or self._by_unique(asked) or (asked.id, "created")
        if outcome == "created":
            self.jobs[known] = Kept(_job_of(asked), asked, asked.parents)
        if asked.key is not None:
            self._keys.setdefault(asked.key, (known, (asked.request, asked.key_of)))
        if outcome == "created" and "unique" in asked.request:
            self._uniques[_unique_name(asked.request)] = known
        self._refresh()
        return self.jobs[known].job, outcome

    def _by_key(self, asked: Asked) -> tuple[str, Outcome] | None:
        if asked.key is None or asked.key not in self._keys:
            return None
        id, sent = self._keys[asked.key]
        if sent != (asked.request, asked.key_of):
            raise Refused(422, "idempotency-mismatch", "the idempotency key was used for another request")
        return id, "replayed"

    def _by_unique(self, asked: Asked) -> tuple[str, Outcome] | None:
        unique = asked.request.get("unique")
        if unique is None:
            return None
        on_conflict = unique.get("on_conflict", "return")
        _require("unique.on_conflict", on_conflict, _ON_CONFLICT)
        holder = self.jobs.get(self._uniques.get(_unique_name(asked.request), ""))
        if holder is None or not _holds(holder.job, unique):
            return None
        if on_conflict == "return":
            return holder.job.id, "existing"
        if on_conflict == "reject":
            raise Refused(409, "unique-conflict", f"job {holder.job.id} has this unique key")
        if holder.job.status not in _WAITING or self._is_wanted_as_it_is(holder):
            return None
        if holder.job.group != asked.request.get("group"):
            raise Refused(409, "unique-conflict", f"job {holder.job.id} has this unique key, and another group")
        job = replace(_job_of(asked), id=holder.job.id, created_at=holder.job.created_at)
        self.jobs[job.id] = replace(holder, job=job)
        return job.id, "replaced"

    def _is_wanted_as_it_is(self, holder: Kept) -> bool:
        """It has done a part, belongs to a flow, or others wait for it: another payload would be lost on them."""
        id = holder.job.id
        others_wait = any(id in kept.parents.values() for kept in self.jobs.values())
        return bool(holder.job.flow_id or self.steps.get(id) or self.signals.get(id)) or others_wait

    def _refresh(self) -> None:
        # The end of one may change those that wait for it, which may be older.
        while any([self._refresh_one(kept) for kept in list(self.jobs.values())]):
            pass

    def _refresh_one(self, kept: Kept) -> bool:
        after = self._after_parents(kept)
        self.jobs[kept.job.id] = after
        return after.job.status != kept.job.status

    def _after_parents(self, kept: Kept) -> Kept:
        job = kept.job
        if job.status == "running" or (job.is_final and not kept.lost_parent):
            return kept
        failed = [parent for parent in self._parents(kept) if parent.status in ("dead", "cancelled")]
        if failed and kept.asked.on_parent_failure == "cancel":
            error = f"Parent{failed[0].status.capitalize()}: the job {failed[0].id} it depends on is {failed[0].status}"
            ended = replace(job, status="cancelled", last_error=error, finished_at=job.finished_at or now())
            return replace(kept, job=ended, lost_parent=True)
        blocked = self._waits(kept) or not self._is_first_of_group(job)
        if kept.lost_parent:
            job = replace(job, last_error=None, finished_at=None)
        return replace(kept, job=replace(job, status="blocked" if blocked else _ready_status(job)), lost_parent=False)

    def _parents(self, kept: Kept) -> list[Job]:
        return [self.jobs[id].job for id in kept.parents.values() if id in self.jobs]

    def _waits(self, kept: Kept) -> bool:
        enough = ("succeeded",) if kept.asked.on_parent_failure == "wait" else ("succeeded", "dead", "cancelled")
        return any(parent.status not in enough for parent in self._parents(kept))

    def _is_first_of_group(self, job: Job) -> bool:
        if job.group is None:
            return True
        group = [kept for kept in self.jobs.values() if (kept.job.queue, kept.job.group) == (job.queue, job.group)]
        first = next((kept.job.id for kept in group if not kept.job.is_final and not self._waits(kept)), job.id)
        return first == job.id


def _ready_status(job: Job) -> Any:
    if job.waits_for is not None:
        return "scheduled"
    return "failed" if job.attempts > 0 and job.last_error is not None else "queued"


def _holds(holder: Job, unique: Mapping[str, Any]) -> bool:
    if unique.get("scope") != "window" or holder.created_at is None:
        return not holder.is_final
    return holder.created_at + timedelta(seconds=unique["window_seconds"]) > now()


def _unique_name(request: Mapping[str, Any]) -> str:
    key = request["unique"].get("key")
    name = [request["type"], request.get("payload", {})] if key is None else key
    return json.dumps([request.get("queue", "default"), name], sort_keys=True)


def _require(field: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise Refused(422, "validation", f"{field} must be one of {', '.join(allowed)}; got {value!r}")


def _job_of(asked: Asked) -> Job:
    given, at = asked.request, now()
    return Job(
        id=asked.id,
        status="queued",
        type=given["type"],
        queue=given.get("queue", "default"),
        priority=given.get("priority", 0),
        max_attempts=given.get("max_attempts", 5),
        payload=given.get("payload", {}),
        group=given.get("group"),
        tags=given.get("tags"),
        timeout_seconds=given.get("timeout_seconds"),
        flow_id=asked.flow_id,
        created_at=at,
        run_at=at,
    )


def now() -> datetime:
    return datetime.now(timezone.utc)
