"""A queue in memory for the tests of an app: what was submitted, and running it, without a server."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any, Coroutine, Generator, Sequence
from urllib.parse import urlsplit
from uuid import uuid4

from .._app import App
from .._codec import error_data, error_text
from .._context import checked_step_name, current
from .._errors import DoNotRetry
from .._http import HttpRequest, HttpResponse, to_body
from .._models import Job
from .._submission import Submission
from ..worker._handling import encoded


class _Parked(BaseException):
    def __init__(self, signal: str) -> None:
        super().__init__(signal)
        self.signal = signal


class MemoryQueue:
    """Stands in for the API of the apps that are attached.

    queue = MemoryQueue()
    queue.attach(app)
    send_email.submit_sync(to="ada@example.org")
    assert [job.payload for job in queue.submitted("email.send")] == [{"to": "ada@example.org"}]
    queue.drain()

    It knows submissions (keys, batches, flows), reads, cancel, retry and signals; delays count as over. What needs
    more, such as schedules, is for `atlasqueue_server`.
    """

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._by_key: dict[str, str] = {}
        self._parents: dict[str, dict[str, str]] = {}
        self._steps: dict[str, dict[str, Any]] = {}
        self._signals: dict[str, dict[str, Any]] = {}
        self._apps: list[tuple[App, Any, Any]] = []
        self._inline = False

    def attach(self, app: App) -> None:
        """From now on the app's jobs are kept here, until `detach`."""
        self._apps.append((app, app.transport, app.sync_transport))
        app.transport, app.sync_transport = _AsyncMemory(self), _Memory(self)
        app.reset()

    def detach(self) -> None:
        for app, transport, sync_transport in self._apps:
            app.transport, app.sync_transport = transport, sync_transport
            app.reset()
        self._apps.clear()

    def submitted(self, type: str | None = None) -> list[Job]:
        """All jobs so far, or those of a type, in the order of their submission."""
        return [job for job in self._jobs.values() if type is None or job.type == type]

    def drain(self, max_runs: int = 1_000) -> list[Job]:
        """Runs jobs until none is ready, failed ones again at once; returns those that ended. Not in a running loop."""
        return asyncio.run(self.adrain(max_runs))

    async def adrain(self, max_runs: int = 1_000) -> list[Job]:
        """Like `drain`, in a running loop. Raises RuntimeError after `max_runs`, as jobs may submit each other."""
        ended: dict[str, Job] = {}
        runs = 0
        while (job := self._next()) is not None:
            if runs == max_runs:
                raise RuntimeError(f"there are still jobs after {max_runs} runs")
            runs += 1
            await self._run(job)
            if self._jobs[job.id].is_final:
                ended[job.id] = self._jobs[job.id]
        return list(ended.values())

    @contextlib.contextmanager
    def run_inline(self) -> Generator[None, None, None]:
        """Within it a submitted job has run when `submit` returns."""
        self._inline = True
        try:
            yield
        finally:
            self._inline = False

    def _next(self) -> Job | None:
        for job in self._jobs.values():
            if job.status in ("queued", "failed") and self._may_start(job):
                return self._jobs[job.id]
        return None

    def _may_start(self, job: Job) -> bool:
        return all(self._jobs[id].is_final for id in self._parents.get(job.id, {}).values() if id in self._jobs)

    def _set(self, job: Job, **changes: Any) -> None:
        self._jobs[job.id] = replace(self._jobs[job.id], updated_at=_now(), **changes)

    async def _run(self, job: Job) -> None:
        parents = [self._jobs[id] for id in self._parents.get(job.id, {}).values() if id in self._jobs]
        if any(parent.status != "succeeded" for parent in parents):
            return self._set(job, status="cancelled", dead_reason="a parent did not succeed", finished_at=_now())
        function = self._function(job.type)
        self._set(job, status="running", attempts=job.attempts + 1, started_at=_now())
        attempt = _MemoryAttempt(self, self._jobs[job.id])
        token = current.set(attempt)
        try:
            with contextlib.ExitStack() as around:
                for each in function.app.around:
                    around.enter_context(each(attempt.job))
                result = function.bind_payload(job.payload)()
                if inspect.isawaitable(result):
                    result = await result
            result = encoded(result)
        except _Parked as parked:
            return self._set(job, status="scheduled", waits_for=parked.signal, attempts=job.attempts)
        except Exception as error:
            spent = isinstance(error, DoNotRetry) or job.attempts + 1 >= job.max_attempts
            data = error_data(error)
            dead: dict[str, Any] = {"finished_at": _now(), "result": {"error_data": data} if data is not None else None}
            return self._set(
                job, status="dead" if spent else "failed", last_error=error_text(error), **(dead if spent else {})
            )
        finally:
            current.reset(token)
        self._set(job, status="succeeded", result=result, finished_at=_now())
        for child in attempt.children:
            self._store(child.to_wire(), None)

    def _function(self, type: str) -> Any:
        for app, _, _ in self._apps:
            if type in app.jobs:
                return app.jobs[type]
        raise RuntimeError(f"no attached app has a job of type {type!r}; attach it before it submits")

    # The API.

    async def answer(self, request: HttpRequest) -> HttpResponse:
        response = self._answer(request)
        if not self._inline or response.status != 201:
            return response
        await self.adrain()
        return self._after_run(response)

    def answer_sync(self, request: HttpRequest) -> HttpResponse:
        response = self._answer(request)
        if not self._inline or response.status != 201:
            return response
        # On a thread of its own: here may be a loop, such as that of the handler that submits.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(self.drain).result()
        return self._after_run(response)

    def _after_run(self, response: HttpResponse) -> HttpResponse:
        stored = json.loads(response.body)
        return _response(201, _to_wire(self._jobs[stored["id"]])) if "id" in stored else response

    def _answer(self, request: HttpRequest) -> HttpResponse:
        path = urlsplit(request.url).path
        body: dict[str, Any] = json.loads(request.body or b"{}")
        key = request.headers.get("idempotency-key")
        if (request.method, path) == ("POST", "/v1/jobs"):
            job, created = self._store(body, key)
            return _response(201 if created else 200, _to_wire(job))
        if (request.method, path) == ("POST", "/v1/jobs/batch"):
            return self._batch(body)
        found = re.fullmatch(r"/v1/jobs/([^/]+)(?:/(cancel|retry|signals)(?:/([^/]+))?)?", path)
        if found is None:
            return _problem(
                501, "not-in-memory", f"the queue in memory has no {request.method} {path}; use atlasqueue_server"
            )
        if found[1] not in self._jobs:
            return _problem(404, "not-found", "no such job")
        return self._one(self._jobs[found[1]], found[2] or "", found[3] or "", body)

    def _one(self, job: Job, verb: str, name: str, body: dict[str, Any]) -> HttpResponse:
        if verb == "cancel":
            if job.is_final:
                return _problem(409, "job-finished", f"the job is {job.status}")
            self._set(job, status="cancelled", finished_at=_now())
        if verb == "retry":
            if job.status not in ("dead", "cancelled", "failed"):
                return _problem(409, "not-retryable", f"the job is {job.status}")
            self._set(job, status="queued", attempts=0, finished_at=None)
        if verb == "signals":
            known = self._signals.setdefault(job.id, {})
            outcome = "sent_before" if name in known else "sent"
            known.setdefault(name, body.get("payload"))
            if job.waits_for == name:
                self._set(job, status="queued", waits_for=None)
            return _response(200, {"outcome": outcome})
        return _response(200, _to_wire(self._jobs[job.id]))

    def _batch(self, body: dict[str, Any]) -> HttpResponse:
        refs: dict[str, str] = {}
        stored: list[dict[str, Any]] = []
        for given in body["jobs"]:
            ref = given.pop("ref", None)
            given["depends_on"] = {parent: refs.get(parent, parent) for parent in given.get("depends_on", [])}
            job, created = self._store(given, given.pop("idempotency_key", None))
            refs.update({ref: job.id} if ref else {})
            stored.append({"id": job.id, "status": job.status, "created": created})
        answer: dict[str, Any] = {"jobs": stored, "flow_id": str(uuid4()) if refs else None}
        if "then" in body:
            job, _ = self._store(body["then"], None)
            answer["then"] = {"id": job.id, "status": job.status, "created": True}
        return _response(201, answer)

    def _store(self, given: dict[str, Any], key: str | None) -> tuple[Job, bool]:
        if key is not None and key in self._by_key:
            return self._jobs[self._by_key[key]], False
        job = Job(
            id=str(uuid4()),
            status="queued",
            type=given["type"],
            queue=given.get("queue", "default"),
            priority=given.get("priority", 0),
            max_attempts=given.get("max_attempts", 5),
            payload=given.get("payload", {}),
            group=given.get("group"),
            timeout_seconds=given.get("timeout_seconds"),
            created_at=_now(),
            run_at=_now(),
        )
        self._jobs[job.id] = job
        parents: Any = given.get("depends_on") or {}
        self._parents[job.id] = {ref: parents[ref] if hasattr(parents, "get") else ref for ref in parents}
        if key is not None:
            self._by_key[key] = job.id
        return job, True

    # What a handler asks for.

    def steps_of(self, id: str) -> dict[str, Any]:
        return self._steps.setdefault(id, {})

    def signal_for(self, id: str, name: str) -> Any:
        signals = self._signals.get(id, {})
        if name not in signals:
            raise _Parked(name)
        return signals[name]

    def parents_of(self, id: str) -> dict[str, dict[str, Any]]:
        found = ((ref, self._jobs[parent]) for ref, parent in self._parents.get(id, {}).items() if parent in self._jobs)
        return {ref: {"id": job.id, "status": job.status, "result": job.result} for ref, job in found}

    def note_progress(self, id: str, value: object) -> None:
        self._set(self._jobs[id], progress=value)


