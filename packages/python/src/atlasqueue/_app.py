"""An application's jobs: functions that are called as before, and submitted to run elsewhere."""

from __future__ import annotations

import functools
import inspect
import os
import typing
from dataclasses import dataclass, replace
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    ContextManager,
    Coroutine,
    Generic,
    Mapping,
    ParamSpec,
    Sequence,
    TypeVar,
    overload,
)

from ._codec import decode, encode, is_model
from ._errors import PayloadError
from ._submission import Backoff, Seconds, Submission, Unique

if TYPE_CHECKING:
    from datetime import datetime

    from ._async.client import AsyncClient
    from ._async.handle import AsyncHandle
    from ._models import Job
    from ._sync.client import Client
    from ._sync.handle import Handle
    from ._tracing import Tracing
    from ._transports import AsyncTransport, Transport
    from .worker import Worker

P = ParamSpec("P")
#: What the function returns, and what its job results in: of a coroutine function, what it awaits to.
Returned = TypeVar("Returned")
Result = TypeVar("Result")

#: Runs around each attempt, where the handler runs.
Around = Callable[["Job"], ContextManager[Any]]


class JobFunction(Generic[P, Returned, Result]):
    """A function that is a job: call it as before, or `submit` it with the same arguments.

    The payload has the arguments by their names; of a function with one argument that is a dataclass or a pydantic
    model, it is that model's fields.
    """

    def __init__(self, app: App, function: Callable[P, Returned], template: Submission) -> None:
        functools.update_wrapper(self, function)
        self.app = app
        self.function = function
        self.template = template

    @property
    def type(self) -> str:
        return self.template.type

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Returned:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<job {self.type!r}>"

    def submission(self, *args: P.args, **kwargs: P.kwargs) -> Submission:
        """The job that `submit` would store: for `submit_many`, flows and schedules."""
        bound = self._signature.bind(*args, **kwargs)
        names = list(bound.signature.parameters)
        if self._takes_model:
            return replace(self.template, payload=bound.arguments[names[0]])
        payload: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                payload.update(value)
            else:
                payload[name] = encode(value)
        return replace(self.template, payload=payload)

    async def submit(self, *args: P.args, **kwargs: P.kwargs) -> AsyncHandle[Result]:
        """Stores the job; returns its handle when it is durable. Raises like `AsyncClient.submit`."""
        return await self.app.client.submit_as(self.submission(*args, **kwargs), self.decode_result)

    def submit_sync(self, *args: P.args, **kwargs: P.kwargs) -> Handle[Result]:
        """Like `submit`, without asyncio."""
        return self.app.sync_client.submit_as(self.submission(*args, **kwargs), self.decode_result)

    def options(
        self,
        *,
        queue: str | None = None,
        priority: int | None = None,
        max_attempts: int | None = None,
        run_at: datetime | None = None,
        delay: Seconds | None = None,
        timeout: Seconds | None = None,
        expires_in: Seconds | None = None,
        group: str | None = None,
        tags: Sequence[str] | None = None,
        backoff: Backoff | None = None,
        retention: Seconds | None = None,
        result_ttl: Seconds | None = None,
        unique: Unique | None = None,
        depends_on: Sequence[str] | None = None,
        on_parent_failure: str | None = None,
        idempotency_key: str | None = None,
    ) -> JobFunction[P, Returned, Result]:
        """The same job with other options: `await send_email.options(delay=60).submit(to="ada@example.org")`."""
        given = {
            "queue": queue,
            "priority": priority,
            "max_attempts": max_attempts,
            "run_at": run_at,
            "delay": delay,
            "timeout": timeout,
            "expires_in": expires_in,
            "group": group,
            "tags": tags,
            "backoff": backoff,
            "retention": retention,
            "result_ttl": result_ttl,
            "unique": unique,
            "depends_on": depends_on,
            "on_parent_failure": on_parent_failure,
            "idempotency_key": idempotency_key,
        }
        changed: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return JobFunction(self.app, self.function, replace(self.template, **changed))

    def bind_payload(self, payload: Mapping[str, Any]) -> Callable[[], Any]:
        """The call that a payload stands for. Raises PayloadError if it does not fit."""
        signature, hints = self._signature, self._hints
        if self._takes_model:
            (name,) = signature.parameters
            return functools.partial(self.function, decode(dict(payload), hints[name]))
        values = {name: decode(value, hints.get(name)) for name, value in payload.items()}
        try:
            bound = signature.bind(**values)
        except TypeError as error:
            raise PayloadError(f"the payload does not fit {self.type}{signature}: {error}") from None
        return functools.partial(self.function, *bound.args, **bound.kwargs)

    def decode_result(self, result: Any) -> Any:
        """A stored result, as the type that the function returns."""
        return decode(result, self._hints.get("return"))

    @functools.cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    @functools.cached_property
    def _hints(self) -> dict[str, Any]:
        return typing.get_type_hints(self.function)

    @functools.cached_property
    def _takes_model(self) -> bool:
        parameters = list(self._signature.parameters.values())
        return len(parameters) == 1 and is_model(self._hints.get(parameters[0].name))


