"""The jobs of one queue: leases them for its free slots, has them handled, and settles them."""

from __future__ import annotations

import asyncio
import logging
import random
from time import monotonic
from typing import Any

from .._app import JobFunction
from .._async.client import AsyncClient
from .._errors import AtlasQueueError, ConflictError, DeadlineError, DoNotRetry, RetryAfter
from .._http import random_token
from .._log import log
from .._models import LeasedJob
from .._retry import backoff_seconds
from .._submission import seconds_of
from ._handling import Running
from ._held import HeldJob, Released
from ._keeper import is_late, keep_lease, renew_before_start
from ._settling import settle
from ._waiting import Interrupted, first, pause

#: After an empty response that came early, as from an API that is stopping, do not ask again at once.
_EARLY_SECONDS = 0.5
_RELEASE_SECONDS_MAX = 2.0
#: How long the last words to the API may take, after the deadline of a stop.
_FAREWELL_SECONDS_MAX = 5.0
#: How many outcomes may wait for the API besides the running handlers.
_UNSETTLED_MAX = 1_000
_LEASE_JOBS_MAX = 100


class QueueWork:
    def __init__(
        self,
        client: AsyncClient,
        handlers: asyncio.AbstractEventLoop,
        jobs: dict[str, JobFunction[..., Any, Any]],
        queue: str,
        *,
        concurrency: int,
        lease_seconds: int,
        wait_seconds: float,
        worker_id: str,
    ) -> None:
        self._calls = client.with_options(retries=0)
        self._handlers = handlers
        self._jobs = jobs
        self._queue = queue
        self._concurrency = concurrency
        self._lease_seconds = lease_seconds
        self._wait_seconds = wait_seconds
        self._worker_id = worker_id
        self._held: dict[HeldJob, asyncio.Task[None]] = {}
        #: Handlers that have not ended, also those whose job is not ours any more: each has a slot.
        self._running = 0
        self._changed = asyncio.Event()
        self.draining = asyncio.Event()
        #: The time to stop is over.
        self.over = asyncio.Event()

    async def run(self, stop_seconds: float) -> None:
        """Works until `draining`, then lets handlers finish; at the deadline the rest are stopped and released."""
        await self._keep_leasing()
        await self._until_settled(stop_seconds, self.over)
        self.over.set()
        for held in self._held:
            if not held.settling:
                held.stop(Released("the worker stops"))
        await self._until_settled(_FAREWELL_SECONDS_MAX)
        for task in list(self._held.values()):
            task.cancel()
        await asyncio.gather(*self._held.values(), return_exceptions=True)

    async def _until_settled(self, seconds: float, *events: asyncio.Event) -> None:
        ends_at = monotonic() + seconds
        while self._held and monotonic() < ends_at and not any(event.is_set() for event in events):
            self._changed.clear()
            await pause(ends_at - monotonic(), self._changed, *events)

    async def _keep_leasing(self) -> None:
        """One request after another. One that got no response is repeated with its token, and has the same jobs.

        If the repetition gets none, the token is released: the first request may still be on its way, and now leases
        nothing. After a timeout the worker uses half of its slots, and one more after each response.
        """
        slots = self._concurrency
        failures = 0
        #: What a request leased whose response was lost must be asked for again in time.
        rest_most = self._lease_seconds / 3
        #: Of a request that may have leased jobs, though no response came.
        token: str | None = None
        while not self.draining.is_set():
            room = min(slots - self._busy(), self._concurrency + _UNSETTLED_MAX - len(self._held), _LEASE_JOBS_MAX)
            if room <= 0:
                self._changed.clear()
                # Without a slot for the jobs of an open request they are released at once, not when their lease ends.
                if token is not None and await self._released(token):
                    token = None
                failures += token is not None
                wait = None if token is None else backoff_seconds(failures, random.random(), rest_most)
                await pause(wait, self._changed, self.draining)
                continue
            repeated = token is not None
            token = token or random_token()
            asked_at = monotonic()
            try:
                jobs = await first(self._lease(room, token), self.draining)
            except Interrupted:
                break
            except AtlasQueueError as error:
                failures += 1
                if isinstance(error, DeadlineError):
                    slots = max(1, slots // 2)
                if isinstance(error, ConflictError) and error.from_api:
                    token = None
                self._tell("api_unavailable", None, during="lease", error=error)
                rest = backoff_seconds(failures, random.random(), rest_most)
                await pause((error.retry_after or 0.0) + rest, self.draining)
                continue
            early = not jobs and monotonic() - asked_at < _EARLY_SECONDS
            if jobs or not repeated or await self._released(token):
                token = None
            failures = 0
            slots = min(self._concurrency, slots + 1)
            for leased in jobs:
                self._start(leased)
            if early:
                await pause(_EARLY_SECONDS * random.random(), self.draining)
        if token is not None:
            await self._released(token)

    async def _lease(self, room: int, token: str) -> list[LeasedJob]:
        return await self._calls.lease(
            self._queue,
            worker_id=self._worker_id,
            lease_seconds=self._lease_seconds,
            max_jobs=room,
            wait_seconds=self._wait_seconds,
            types=list(self._jobs),
            lease_token=token,
        )

    async def _released(self, token: str) -> bool:
        try:
            await self._calls.with_options(timeout=_RELEASE_SECONDS_MAX).release_lease(token)
            return True
        except AtlasQueueError:
            return False

    def _busy(self) -> int:
        return self._running + sum(1 for held in self._held if held.phase == "waiting")

    def _start(self, leased: LeasedJob) -> None:
        def unavailable(during: str, error: Exception) -> None:
            self._tell("api_unavailable", held, during=during, error=error)

        held = HeldJob(leased, self._calls, unavailable)
        self._held[held] = asyncio.create_task(self._run_job(held))

    async def _run_job(self, held: HeldJob) -> None:
        keeper: asyncio.Task[None] | None = None
        try:
            if is_late(held, self._lease_seconds) and not await renew_before_start(
                held, self._lease_seconds, self._tell
            ):
                if not held.gone.is_set():
                    await settle(held, Released("the lease could not be renewed"), self.over, self._tell)
                return
            keeper = asyncio.create_task(keep_lease(held, self._lease_seconds, self._tell))
            self._tell("handler_start", held)
            # The job's own comes first: it may have been submitted elsewhere.
            timeout = held.job.timeout_seconds or seconds_of(self._jobs[held.job.type].template.timeout)
            outcome = await self._handle(held).outcome(timeout)
            if outcome is not None and not held.gone.is_set():
                await settle(held, outcome, self.over, self._tell)
        finally:
            held.leave()
            if keeper is not None:
                keeper.cancel()
            del self._held[held]
            self._changed.set()

    def _handle(self, held: HeldJob) -> Running:
        held.phase = "handling"
        self._running += 1
        running = Running(held, self._jobs[held.job.type], self._handlers)
        waiting = asyncio.create_task(running.ended.wait())

        def ended(_: asyncio.Task[Any]) -> None:
            self._running -= 1
            self._changed.set()

        waiting.add_done_callback(ended)
        return running

    def _tell(self, event: str, held: HeldJob | None, **fields: Any) -> None:
        message, level = _EVENTS[event]
        about: dict[str, Any] = {"queue": self._queue, "worker_id": self._worker_id}
        if held is not None:
            about.update(job_id=held.job.id, job_type=held.job.type, attempt=held.job.attempts)
        error: BaseException | str | None = fields.pop("error", None)
        if error is not None:
            about["error"] = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
            level = max(level, logging.WARNING)
        about.update(fields)
        shown = f" job {held.job.id} ({held.job.type})" if held is not None else f" queue {self._queue}"
        ended = f" as {about['outcome']}" if "outcome" in about else ""
        tail = f": {about['error']}" if "error" in about else ""
        # A handler that fails on purpose, and the API's errors, have nothing in theirs.
        expected = event != "job_settled" or isinstance(error, (str, RetryAfter, DoNotRetry))
        traceback = None if expected or isinstance(error, str) else error
        log(level, event, f"{message}{shown}{ended}{tail}", traceback, **about)


_EVENTS = {
    "handler_start": ("started", logging.DEBUG),
    "job_settled": ("settled", logging.INFO),
    "lease_lost": ("lost the lease of", logging.WARNING),
    "api_unavailable": ("no usable response from the API about", logging.WARNING),
    "progress_refused": ("the API refused the progress of", logging.WARNING),
    "settlement_refused": ("the API refused the outcome of", logging.WARNING),
}
