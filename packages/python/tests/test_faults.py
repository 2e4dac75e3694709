"""A worker whose calls are lost, late and refused. No job is lost, and none is done twice without need."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import jobs_app
import pytest
from conftest import eventually
from flaky import Fate, Flaky, ends_with
from jobs_app import app

from atlasqueue import JobFailedError


@pytest.fixture(autouse=True)
def own_app(
    atlasqueue_server: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Iterator[None]:
    monkeypatch.setenv("ATLASQUEUE_URL", atlasqueue_server)
    caplog.set_level(logging.DEBUG, "atlasqueue")
    app.reset()
    yield
    app.transport = None
    app.reset()


@contextmanager
def working(
    fate: Fate, lease_seconds: int = 3, concurrency: int = 2, late: float = 2.0, stop_seconds: float = 25
) -> Generator[Flaky, None, None]:
    app.transport = Flaky(fate, late)
    worker = app.worker(
        concurrency=concurrency,
        lease_seconds=lease_seconds,
        queues=[jobs_app.QUEUE],
        stop_seconds=stop_seconds,
        wait_seconds=1,
    )
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    yield app.transport
    worker.stop()
    thread.join(40)
    assert not thread.is_alive()


def events(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    fields = [getattr(record, "atlasqueue", {}) for record in caplog.records]
    return [one for one in fields if one.get("event") == event]


def test_lost_responses_cost_no_attempt() -> None:
    fates = [
        ends_with("/lease", "lost", "unsent", (503, "")),
        ends_with("/ack", "lost", (502, ""), (503, "unavailable")),
    ]
    handle = jobs_app.add.submit_sync(1)
    with working(lambda request: fates[0](request) or fates[1](request)) as network:
        assert handle.result(30) == 2
        eventually(lambda: len(network.met) >= 4)
    assert handle.get().attempts == 1


def test_an_ack_without_a_response_is_repeated_within_its_lease(caplog: pytest.LogCaptureFixture) -> None:
    handle = jobs_app.add.submit_sync(6)
    fates = [ends_with("/ack", "late")]
    with working(lambda request: fates[0](request), lease_seconds=5, late=20):
        assert handle.result(30) == 7
        assert eventually(lambda: events(caplog, "job_settled"))[0]["outcome"] == "succeeded"
    assert not events(caplog, "lease_lost")


def test_a_late_lease_is_renewed_before_its_handler_starts(caplog: pytest.LogCaptureFixture) -> None:
    handle = jobs_app.add.submit_sync(2)
    # The response comes within the third of the lease, and its job has less than half of the lease left.
    fates = [ends_with("/lease", "late")]
    with working(lambda request: fates[0](request), lease_seconds=3, late=1.6):
        assert handle.result(30) == 3
    assert handle.get().attempts == 1


def test_a_job_that_cannot_be_renewed_before_its_start_is_released(caplog: pytest.LogCaptureFixture) -> None:
    handle = jobs_app.add.submit_sync(3)
    fates = [ends_with("/lease", "late"), ends_with("/heartbeat", (500, ""))]
    with working(lambda request: fates[0](request) or fates[1](request), lease_seconds=3, late=1.6):
        assert handle.result(30) == 4
    assert [fields["during"] for fields in events(caplog, "api_unavailable")] == ["heartbeat"]
    assert handle.get().attempts == 1


def test_renewals_go_on_through_failures(caplog: pytest.LogCaptureFixture) -> None:
    handle = jobs_app.sleeps.submit_sync(5.0)
    fates = [ends_with("/heartbeat", "lost", (404, ""), (503, "unavailable"), "unsent")]
    with working(lambda request: fates[0](request)) as network:
        assert handle.result(30) == "slept"
        assert len(network.met) == 4
    assert handle.get().attempts == 1 and not events(caplog, "lease_lost")


def test_a_lease_that_cannot_be_renewed_ends_its_handler(caplog: pytest.LogCaptureFixture) -> None:
    handle = jobs_app.sleeps.submit_sync(6.0)
    fates = [ends_with("/heartbeat", *["unsent"] * 40)]
    with working(lambda request: fates[0](request), lease_seconds=2):
        eventually(lambda: events(caplog, "lease_lost"))
        fates.clear()
        fates.append(lambda request: None)
        assert handle.result(60) == "slept"
    assert [attempt.outcome for attempt in app.sync_client.attempts(handle.id)][-1] == "succeeded"


def test_a_lost_lease_is_noticed_when_it_is_renewed_and_when_it_is_settled(caplog: pytest.LogCaptureFixture) -> None:
    handles: list[Any] = [jobs_app.sleeps.submit_sync(4.0), jobs_app.add.submit_sync(4)]
    fates = [ends_with("/heartbeat", (409, "lease-lost")), ends_with("/ack", (409, "lease-lost"))]
    with working(lambda request: fates[0](request) or fates[1](request), lease_seconds=3):
        app.sync_client.results(handles, 60)
    assert sorted(fields["during"] for fields in events(caplog, "lease_lost")) == ["handling", "settling"]
    assert [handle.get().attempts for handle in handles] == [2, 2]


def test_an_outcome_that_a_proxy_refuses_for_good_fails(caplog: pytest.LogCaptureFixture) -> None:
    handle = jobs_app.add.options(max_attempts=1).submit_sync(5)
    fates = [ends_with("/ack", *[(413, "")] * 40)]
    with working(lambda request: fates[0](request), lease_seconds=30):
        with pytest.raises(JobFailedError, match="Refused: the API would not store the result"):
            handle.result(60)
    assert events(caplog, "settlement_refused")


def test_an_outcome_waits_for_the_database(caplog: pytest.LogCaptureFixture) -> None:
    handle = jobs_app.fails.options(max_attempts=1).submit_sync()
    fates = [ends_with("/nack", *[(503, "unavailable")] * 4)]
    with working(lambda request: fates[0](request)):
        with pytest.raises(JobFailedError, match="ValueError: no"):
            handle.result(30)
    assert handle.get().attempts == 1


def test_steps_are_asked_for_until_they_answer() -> None:
    handle = jobs_app.sync_steps.submit_sync()
    fates = [ends_with("/steps/one", "lost", (403, ""), "unsent"), ends_with("/park", (502, ""))]
    with working(lambda request: fates[0](request) or fates[1](request)):
        assert handle.result(30) == [1, "timed out", []]


def test_a_step_that_is_refused_fails_the_attempt() -> None:
    handle = jobs_app.sync_steps.options(max_attempts=1).submit_sync()
    fates = [ends_with("/steps/one", (422, "validation"))]
    with working(lambda request: fates[0](request)):
        with pytest.raises(JobFailedError, match="ValidationError"):
            handle.result(30)


def test_a_stop_without_a_network_ends(caplog: pytest.LogCaptureFixture) -> None:
    handle = jobs_app.sleeps.submit_sync(60.0)
    cut = threading.Event()
    with working(lambda request: "unsent" if cut.is_set() else None, stop_seconds=0.5, lease_seconds=30):
        eventually(lambda: handle.get().status == "running")
        cut.set()
    app.sync_client.cancel(handle.id)
