"""OpenTelemetry, with an SDK's part played by a stand-in: what is asked of its API."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from atlasqueue import App
from atlasqueue.testing import MemoryQueue

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    @contextmanager
    def start(name: str, **about: Any) -> Iterator[None]:
        found.append({"name": name, **about})
        yield

    trace: Any = ModuleType("opentelemetry.trace")
    trace.get_tracer = lambda name: SimpleNamespace(start_as_current_span=start)
    trace.SpanKind = SimpleNamespace(CONSUMER="consumer")
    trace.Link = lambda context: context
    trace.get_current_span = lambda context: SimpleNamespace(get_span_context=lambda: context)
    propagate: Any = ModuleType("opentelemetry.propagate")
    propagate.inject = lambda carrier: carrier.update(traceparent=TRACEPARENT, baggage="no")
    propagate.extract = lambda carrier: SimpleNamespace(is_valid=True, **carrier)
    for module in (ModuleType("opentelemetry"), trace, propagate):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return found


def test_an_attempt_is_a_span_and_requests_carry_the_active_one(
    spans: list[dict[str, Any]], fake_server: Any, atlasqueue_memory: MemoryQueue
) -> None:
    from atlasqueue.opentelemetry import instrument

    server = fake_server([{"status": 201, "body": {"id": "1", "status": "queued"}}])
    app = App(server.url)
    instrument(app)

    @app.job("traced", queue="mail")
    def traced() -> None:
        pass

    traced.submit_sync()
    sent = server.requests[0].headers
    assert sent["traceparent"] == TRACEPARENT and "baggage" not in sent
    atlasqueue_memory.attach(app)
    traced.submit_sync()
    atlasqueue_memory.drain()
    (span,) = spans
    assert (span["name"], span["kind"]) == ("process mail", "consumer")
    assert (
        span["attributes"]["messaging.destination.name"] == "mail" and span["attributes"]["atlasqueue.job.attempt"] == 1
    )


def test_without_opentelemetry_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from atlasqueue.opentelemetry import instrument

    modules: Any = sys.modules
    monkeypatch.setitem(modules, "opentelemetry.trace", None)
    with pytest.raises(ImportError):
        instrument(App())
