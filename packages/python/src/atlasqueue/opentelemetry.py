"""Traces with the SDK that your program has registered. Needs `pip install atlasqueue[opentelemetry]`.

from atlasqueue.opentelemetry import instrument

instrument(app)
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from typing import Any, Generator

from ._app import App
from ._models import Job

_SYSTEM = "atlasqueue"


def instrument(app: App) -> None:
    """Sends the span that is active with each request of the app, and makes a span `process {queue}` of each attempt.

    That span links to where the job was submitted. Raises ImportError without OpenTelemetry.
    """
    importlib.import_module("opentelemetry.trace")
    app.trace_headers = trace_headers
    app.reset()
    app.around.append(_attempt)


def trace_headers() -> dict[str, str]:
    """The headers that carry the active span: also an option of the clients."""
    carrier: dict[str, str] = {}
    importlib.import_module("opentelemetry.propagate").inject(carrier)
    return {name: value for name, value in carrier.items() if name in ("traceparent", "tracestate")}


@contextmanager
def _attempt(job: Job) -> Generator[None, None, None]:
    trace: Any = importlib.import_module("opentelemetry.trace")
    propagate: Any = importlib.import_module("opentelemetry.propagate")
    links: list[Any] = []
    if job.traceparent is not None:
        carrier = {"traceparent": job.traceparent, **({"tracestate": job.tracestate} if job.tracestate else {})}
        submitted = trace.get_current_span(propagate.extract(carrier)).get_span_context()
        links = [trace.Link(submitted)] if submitted.is_valid else []
    attributes = {
        "messaging.system": _SYSTEM,
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": job.queue,
        "messaging.message.id": job.id,
        "atlasqueue.job.type": job.type,
        "atlasqueue.job.attempt": job.attempts,
    }
    tracer = trace.get_tracer(_SYSTEM)
    with tracer.start_as_current_span(
        f"process {job.queue}", kind=trace.SpanKind.CONSUMER, links=links, attributes=attributes
    ):
        yield
