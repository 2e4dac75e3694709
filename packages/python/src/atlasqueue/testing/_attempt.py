"""What a handler reaches by its `context` when the queue is in memory."""

from __future__ import annotations

import asyncio
from typing import Any, Coroutine, Sequence

from .._context import checked_step_name
from .._models import Job
from .._submission import Submission
from ..worker._handling import encoded
from ._store import Store, now


class Parked(BaseException):
    """Ends a handler whose job waits for a signal."""

    def __init__(self, signal: str) -> None:
        super().__init__(signal)
        self.signal = signal


class MemoryAttempt:
    cancelled = False

    def __init__(self, store: Store, job: Job) -> None:
        self.job = job
        self.children: list[dict[str, Any]] = []
        self.dependants_wait = False
        self._store = store
        self._begun: set[str] = set()

    def progress(self, value: object) -> None:
        self._store.change(self.job.id, progress=encoded(value))

    def spawn(self, jobs: Sequence[Submission], dependants_wait: bool) -> None:
        self.children += [job.to_wire() for job in jobs]
        self.dependants_wait |= dependants_wait

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
        steps = self._store.steps.get(self.job.id, {})
        return name in steps, steps.get(name)

    async def store_step(self, name: str, result: object) -> Any:
        return self._store.steps.setdefault(self.job.id, {}).setdefault(name, encoded(result))

    async def wait_for(self, signal: str, timeout_seconds: float) -> tuple[bool, Any]:
        signals = self._store.signals.get(self.job.id, {})
        if signal in signals:
            return True, signals[signal]
        if self._store.wait_ends(self.job.id, signal, timeout_seconds) > now():
            raise Parked(signal)
        return False, None

    async def parents(self) -> dict[str, dict[str, Any]]:
        kept = self._store.jobs
        found = ((ref, kept[id].job) for ref, id in kept[self.job.id].parents.items() if id in kept)
        return {ref: {"id": job.id, "status": job.status, "result": job.result} for ref, job in found}
