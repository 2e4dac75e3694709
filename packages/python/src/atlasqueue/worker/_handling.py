"""Runs the handler of one attempt: a coroutine function in the handlers' loop, any other on a thread of its own."""

from __future__ import annotations

import asyncio
import inspect
import threading
from contextlib import ExitStack
from typing import Any

from .._app import JobFunction
from .._codec import encode
from .._context import current
from .._errors import DoNotRetry, RetryAfter
from ._held import Failed, HeldJob, Outcome, ParkedHere
from ._waiting import pause


class ResultError(Exception):
    """What a handler returned has no JSON form."""


#: What a handler returned, or raised.
Ended = tuple[Any, BaseException | None]


class Running:
    """A handler that was started. `ended` is set when it has returned or raised, however late."""

    def __init__(
        self, held: HeldJob, function: JobFunction[..., Any, Any], handlers: asyncio.AbstractEventLoop
    ) -> None:
        self.ended = asyncio.Event()
        self._held = held
        self._function = function
        self._handlers = handlers
        self._how: Ended = (None, None)
        self._task: asyncio.Task[None] | None = None
        if inspect.iscoroutinefunction(function.function):
            handlers.call_soon_threadsafe(self._launch)
        else:
            # A daemon: a handler that never ends must not keep the process.
            threading.Thread(target=self._run_sync, name=f"job-{held.job.id}", daemon=True).start()

    def _launch(self) -> None:
        self._task = self._handlers.create_task(self._run_async())
        self._task.add_done_callback(self._end_unstarted)

    def _end_unstarted(self, task: asyncio.Task[None]) -> None:
        """One that is cancelled before its first step runs no line of `_run_async`."""
        if task.cancelled():
            self._tell((None, asyncio.CancelledError()))

    async def _run_async(self) -> None:
        how: Ended = (None, None)
        try:
            with self._around() as call:
                how = (encoded(await call()), None)
        except BaseException as error:
            how = (None, error)
        finally:
            self._tell(how)

    def _run_sync(self) -> None:
        how: Ended = (None, None)
        try:
            with self._around() as call:
                how = (encoded(call()), None)
        except BaseException as error:
            how = (None, error)
        finally:
            self._tell(how)

    def _around(self) -> _Around:
        return _Around(self._held, self._function)

    def _tell(self, how: Ended) -> None:
        def tell() -> None:
            self._how = how
            self.ended.set()

        try:
            self._held.loop.call_soon_threadsafe(tell)
        except RuntimeError:
            # The worker has stopped meanwhile.
            pass

    def cancel(self) -> None:
        """Cancels a coroutine. A thread sees `cancelled` in its context."""

        def cancel() -> None:
            if self._task is not None:
                self._task.cancel()

        if not self.ended.is_set() and not self._handlers.is_closed():
            self._handlers.call_soon_threadsafe(cancel)

    async def outcome(self, timeout: float | None) -> Outcome | None:
        """How the attempt ends; None if the job is not ours any more. Never raises for what the handler does."""
        await pause(timeout, self.ended, self._held.stopped)
        if self._held.stopped.is_set():
            self.cancel()
            return self._held.instead
        if not self.ended.is_set():
            self._held.stop(Failed(TimeoutError(f"the handler ran longer than {timeout:g} s")))
            self.cancel()
            return self._held.instead
        result, error = self._how
        if error is None:
            self._held.succeeds_with.result = result
            return self._held.succeeds_with
        return failed(error)


class _Around:
    """Within it the context is the attempt's; gives the call of the handler."""

    def __init__(self, held: HeldJob, function: JobFunction[..., Any, Any]) -> None:
        self._held = held
        self._function = function
        self._stack = ExitStack()

    def __enter__(self) -> Any:
        current.set(self._held)
        for around in self._function.app.around:
            self._stack.enter_context(around(self._held.job))
        try:
            return self._function.bind_payload(self._held.job.payload)
        except BaseException:
            self._stack.close()
            raise

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)


def encoded(result: Any) -> Any:
    try:
        return encode(result)
    except (TypeError, ValueError) as error:
        raise ResultError(f"the result cannot be stored: {error}") from None


def failed(error: BaseException) -> Failed | None:
    if isinstance(error, ParkedHere):
        return None
    if isinstance(error, RetryAfter):
        return Failed(error, delay=error.delay)
    return Failed(error, retry=not isinstance(error, DoNotRetry))
