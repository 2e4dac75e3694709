"""What a handler may do besides return and raise: `context` in coroutine functions, `sync_context` in others."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Coroutine, Protocol, Sequence, TypeVar

from ._errors import StepError
from ._models import Job
from ._submission import Submission

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class Attempt(Protocol):
    """One attempt, as its worker sees it. The coroutines run in the worker's own loop."""

    job: Job

    @property
    def cancelled(self) -> bool: ...

    def progress(self, value: object) -> None: ...

    def spawn(self, jobs: Sequence[Submission], dependants_wait: bool) -> None: ...

    def in_worker(self, work: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]: ...

    def in_worker_sync(self, work: Coroutine[Any, Any, Any]) -> Any: ...

    async def stored_step(self, name: str) -> tuple[bool, Any]: ...

    async def store_step(self, name: str, result: object) -> Any: ...

    async def wait_for(self, signal: str, timeout_seconds: float) -> tuple[bool, Any]: ...

    async def parents(self) -> dict[str, dict[str, Any]]: ...


current: ContextVar[Attempt] = ContextVar("atlasqueue_attempt")


def _attempt() -> Attempt:
    attempt = current.get(None)
    if attempt is None:
        raise RuntimeError("there is no job here: use the context inside of a handler that a worker runs")
    return attempt


class BaseContext:
    @property
    def job(self) -> Job:
        """The job as it was leased; `attempts` counts this one."""
        return _attempt().job

    @property
    def cancelled(self) -> bool:
        """The job was cancelled, its lease lost, its time is over, or the worker stops: end soon."""
        return _attempt().cancelled

    def progress(self, value: object) -> None:
        """Reports how far the job is, as JSON up to 16 KiB. The latest counts, sent at most once a second."""
        _attempt().progress(value)

    def spawn(self, *jobs: Submission, dependants_wait: bool = False) -> None:
        """Adds jobs as this one succeeds: they are stored together with its result or not at all.

        They join its flow and have it as a parent. With `dependants_wait` jobs that wait for this one wait for them.
        """
        _attempt().spawn(jobs, dependants_wait)


class Context(BaseContext):
    """For coroutine functions."""

    async def step(self, name: str, run: Callable[[], Awaitable[T]]) -> T:
        """Does a part of the job once: its result is stored, and returned without `run` when the job runs again.

        Each step of a job needs its own name. If the process dies within `run`, it runs again.
        """
        attempt = _attempt()
        known, result = await attempt.in_worker(attempt.stored_step(name))
        stored: T = result if known else await attempt.in_worker(attempt.store_step(name, await run()))
        return stored

    async def wait_for(self, signal: str, *, timeout: float) -> Any:
        """The payload of a signal that is sent to this job; raises TimeoutError after `timeout` seconds.

        If it is not there yet, this attempt ends here and is not counted; the handler is called again when the signal
        comes. Put what should not be done again into steps.
        """
        attempt = _attempt()
        return _signalled(signal, await attempt.in_worker(attempt.wait_for(signal, timeout)))

    async def parents(self) -> dict[str, dict[str, Any]]:
        """The jobs that this one waited for, by their ref or id: each with id, status and result."""
        attempt = _attempt()
        found: dict[str, dict[str, Any]] = await attempt.in_worker(attempt.parents())
        return found


class SyncContext(BaseContext):
    """For plain functions, which run on threads. The methods are those of `Context`."""

    def step(self, name: str, run: Callable[[], T]) -> T:
        attempt = _attempt()
        known, result = attempt.in_worker_sync(attempt.stored_step(name))
        stored: T = result if known else attempt.in_worker_sync(attempt.store_step(name, run()))
        return stored

    def wait_for(self, signal: str, *, timeout: float) -> Any:
        attempt = _attempt()
        return _signalled(signal, attempt.in_worker_sync(attempt.wait_for(signal, timeout)))

    def parents(self) -> dict[str, dict[str, Any]]:
        attempt = _attempt()
        found: dict[str, dict[str, Any]] = attempt.in_worker_sync(attempt.parents())
        return found


def _signalled(signal: str, came: tuple[bool, Any]) -> Any:
    if not came[0]:
        raise TimeoutError(f"the signal {signal!r} did not come in time")
    return came[1]


def checked_step_name(name: str, begun: set[str]) -> None:
    if not 1 <= len(name) <= 128 or name in (".", ".."):
        raise StepError(f"a step's name must be 1 to 128 characters; got {name!r}")
    if name in begun:
        raise StepError(f"this attempt has begun the step {name!r} already; each needs a name of its own")
    begun.add(name)


context = Context()
sync_context = SyncContext()
