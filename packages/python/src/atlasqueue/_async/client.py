"""The client: all calls in one place."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType
from typing import Any, Iterable, Mapping, TypeVar

from .._http import checked_options
from .._models import WorkerInfo, read
from .._tracing import Tracing
from .._transports import AsyncTransport, default_async_transport
from .handle import AsyncHandle
from .jobs import AsyncJobs
from .leases import AsyncLeases
from .resources import AsyncDeadLetters, AsyncFlows, AsyncQueues, AsyncSchedules, AsyncTokens
from .send import AsyncSender

C = TypeVar("C", bound="AsyncClient")


class AsyncClient(AsyncJobs, AsyncLeases):
    """A client of the HTTP API. Nothing is sent, and no connection opened, until a call.

    `url` is such as "http://127.0.0.1:8000"; a path before /v1 is kept. `token` is an API token, needed unless the API
    runs with AUTH=disabled. `headers` go with every call. `timeout` is for one try, in seconds. `retries` are tries
    after the first, where a retry is safe, and no try starts later than `retry_max` seconds after the first.
    `transport` sends the requests, and `tracing` makes spans: see `atlasqueue.opentelemetry`. Raises ValueError for a malformed URL or token.

        async with AsyncClient("http://127.0.0.1:8000") as client:
            job = await client.submit("email.send", {"to": "ada@example.org"})
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
        transport: AsyncTransport | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        options = checked_options(url, token, headers or {}, timeout, retries, retry_max)
        options = replace(options, tracing=tracing)
        self._use(AsyncSender(options, transport or default_async_transport()))

    def _use(self, sender: AsyncSender) -> None:
        self._sender = sender
        self.queues = AsyncQueues(sender)
        self.schedules = AsyncSchedules(sender)
        self.dead_letters = AsyncDeadLetters(sender)
        self.tokens = AsyncTokens(sender)
        self.flows = AsyncFlows(sender)

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
        client._use(AsyncSender(changed, self._sender.transport))
        return client

    async def results(self, handles: Iterable[AsyncHandle[Any]], timeout: float = 60.0) -> list[Any]:
        """The results of many jobs, in the order of the handles; raises the first failure in that order.

        `timeout` covers all of them together.
        """
        from time import monotonic

        ends_at = monotonic() + timeout
        return [await handle.result(max(0.0, ends_at - monotonic())) for handle in handles]

    async def workers(self) -> list[WorkerInfo]:
        """The workers that reported themselves in the last seconds. Workers over HTTP, such as Python's, do not."""
        return [read(WorkerInfo, item) for item in (await self._sender.ask("GET", "workers"))["items"]]

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._sender.transport.aclose()

    async def __aenter__(self: C) -> C:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
