"""A job that this worker holds, from its lease to its outcome. Lives in the worker's own loop."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any, Awaitable, Callable, Coroutine, Sequence

from .._async.client import AsyncClient
from .._codec import encode
from .._context import checked_step_name
from .._errors import AtlasQueueError, LeaseLostError
from .._models import Job, LeasedJob
from .._retry import backoff_seconds
from .._submission import Submission
from ._answers import is_final, is_lost, is_refusal
from ._waiting import first

#: How long the API's word that its database is unavailable holds a job, even beyond the end of its lease.
OUTAGE_HOLD_SECONDS = 8.0


@dataclass
class Succeeded:
    result: Any
    children: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    dependants_wait: bool = False


@dataclass
class Failed:
    error: BaseException | str
    retry: bool = True
    delay: float | None = None


@dataclass
class Released:
    why: str


Outcome = Succeeded | Failed | Released


class ParkedHere(BaseException):
    """Ends a handler whose job waits for a signal. Not an Exception, so that handlers do not catch it."""


class HeldJob:
    """What a handler's `context` reaches, and what its lease's keeper and its settlement share."""

    def __init__(self, leased: LeasedJob, calls: AsyncClient, unavailable: Callable[[str, Exception], None]) -> None:
        self.leased = leased
        self.job: Job = leased.job
        self.ends_at = leased.ends_at
        self.calls = calls
        self.loop = asyncio.get_running_loop()
        #: The job is not ours any more: settled, lost or parked.
        self.gone = asyncio.Event()
        #: The handler must end; `instead` is the outcome then, if the job is still ours.
        self.stopped = asyncio.Event()
        self.instead: Outcome | None = None
        #: The keeper has something to do.
        self.wake = asyncio.Event()
        #: waiting for its handler to start, handling, or settling.
        self.phase = "waiting"
        self.unsent_progress: tuple[Any] | None = None
        self.succeeds_with = Succeeded(None)
        self._cancelled = False
        self._unavailable = unavailable
        self._begun: set[str] = set()
        self._steps: dict[str, Any] | None = dict(leased.steps) if leased.steps_complete else None

    # From the handler, on any thread.

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def progress(self, value: object) -> None:
        encoded = encode(value)

        def note() -> None:
            self.unsent_progress = (encoded,)
            self.wake.set()

        self.loop.call_soon_threadsafe(note)

    def spawn(self, jobs: Sequence[Submission], dependants_wait: bool) -> None:
        self.succeeds_with.children += [job.to_wire() for job in jobs]
        self.succeeds_with.dependants_wait |= dependants_wait

    def in_worker(self, work: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    def in_worker_sync(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    # In the worker's loop.

    @property
    def settling(self) -> bool:
        return self.phase == "settling"

    def left(self) -> float:
        """Seconds until the lease ends for certain."""
        return self.ends_at - monotonic()

    def hold_on(self) -> None:
        """The API said that its database is unavailable: that holds the job for a while, as a renewal would."""
        self.ends_at = max(self.ends_at, monotonic() + OUTAGE_HOLD_SECONDS)

    def stop(self, instead: Outcome | None) -> None:
        """Ends the handler. Without an outcome the job is not ours any more."""
        self._cancelled = True
        self.instead = instead
        if instead is None:
            self.gone.set()
        self.wake.set()
        self.stopped.set()

    def leave(self) -> None:
        self._cancelled = True
        self.gone.set()
        self.wake.set()

    async def stored_step(self, name: str) -> tuple[bool, Any]:
        checked_step_name(name, self._begun)
        steps = self._steps
        if steps is None:
            steps = self._steps = await self.patiently("steps", partial(self.calls.steps, self.job.id))
        known: dict[str, Any] = steps or {}
        return name in known, known.get(name)

    async def store_step(self, name: str, result: object) -> Any:
        return await self.patiently("steps", partial(self.calls.store_step, self.leased, name, result))

    async def wait_for(self, signal: str, timeout_seconds: float) -> tuple[bool, Any]:
        answer = await self.patiently("steps", partial(self.calls.park, self.leased, signal, timeout_seconds))
        if answer.outcome == "parked":
            self.stop(None)
            raise ParkedHere
        return answer.outcome == "signalled", answer.payload

    async def parents(self) -> dict[str, dict[str, Any]]:
        if self.leased.parents_complete:
            return self.leased.parents
        found: dict[str, dict[str, Any]] = {}
        cursor: str | None = None
        while True:
            page = await self.patiently("parents", partial(self.calls.parents, self.job.id, cursor=cursor))
            found.update((parent["ref"], parent) for parent in page.items)
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def patiently(self, during: str, ask: Callable[[], Awaitable[Any]]) -> Any:
        """Asks until there is an answer, for as long as the job is ours: an outage costs no attempt."""
        failures = refusals = 0
        while not self.stopped.is_set():
            try:
                return await first(_coroutine(ask), self.stopped)
            except (AtlasQueueError, TypeError, ValueError) as error:
                if is_lost(error):
                    self.stop(None)
                    raise
                refused = is_refusal(error) or (isinstance(error, AtlasQueueError) and error.status == 403)
                refusals = refusals + 1 if refused else 0
                if refusals and is_final(error, refusals):
                    raise
                self._unavailable(during, error)
                failures += 1
                await asyncio.sleep(backoff_seconds(failures, random.random()))
        raise LeaseLostError(f"job {self.job.id}: the attempt is over")


async def _coroutine(ask: Callable[[], Awaitable[Any]]) -> Any:
    return await ask()
