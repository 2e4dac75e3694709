"""OpenTelemetry, with an SDK's part played by a stand-in: what is asked of its API."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from atlasqueue import App, AsyncClient, Submission
from atlasqueue.testing import MemoryQueue

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@dataclass
class Span:
    name: str
    about: dict[str, Any]
    attributes: dict[str, Any]
    ended: bool = False

    def set_attribute(self, name: str, value: object) -> None:
        self.attributes[name] = value

    def end(self) -> None:
        self.ended = True


@dataclass
class Tracer:
    spans: list[Span] = field(default_factory=list[Span])

    def start_span(self, name: str, *, attributes: dict[str, Any], **about: Any) -> Span:
        self.spans.append(Span(name, about, dict(attributes)))
        return self.spans[-1]

    @contextmanager
    def start_as_current_span(self, name: str, **about: Any) -> Generator[Span, None, None]:
        span = self.start_span(name, **about)
        try:
            yield span
        finally:
            span.end()


def inject(carrier: dict[str, str]) -> None:
    carrier.update(traceparent=TRACEPARENT, baggage="no")


def extract(carrier: dict[str, str], context: object) -> object:
    return SimpleNamespace(is_valid=carrier["traceparent"] != "", **carrier)


def span_in(context: Any) -> object:
    return SimpleNamespace(get_span_context=lambda: context)


def link(context: object) -> object:
    return context


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> list[Span]:
    tracer = Tracer()

    def get_tracer(name: str) -> Tracer:
        return tracer

    kinds = SimpleNamespace(CONSUMER="consumer", PRODUCER="producer", CLIENT="client")
    modules: dict[str, dict[str, Any]] = {
        "": {},
        ".trace": {"get_tracer": get_tracer, "SpanKind": kinds, "Link": link, "get_current_span": span_in},
        ".propagate": {"inject": inject, "extract": extract},
        ".context": {"Context": lambda: "root"},
    }
    for name, contents in modules.items():
        module = ModuleType(f"opentelemetry{name}")
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return tracer.spans


def described(span: Span) -> list[Any]:
    assert span.ended and span.attributes["messaging.system"] == "atlasqueue"
    operation = span.attributes["messaging.operation.name"]
    assert span.attributes["messaging.operation.type"] == operation
    own = {
        name.removeprefix("messaging.").removeprefix("atlasqueue."): value
        for name, value in span.attributes.items()
        if not name.startswith(("messaging.system", "messaging.operation"))
    }
    return [span.name, span.about["kind"], own]


STORED = {"status": 201, "body": {"id": "1", "status": "queued", "created": True}}


def test_a_submission_is_a_span_and_its_request_carries_it(spans: list[Span], fake_server: Any) -> None:
    from atlasqueue.opentelemetry import OpenTelemetry, instrument

    server = fake_server([STORED, {"status": 201, "body": {"jobs": [STORED["body"], STORED["body"]]}}])
    app = App(server.url)
    instrument(app)

    @app.job("traced", queue="mail")
    def traced() -> None:
        pass

    async def batch() -> None:
        async with AsyncClient(server.url, tracing=OpenTelemetry()) as client:
            await client.submit_many([traced.submission(), Submission("other")])

    traced.submit_sync()
    asyncio.run(batch())
    for request in server.requests:
        assert request.headers["traceparent"] == TRACEPARENT and "baggage" not in request.headers
    one, many = spans
    assert described(one) == ["send mail", "producer", {"destination.name": "mail", "job.type": "traced"}]
    assert described(many) == ["send", "producer", {"batch.message_count": 2}]


def test_a_submission_that_fails_names_its_error(spans: list[Span], fake_server: Any) -> None:
    from atlasqueue.opentelemetry import instrument

    app = App(fake_server([{"status": 401, "body": {}}]).url)
    instrument(app)
    with pytest.raises(Exception, match="401"):
        app.sync_client.submit("traced")
    assert spans[0].attributes["error.type"] == "AuthError" and spans[0].ended


def test_a_lease_that_took_jobs_is_a_span_with_links(spans: list[Span], fake_server: Any) -> None:
    from atlasqueue.opentelemetry import instrument

    traced: dict[str, Any] = {"id": "1", "status": "running", "queue": "mail", "traceparent": TRACEPARENT}
    jobs = [{"job": one, "lease_token": "t"} for one in (traced, {**traced, "id": "2", "traceparent": None})]
    answer: dict[str, Any] = {"remaining_ms": 1_000, "waited_ms": 0}
    app = App(
        fake_server(
            [{"status": 200, "body": {**answer, "jobs": jobs}}, {"status": 200, "body": {**answer, "jobs": []}}]
        ).url
    )
    instrument(app)
    assert len(app.sync_client.lease("mail", worker_id="w", max_jobs=5)) == 2
    assert app.sync_client.lease("mail", worker_id="w") == []
    (span,) = spans
    assert described(span) == ["receive mail", "client", {"destination.name": "mail", "batch.message_count": 2, "client.id": "w"}]
    assert span.about["context"] == "root" and span.about["start_time"] > 1e18
    assert [one.traceparent for one in span.about["links"]] == [TRACEPARENT]


def test_an_attempt_is_a_span_and_the_first_one_a_child(spans: list[Span], atlasqueue_memory: MemoryQueue) -> None:
    from atlasqueue.opentelemetry import instrument

    app = App()
    instrument(app)

    @app.job("traced", queue="mail", max_attempts=2)
    def traced() -> None:
        raise ValueError("no")

    atlasqueue_memory.attach(app)
    traced.submit_sync()
    atlasqueue_memory.drain()
    _, first, second = spans
    (job,) = atlasqueue_memory.submitted()
    about: dict[str, Any] = {"destination.name": "mail", "message.id": job.id, "job.type": "traced", "job.attempt": 1}
    assert described(first) == ["process mail", "consumer", {**about, "error.type": "ValueError"}]
    assert first.about["context"] != "root" and second.about["context"] == "root"
    assert second.attributes["atlasqueue.job.attempt"] == 2


def test_without_opentelemetry_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from atlasqueue.opentelemetry import instrument

    modules: Any = sys.modules
    monkeypatch.setitem(modules, "opentelemetry.trace", None)
    with pytest.raises(ImportError):
        instrument(App())