@dataclass(frozen=True)
class JobDecorator:
    app: App
    template: Submission

    # The first is a case of the second: a coroutine function's job results in what it awaits to.
    @overload
    def __call__(  # type: ignore[misc]
        self, function: Callable[P, Coroutine[Any, Any, Result]]
    ) -> JobFunction[P, Coroutine[Any, Any, Result], Result]: ...

    @overload
    def __call__(self, function: Callable[P, Result]) -> JobFunction[P, Result, Result]: ...

    def __call__(self, function: Callable[..., Any]) -> JobFunction[..., Any, Any]:
        made: JobFunction[..., Any, Any] = JobFunction(self.app, function, self.template)
        if self.template.type in self.app.jobs:
            raise ValueError(f"type {self.template.type!r} has two functions")
        self.app.jobs[self.template.type] = made
        return made


class App:
    """The jobs of a program, and the API that keeps them. Nothing is sent before the first call.

    `url` and `token` are by default those of ATLASQUEUE_URL and ATLASQUEUE_TOKEN, or http://127.0.0.1:8000 and none.
    The other options are those of `AsyncClient`.

        app = App("http://127.0.0.1:8000")

        @app.job("email.send", queue="mail", timeout=30)
        async def send_email(to: str) -> str: ...
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        retries: float = 5,
        retry_max: float = 60.0,
    ) -> None:
        self._url = url
        self._token = token
        self._options: dict[str, Any] = {
            "headers": headers,
            "timeout": timeout,
            "retries": retries,
            "retry_max": retry_max,
        }
        self._client: AsyncClient | None = None
        self._sync_client: Client | None = None
        self.transport: AsyncTransport | None = None
        self.sync_transport: Transport | None = None
        #: Makes spans of what is submitted and leased: see `atlasqueue.opentelemetry`.
        self.tracing: Tracing | None = None
        #: Run around each attempt, where the handler runs: see `atlasqueue.opentelemetry`.
        self.around: list[Around] = []
        self.jobs: dict[str, JobFunction[..., Any, Any]] = {}

    def job(
        self,
        type: str,
        *,
        queue: str = "default",
        priority: int | None = None,
        max_attempts: int | None = None,
        timeout: Seconds | None = None,
        expires_in: Seconds | None = None,
        group: str | None = None,
        tags: Sequence[str] | None = None,
        backoff: Backoff | None = None,
        retention: Seconds | None = None,
        result_ttl: Seconds | None = None,
        unique: Unique | None = None,
    ) -> JobDecorator:
        """Makes a function the handler of a type. It may run twice for a job, and must tolerate that.

        `timeout` in seconds ends an attempt. The options are those of its submissions, see `Submission`. Raises
        ValueError if the type has a function already.
        """
        template = Submission(
            type=type,
            queue=queue,
            priority=priority,
            max_attempts=max_attempts,
            timeout=timeout,
            expires_in=expires_in,
            group=group,
            tags=tags,
            backoff=backoff,
            retention=retention,
            result_ttl=result_ttl,
            unique=unique,
        )
        return JobDecorator(self, template)

    @property
    def client(self) -> AsyncClient:
        """The client of this app, under asyncio."""
        if self._client is None:
            self._client = self.new_client()
        return self._client

    @property
    def sync_client(self) -> Client:
        """The client of this app, without asyncio."""
        if self._sync_client is None:
            from ._sync.client import Client

            self._sync_client = Client(**self._client_options(), transport=self.sync_transport)
        return self._sync_client

    def new_client(self) -> AsyncClient:
        """A client with connections of its own, as a worker has."""
        from ._async.client import AsyncClient

        return AsyncClient(**self._client_options(), transport=self.transport)

    def reset(self) -> None:
        """Forgets the clients: the next call makes them anew, such as over another transport."""
        self._client = self._sync_client = None

    def use_url(self, url: str) -> None:
        """The API at this URL is used from now on, whatever the app was made with."""
        self._url = url
        self.reset()

    def _client_options(self) -> dict[str, Any]:
        url = self._url or os.environ.get("ATLASQUEUE_URL") or "http://127.0.0.1:8000"
        token = self._token or os.environ.get("ATLASQUEUE_TOKEN") or None
        return {"url": url, "token": token, "tracing": self.tracing, **self._options}

    def worker(
        self,
        *,
        queues: Sequence[str] | Mapping[str, int] | None = None,
        concurrency: int = 10,
        lease_seconds: int = 30,
        wait_seconds: float = 20,
        stop_seconds: float = 25,
        worker_id: str | None = None,
    ) -> Worker:
        """A worker of this app's jobs: `app.worker(concurrency=10).run()`.

        `queues` are by default all that its jobs name; a mapping gives each its own concurrency. `concurrency` is how
        many jobs of a queue run at once, 1 to 1,000. `lease_seconds`, 1 to 3,600, is how long a crashed worker's jobs
        wait. `stop_seconds` is how long jobs may run on after SIGTERM. Raises ValueError for options out of range.
        """
        from .worker import Worker

        return Worker(
            self,
            queues=queues,
            concurrency=concurrency,
            lease_seconds=lease_seconds,
            wait_seconds=wait_seconds,
            stop_seconds=stop_seconds,
            worker_id=worker_id,
        )
