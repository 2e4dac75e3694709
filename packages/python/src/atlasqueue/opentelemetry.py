"""Traces with the SDK that your program has registered. Needs `pip install atlasqueue[opentelemetry]`.

from atlasqueue.opentelemetry import instrument

instrument(app)
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from typing import Any, Generator, Sequence

from ._app import App
from ._models import Job
from ._tracing import only_queue

_SYSTEM = "atlasqueue"
#: Spans have a bounded number of links; a lease may take more jobs.
_LINKS_MAX = 128


def instrument(app: App) -> None:
    """Makes the spans `send {queue}`, `receive {queue}` and `process {queue}` of what the app submits, leases and runs.

    Each request carries the active span, and each attempt links to where its job was submitted. Raises ImportError
    without OpenTelemetry.
    """
    app.tracing = OpenTelemetry()
    app.reset()
    app.around.append(app.tracing.attempt)


class OpenTelemetry:
    """The same for a client of its own: `Client(url, tracing=OpenTelemetry())`."""

    def __init__(self) -> None:
        self._trace: Any = importlib.import_module("opentelemetry.trace")
        self._propagate: Any = importlib.import_module("opentelemetry.propagate")
        self._root: Any = importlib.import_module("opentelemetry.context").Context
        self._tracer: Any = self._trace.get_tracer(_SYSTEM)

    def headers(self) -> dict[str, str]:
        carrier: dict[str, str] = {}
        self._propagate.inject(carrier)
        return {name: value for name, value in carrier.items() if name in ("traceparent", "tracestate")}

    @contextmanager
    def sending(self, queue: str | None, *, type: str | None, count: int | None) -> Generator[None, None, None]:
        about = _about("send", queue, type=type, count=count)
        kind = self._trace.SpanKind.PRODUCER
        with self._tracer.start_as_current_span(_name("send", queue), kind=kind, attributes=about) as span:
            with _naming_errors(span):
                yield

    def received(self, jobs: Sequence[Job], worker_id: str, began_at_ns: int) -> None:
        queue = only_queue([job.queue for job in jobs])
        links = [link for job in jobs[:_LINKS_MAX] for link in self._links(job)]
        self._tracer.start_span(
            _name("receive", queue),
            context=self._root(),
            kind=self._trace.SpanKind.CLIENT,
            links=links,
            attributes=_about("receive", queue, count=len(jobs), worker_id=worker_id),
            start_time=began_at_ns,
        ).end()

    @contextmanager
    def attempt(self, job: Job) -> Generator[None, None, None]:
        # A retry, or a job that was delayed, may run hours after the request that submitted it: in a trace of its own.
        is_child = job.attempts == 1 and job.run_at == job.created_at
        about = _about("process", job.queue, type=job.type, worker_id=job.worker_id)
        with self._tracer.start_as_current_span(
            _name("process", job.queue),
            context=self._submitted(job) if is_child else self._root(),
            kind=self._trace.SpanKind.CONSUMER,
            links=self._links(job),
            attributes={**about, "messaging.message.id": job.id, "atlasqueue.job.attempt": job.attempts},
        ) as span:
            with _naming_errors(span):
                yield

    def _submitted(self, job: Job) -> Any:
        """The context in which the job was submitted."""
        carrier = {"traceparent": job.traceparent or "", "tracestate": job.tracestate or ""}
        return self._propagate.extract(carrier, context=self._root())

    def _links(self, job: Job) -> list[Any]:
        submitted = self._trace.get_current_span(self._submitted(job)).get_span_context()
        return [self._trace.Link(submitted)] if submitted.is_valid else []


def _name(operation: str, queue: str | None) -> str:
    return operation if queue is None else f"{operation} {queue}"


def _about(
    operation: str,
    queue: str | None,
    *,
    type: str | None = None,
    count: int | None = None,
    worker_id: str | None = None,
) -> dict[str, Any]:
    """Attributes of OpenTelemetry's conventions for messaging, as the TypeScript packages have them."""
    found = {
        "messaging.system": _SYSTEM,
        "messaging.operation.name": operation,
        "messaging.operation.type": operation,
        "messaging.destination.name": queue,
        "messaging.batch.message_count": count,
        "messaging.client.id": worker_id,
        "atlasqueue.job.type": type,
    }
    return {name: value for name, value in found.items() if value is not None}


@contextmanager
def _naming_errors(span: Any) -> Generator[None, None, None]:
    try:
        yield
    except Exception as error:
        span.set_attribute("error.type", type(error).__name__)
        raise
