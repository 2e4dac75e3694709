"""A worker: leases, renews and settles in a loop on a thread of its own, whatever the handlers do."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from .._http import random_key
from .._log import log
from ._queue import QueueWork

if TYPE_CHECKING:
    from .._app import App

_TYPES_MAX = 100


class Worker:
    """See `App.worker`. Three threads: this loop's, the handlers', and the one that called `run`."""

    def __init__(
        self,
        app: App,
        *,
        queues: Sequence[str] | Mapping[str, int] | None = None,
        concurrency: int = 10,
        lease_seconds: int = 30,
        wait_seconds: float = 20,
        stop_seconds: float = 25,
        worker_id: str | None = None,
    ) -> None:
        _require_range("lease_seconds", lease_seconds, 1, 3_600)
        _require_range("wait_seconds", wait_seconds, 0, 30)
        _require_range("stop_seconds", stop_seconds, 0, 86_400)
        self.id = worker_id or f"python-{socket.gethostname()[:100]}-{os.getpid()}-{random_key()[:6]}"
        self._app = app
        self._lease_seconds = lease_seconds
        self._wait_seconds = min(wait_seconds, lease_seconds / 3)
        self._stop_seconds = stop_seconds
        self._concurrency = _concurrency_of(app, queues, concurrency)
        for queue, slots in self._concurrency.items():
            _require_range(f"concurrency of queue {queue!r}", slots, 1, 1_000)
        if len(app.jobs) > _TYPES_MAX:
            raise ValueError(f"a worker takes jobs of at most {_TYPES_MAX} types; the app has {len(app.jobs)}")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._works: list[QueueWork] = []
        self._stops = 0
        # A signal may interrupt a `stop` of the same thread.
        self._lock = threading.RLock()

    def run(self) -> None:
        """Works until SIGTERM or SIGINT, then finishes what runs; a second signal ends that at once.

        Signals are handled only if this is the main thread; `stop` works anywhere.
        """
        handlers = asyncio.new_event_loop()
        threading.Thread(target=handlers.run_forever, name="atlasqueue-handlers", daemon=True).start()
        before = self._take_signals()
        try:
            working = self._begin(handlers)
            # A wait without end would keep signals from being handled on some systems.
            while working.is_alive():
                working.join(0.5)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            handlers.call_soon_threadsafe(handlers.stop)
        self._raise_failure()

    async def serve(self) -> None:
        """Works in the running loop, where its coroutines run, until `stop` or until this is cancelled."""
        working = self._begin(asyncio.get_running_loop())
        try:
            while working.is_alive():
                await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            self.stop()
            while working.is_alive():
                await asyncio.sleep(0.05)
            raise
        self._raise_failure()

    def stop(self) -> None:
        """Leases no more, and lets handlers finish for `stop_seconds`; called again, stops them. From any thread."""
        with self._lock:
            self._stops += 1
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._apply_stops)

    def _apply_stops(self) -> None:
        for work in self._works:
            if self._stops >= 1:
                work.draining.set()
            if self._stops >= 2:
                work.over.set()

    def _begin(self, handlers: asyncio.AbstractEventLoop) -> threading.Thread:
        self._failure: BaseException | None = None
        working = threading.Thread(target=self._work, args=(handlers,), name="atlasqueue-worker", daemon=True)
        working.start()
        return working

    def _work(self, handlers: asyncio.AbstractEventLoop) -> None:
        try:
            asyncio.run(self._main(handlers))
        except BaseException as error:
            self._failure = error

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    async def _main(self, handlers: asyncio.AbstractEventLoop) -> None:
        client = self._app.new_client()
        works = [
            QueueWork(
                client,
                handlers,
                self._app.jobs,
                queue,
                concurrency=slots,
                lease_seconds=self._lease_seconds,
                wait_seconds=self._wait_seconds,
                worker_id=self.id,
            )
            for queue, slots in self._concurrency.items()
        ]
        with self._lock:
            self._loop, self._works = asyncio.get_running_loop(), works
            self._apply_stops()
        log(
            logging.INFO, "worker_start", f"worker {self.id} works on {', '.join(self._concurrency)}", worker_id=self.id
        )
        try:
            await asyncio.gather(*(work.run(self._stop_seconds) for work in works))
        finally:
            await client.aclose()
            with self._lock:
                self._loop, self._works = None, []
            log(logging.INFO, "worker_end", f"worker {self.id} has stopped", worker_id=self.id)

    def _take_signals(self) -> dict[signal.Signals, Any]:
        if threading.current_thread() is not threading.main_thread():
            return {}

        def take(number: int, frame: FrameType | None) -> None:
            self.stop()

        return {number: signal.signal(number, take) for number in (signal.SIGTERM, signal.SIGINT)}


def _concurrency_of(app: App, queues: Sequence[str] | Mapping[str, int] | None, concurrency: int) -> dict[str, int]:
    known = sorted({job.template.queue or "default" for job in app.jobs.values()})
    if not known:
        raise ValueError("the app has no jobs: import the modules that define them before its worker")
    if isinstance(queues, str):
        raise ValueError(f"queues must be a list or a mapping; got {queues!r}")
    wanted = (
        dict(queues) if isinstance(queues, Mapping) else dict.fromkeys(known if queues is None else queues, concurrency)
    )
    if not wanted:
        raise ValueError("queues must name at least one queue; got none")
    return wanted


def _require_range(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least:g} to {most:g}; got {value!r}")
