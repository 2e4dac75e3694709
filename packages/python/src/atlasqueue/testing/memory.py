"""A queue in memory for the tests of an app: what was submitted, and running it, without a server."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any, Generator
from uuid import uuid4

from .._app import App
from .._codec import error_data, error_text
from .._context import current
from .._errors import DoNotRetry
from .._http import HttpRequest, HttpResponse
from .._models import Job
from ..worker._handling import encoded
from ._api import AsyncMemoryTransport, MemoryTransport, answer, asked_batch, refreshed
from ._attempt import MemoryAttempt, Parked
from ._store import Kept, Refused, Store, now


class MemoryQueue:
    """Stands in for the API of the apps that are attached.

    queue = MemoryQueue()
    queue.attach(app)
    send_email.submit_sync(to="ada@example.org")
    assert [job.payload for job in queue.submitted("email.send")] == [{"to": "ada@example.org"}]
    queue.drain()

    It knows submissions (idempotency and unique keys, batches, flows, groups), reads, cancel, retry and signals;
    delays count as over. Everything else, such as schedules, raises an error: use `atlasqueue_server` for it.
    """

    def __init__(self) -> None:
        self._store = Store()
        self._apps: list[tuple[App, Any, Any]] = []
        self._inline = False

    def attach(self, app: App) -> None:
        """From now on the app's jobs are kept here, until `detach`."""
        self._apps.append((app, app.transport, app.sync_transport))
        app.transport, app.sync_transport = AsyncMemoryTransport(self._answer), MemoryTransport(self._answer_sync)
        app.reset()

    def detach(self) -> None:
        for app, transport, sync_transport in self._apps:
            app.transport, app.sync_transport = transport, sync_transport
            app.reset()
        self._apps.clear()

    def submitted(self, type: str | None = None) -> list[Job]:
        """All jobs so far, or those of a type, in the order of their submission."""
        return [kept.job for kept in self._store.jobs.values() if type is None or kept.job.type == type]

    def drain(self, max_runs: int = 1_000, *, until_finished: bool = False) -> list[Job]:
        """Runs jobs until none is ready, failed ones again at once; returns those that ended. Not in a running loop.

        A job that waits for a signal is ready when the signal comes or its time is over. With `until_finished` the time
        of each wait is over once nothing else is ready.
        """
        return asyncio.run(self.adrain(max_runs, until_finished=until_finished))

    async def adrain(self, max_runs: int = 1_000, *, until_finished: bool = False) -> list[Job]:
        """Like `drain`, in a running loop. Raises RuntimeError after `max_runs`, as jobs may submit each other."""
        over = {job.id for job in self.submitted() if job.is_final}
        runs = 0
        while (kept := self._next(until_finished)) is not None:
            if runs == max_runs:
                raise RuntimeError(f"there are still jobs after {max_runs} runs")
            runs += 1
            await self._run(kept)
        ended = [job for job in self.submitted() if job.is_final and job.id not in over]
        return sorted(ended, key=lambda job: job.finished_at or now())

    @contextlib.contextmanager
    def run_inline(self) -> Generator[None, None, None]:
        """Within it a submitted job has run when `submit` returns."""
        self._inline = True
        try:
            yield
        finally:
            self._inline = False

    def _next(self, until_finished: bool) -> Kept | None:
        self._store.end_waits(now())
        ready = [kept for kept in self._store.jobs.values() if kept.job.status in ("queued", "failed")]
        if not ready and until_finished and self._store.end_waits(datetime.max.replace(tzinfo=timezone.utc)):
            return self._next(until_finished)
        return max(ready, key=lambda kept: kept.job.priority) if ready else None

    async def _run(self, kept: Kept) -> None:
        """One attempt, and what comes of it."""
        function = self._function(kept.job.type)
        counted = kept.job.attempts + 1
        job = self._store.change(kept.job.id, status="running", attempts=counted, started_at=now())
        attempt = MemoryAttempt(self._store, job)
        token = current.set(attempt)
        try:
            with contextlib.ExitStack() as around:
                for each in function.app.around:
                    around.enter_context(each(job))
                result = function.bind_payload(job.payload)()
                if inspect.isawaitable(result):
                    result = await result
            result = encoded(result)
            children = self._store_children(attempt)
        except Parked as parked:
            self._store.change(job.id, status="scheduled", waits_for=parked.signal, attempts=counted - 1)
            return
        except Exception as error:
            self._fail(job, error)
            return
        finally:
            current.reset(token)
        flow = {"flow_id": children[0].flow_id} if children else {}
        self._store.change(job.id, status="succeeded", result=result, finished_at=now(), **flow)

    def _fail(self, job: Job, error: Exception) -> None:
        text = f"SpawnError: {error}" if isinstance(error, Refused) else error_text(error)
        if not isinstance(error, DoNotRetry) and job.attempts < job.max_attempts:
            self._store.change(job.id, status="failed", last_error=text)
            return
        data = error_data(error)
        result = None if data is None else {"error_data": data}
        self._store.change(job.id, status="dead", last_error=text, result=result, finished_at=now())

    def _store_children(self, attempt: MemoryAttempt) -> list[Job]:
        """Stores what the handler added: jobs of its flow, which wait for it."""
        job, store = attempt.job, self._store
        if not attempt.children:
            return []
        with store.all_or_nothing():
            asked = asked_batch(store, attempt.children, flow_id=job.flow_id or str(uuid4()))
            asked = [replace(one, parents={job.id: job.id, **one.parents}) for one in asked]
            children = [store.insert(one)[0] for one in asked]
        if attempt.dependants_wait:
            store.add_parents(job.id, [child.id for child in children])
        return children

    def _function(self, type: str) -> Any:
        for app, _, _ in self._apps:
            if type in app.jobs:
                return app.jobs[type]
        raise RuntimeError(f"no attached app has a job of type {type!r}; attach it before it submits")

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        response = answer(self._store, request)
        if not self._inline or response.status != 201:
            return response
        await self.adrain()
        return refreshed(self._store, response)

    def _answer_sync(self, request: HttpRequest) -> HttpResponse:
        response = answer(self._store, request)
        if not self._inline or response.status != 201:
            return response
        # On a thread of its own: here may be a loop, such as that of the handler that submits.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(self.drain).result()
        return refreshed(self._store, response)