class _MemoryAttempt:
    cancelled = False

    def __init__(self, queue: MemoryQueue, job: Job) -> None:
        self.job = job
        self.children: list[Submission] = []
        self._queue = queue
        self._begun: set[str] = set()

    def progress(self, value: object) -> None:
        self._queue.note_progress(self.job.id, encoded(value))

    def spawn(self, jobs: Sequence[Submission], dependants_wait: bool) -> None:
        self.children += jobs

    def in_worker(self, work: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(work)

    def in_worker_sync(self, work: Coroutine[Any, Any, Any]) -> Any:
        # None of ours waits for anything.
        try:
            work.send(None)
        except StopIteration as ended:
            return ended.value
        raise RuntimeError("a coroutine of the queue in memory waits")

    async def stored_step(self, name: str) -> tuple[bool, Any]:
        checked_step_name(name, self._begun)
        steps = self._queue.steps_of(self.job.id)
        return name in steps, steps.get(name)

    async def store_step(self, name: str, result: object) -> Any:
        return self._queue.steps_of(self.job.id).setdefault(name, encoded(result))

    async def wait_for(self, signal: str, timeout_seconds: float) -> tuple[bool, Any]:
        return True, self._queue.signal_for(self.job.id, signal)

    async def parents(self) -> dict[str, dict[str, Any]]:
        return self._queue.parents_of(self.job.id)


class _AsyncMemory:
    def __init__(self, queue: MemoryQueue) -> None:
        self._queue = queue

    async def send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        return await self._queue.answer(request)

    async def aclose(self) -> None:
        pass


class _Memory:
    def __init__(self, queue: MemoryQueue) -> None:
        self._queue = queue

    def send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        return self._queue.answer_sync(request)

    def close(self) -> None:
        pass


def _now() -> datetime:
    return datetime.now(timezone.utc)


def _to_wire(job: Job) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in job.__dict__.items()}


def _response(status: int, body: dict[str, Any]) -> HttpResponse:
    return HttpResponse(status, {}, to_body(body))


def _problem(status: int, kind: str, detail: str) -> HttpResponse:
    body = {"type": f"/problems/{kind}", "title": detail, "status": status, "detail": detail, "instance": "memory"}
    return HttpResponse(status, {}, to_body(body))
