# Written by scripts/unasync.py from _async. Do not edit.
# pyright: reportUnnecessaryIsInstance=false
"""The client: all calls in one place."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType
from typing import Any, Iterable, Mapping, TypeVar

from .._http import checked_options
from .._models import WorkerInfo, read
from .._tracing import Tracing
from .._transports import Transport, default_transport
from .handle import Handle
from .jobs import Jobs
from .leases import Leases
from .resources import DeadLetters, Flows, Queues, Schedules, Tokens
from .send import Sender

C = TypeVar("C", bound="Client")


class Client(Jobs, Leases):
    """A client of the HTTP API. Nothing is sent, and no connection opened, until a call.

    `url` is such as "http://127.0.0.1:8000"; a path before /v1 is kept. `token` is an API token, needed unless the API
    runs with AUTH=disabled. `headers` go with every call. `timeout` is for one try, in seconds. `retries` are tries
    after the first, where a retry is safe, and no try starts later than `retry_max` seconds after the first.
    `transport` sends the requests, and `tracing` makes spans: see `atlasqueue.opentelemetry`. Raises ValueError for a malformed URL or token.

        with Client("http://127.0.0.1:8000") as client:
            job = client.submit("email.send", {"to": "ada@example.org"})
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        retries: float = 5,
        retry_max: float = 60.0,
        transport: Transport | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        options = checked_options(url, token, headers or {}, timeout, retries, retry_max)
        options = replace(options, tracing=tracing)
        self._use(Sender(options, transport or default_transport()))

    def _use(self, sender: Sender) -> None:
        self._sender = sender
        self.queues = Queues(sender)
        self.schedules = Schedules(sender)
        self.dead_letters = DeadLetters(sender)
        self.tokens = Tokens(sender)
        self.flows = Flows(sender)

    def with_options(
        self: C, *, timeout: float | None = None, retries: float | None = None, retry_max: float | None = None
    ) -> C:
        """The same client with other limits, over the same connections: `client.with_options(retries=0).get(id)`."""
        own = self._sender.options
        changed = replace(
            own,
            timeout=own.timeout if timeout is None else timeout,
            retries=own.retries if retries is None else retries,
            retry_max=own.retry_max if retry_max is None else retry_max,
        )
        client = object.__new__(type(self))
        client._use(Sender(changed, self._sender.transport))
        return client

    def results(self, handles: Iterable[Handle[Any]], timeout: float = 60.0) -> list[Any]:
        """The results of many jobs, in the order of the handles; raises the first failure in that order.

        `timeout` covers all of them together.
        """
        from time import monotonic

        ends_at = monotonic() + timeout
        return [handle.result(max(0.0, ends_at - monotonic())) for handle in handles]

    def workers(self) -> list[WorkerInfo]:
        """The workers that reported themselves in the last seconds. Workers over HTTP, such as Python's, do not."""
        return [read(WorkerInfo, item) for item in (self._sender.ask("GET", "workers"))["items"]]

    def close(self) -> None:
        """Closes the connections."""
        self._sender.transport.close()

    def __enter__(self: C) -> C:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
