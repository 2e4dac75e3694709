"""The API over a queue in memory: what each request is answered, and the transports that bring it here."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime
from typing import Any, Awaitable, Callable, Mapping, Sequence
from urllib.parse import urlsplit
from uuid import uuid4

from .._http import HttpRequest, HttpResponse, to_body
from .._models import Job
from ._store import Asked, Outcome, Refused, Store, now

_JOB_PATH = re.compile(r"/v1/jobs/([^/]+)(?:/(cancel|retry|signals)(?:/([^/]+))?)?")


def answer(store: Store, request: HttpRequest) -> HttpResponse:
    try:
        return _answer(store, request)
    except Refused as refused:
        return _problem(refused)


def _answer(store: Store, request: HttpRequest) -> HttpResponse:
    path = urlsplit(request.url).path
    body: dict[str, Any] = json.loads(request.body or b"{}")
    # A quoted string of the header is one of JSON too.
    header = request.headers.get("idempotency-key")
    key = None if header is None else json.loads(header)
    if (request.method, path) == ("POST", "/v1/jobs"):
        job, outcome = store.insert(_asked(store, body, {}, key=key))
        return _response(201 if outcome == "created" else 200, _to_wire(job))
    if (request.method, path) == ("POST", "/v1/jobs/batch"):
        return _batch(store, body, key)
    found = _JOB_PATH.fullmatch(path)
    if found is None:
        raise Refused(
            501, "not-in-memory", f"the queue in memory has no {request.method} {path}; use atlasqueue_server"
        )
    if found[1] not in store.jobs:
        raise Refused(404, "not-found", "no such job")
    return _one(store, store.jobs[found[1]].job, found[2] or "", found[3] or "", body)


def _one(store: Store, job: Job, verb: str, name: str, body: dict[str, Any]) -> HttpResponse:
    if verb == "cancel":
        if job.is_final:
            raise Refused(409, "job-finished", f"the job is {job.status}")
        job = store.change(job.id, status="cancelled", finished_at=now())
    if verb == "retry":
        if job.status not in ("dead", "cancelled", "failed"):
            raise Refused(409, "not-retryable", f"the job is {job.status}")
        job = store.change(job.id, status="queued", attempts=0, finished_at=None)
    if verb == "signals":
        if job.is_final:
            raise Refused(409, "job-finished", f"the job is {job.status}")
        signals = store.signals.setdefault(job.id, {})
        if name in signals:
            return _response(200, {"outcome": "sent_before"})
        ends = store.waits.get(job.id, {}).get(name)
        if ends is not None and ends <= now():
            return _response(200, {"outcome": "too_late"})
        signals[name] = body.get("payload")
        if job.waits_for == name:
            store.change(job.id, waits_for=None)
        return _response(200, {"outcome": "sent"})
    return _response(200, _to_wire(job))


def _batch(store: Store, body: dict[str, Any], key: str | None) -> HttpResponse:
    """Stored whole or not at all. Its key stands for all of it, so each job has a key of that and its place."""
    is_flow = "then" in body or any(job.get("depends_on") for job in body["jobs"])
    flow_id = str(uuid4()) if is_flow else None
    key_of = None if key is None else [body["jobs"], body.get("then")]
    refs = [job.get("ref") for job in body["jobs"]]
    with store.all_or_nothing():
        members = asked_batch(store, body["jobs"], flow_id=flow_id)
        asked = [_under(one, key, at, key_of) for at, one in enumerate(members)]
        stored = [store.insert(one) for one in asked]
        last: tuple[Job, Outcome] | None = None
        if "then" in body:
            parents = {ref or job.id: job.id for ref, (job, _) in zip(refs, stored)}
            then = Asked(body["then"], parents=parents, on_parent_failure="run", flow_id=flow_id)
            last = store.insert(_under(then, key, len(stored), key_of))
    answered: dict[str, Any] = {
        "jobs": [_of_batch(store, *one) for one in stored],
        "flow_id": stored[0][0].flow_id if stored else None,
    }
    return _response(201, {**answered, "then": _of_batch(store, *last)} if last else answered)


def _of_batch(store: Store, job: Job, outcome: Outcome) -> dict[str, Any]:
    return {"id": job.id, "status": store.jobs[job.id].job.status, "created": outcome == "created"}


def _under(asked: Asked, key: str | None, at: int, key_of: object) -> Asked:
    return asked if key is None else replace(asked, key=f"{key}\n{at}", key_of=key_of)


def asked_batch(store: Store, jobs: Sequence[dict[str, Any]], **fields: Any) -> list[Asked]:
    """The jobs of a batch, which name each other by their refs. Raises Refused for a circle and an unknown parent."""
    ids = [str(uuid4()) for _ in jobs]
    by_ref = {job["ref"]: id for job, id in zip(jobs, ids) if "ref" in job}
    asked = [_asked(store, job, by_ref, id=id, key=job.get("idempotency_key"), **fields) for job, id in zip(jobs, ids)]
    free = set(store.jobs)
    left = asked
    while left:
        ready = [one.id for one in left if free.issuperset(one.parents.values())]
        if not ready:
            raise Refused(422, "validation", "depends_on: these jobs would wait for each other in a circle")
        free.update(ready)
        left = [one for one in left if one.id not in free]
    return asked


def _asked(store: Store, job: dict[str, Any], by_ref: Mapping[str, str], **fields: Any) -> Asked:
    own = ("ref", "depends_on", "on_parent_failure", "idempotency_key")
    parents = {ref: by_ref.get(ref, ref) for ref in job.get("depends_on", [])}
    for ref, id in parents.items():
        if id not in store.jobs and ref not in by_ref:
            raise Refused(422, "validation", f"depends_on: there is no job {ref!r}")
    request = {name: value for name, value in job.items() if name not in own}
    policy = job.get("on_parent_failure", "cancel")
    return Asked(request, key_of=[list(parents), policy], parents=parents, on_parent_failure=policy, **fields)


class AsyncMemoryTransport:
    def __init__(self, send: Callable[[HttpRequest], Awaitable[HttpResponse]]) -> None:
        self._send = send

    async def send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        return await self._send(request)

    async def aclose(self) -> None:
        pass


class MemoryTransport:
    def __init__(self, send: Callable[[HttpRequest], HttpResponse]) -> None:
        self._send = send

    def send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        return self._send(request)

    def close(self) -> None:
        pass


def refreshed(store: Store, response: HttpResponse) -> HttpResponse:
    """The response about a job, as the job is now."""
    stored = json.loads(response.body)
    return _response(201, _to_wire(store.jobs[stored["id"]].job)) if "id" in stored else response


def _to_wire(job: Job) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in job.__dict__.items()}


def _response(status: int, body: dict[str, Any]) -> HttpResponse:
    return HttpResponse(status, {}, to_body(body))


def _problem(refused: Refused) -> HttpResponse:
    title, kind = refused.detail, f"/problems/{refused.kind}"
    body = {"type": kind, "title": title, "status": refused.status, "detail": title, "instance": "memory"}
    return _response(refused.status, body)
