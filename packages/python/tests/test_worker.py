"""A worker in this process, against the real API."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any

import jobs_app
import pytest
from conftest import eventually
from jobs_app import Order, app

from atlasqueue import App, JobFailedError, JsonFormatter, Submission, context
from atlasqueue.cli import load_app, main


@pytest.fixture(autouse=True)
def own_app(atlasqueue_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ATLASQUEUE_URL", atlasqueue_server)
    app.reset()
    yield
    app.reset()


@contextmanager
def working(lease_seconds: int = 6, stop_seconds: float = 25) -> Generator[None, None, None]:
    worker = app.worker(concurrency=5, queues=[jobs_app.QUEUE], lease_seconds=lease_seconds, stop_seconds=stop_seconds)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    yield
    worker.stop()
    thread.join(40)
    assert not thread.is_alive()


def test_results_are_typed_and_come_back() -> None:
    with working():
        handles = [jobs_app.add.submit_sync(n, b=n) for n in range(20)]
        assert app.sync_client.results(handles, 30) == [n + n for n in range(20)]
        assert jobs_app.add.submit_sync(1).result(20) == 2
        assert jobs_app.multiply.submit_sync(a=6, b=7).result(20) == 42
        order = Order(1, datetime(2030, 1, 1, tzinfo=timezone.utc), ["tea"])
        assert jobs_app.ship.submit_sync(order).result(20) == Order(2, order.at, ["tea", "shipped"])
    assert jobs_app.multiply(6, 7) == 42 and repr(jobs_app.multiply) == "<job 'multiply'>"


def test_submit_under_asyncio() -> None:
    async def story() -> int:
        worker = app.worker(lease_seconds=6)
        serving = asyncio.create_task(worker.serve())
        handle = await jobs_app.add.options(priority=5).submit(1, 2)
        result = await handle.result(20)
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        await app.client.aclose()
        return result

    assert asyncio.run(story()) == 3


def test_failures_say_what_happened() -> None:
    with working():
        failures: dict[Any, str] = {
            jobs_app.fails.submit_sync(): "ValueError: no; cause: KeyError: 'cause'",
            jobs_app.never.submit_sync(): "DoNotRetry: it cannot work",
            jobs_app.slow.submit_sync(): "TimeoutError: the handler ran longer than 1 s",
            jobs_app.unstorable.submit_sync(): "ResultError: the result cannot be stored",
            jobs_app.huge.submit_sync(): "Refused: the API would not store the result",
            jobs_app.spawns_badly.submit_sync(): "SpawnError: ",
            app.sync_client.submit("slow", queue=jobs_app.QUEUE, max_attempts=1): "TimeoutError: the handler ran",
            app.sync_client.submit(
                "add", {"c": 1}, queue=jobs_app.QUEUE, max_attempts=1
            ): "PayloadError: the payload does not fit add(",
            app.sync_client.submit(
                "add", {"a": "1"}, queue=jobs_app.QUEUE, max_attempts=1
            ): "PayloadError: '1' does not fit int",
        }
        for handle, said in failures.items():
            with pytest.raises(JobFailedError) as raised:
                handle.result(30)
            assert (raised.value.job.last_error or "").startswith(said)
        assert jobs_app.again.submit_sync().result(30) == 3


def test_a_handler_that_blocks_all_coroutines_keeps_its_lease() -> None:
    with working(lease_seconds=2):
        handle = jobs_app.blocks.submit_sync(5.0)
        assert handle.result(30) == "done"
        assert handle.get().attempts == 1


def test_coroutines_that_are_cancelled_before_their_first_step_free_their_slots() -> None:
    with working(lease_seconds=3):
        blocking = jobs_app.blocks.submit_sync(6.0)
        eventually(lambda: blocking.get().status == "running")
        others = [jobs_app.sleeps.submit_sync(0.0) for _ in range(4)]
        for handle in others:
            eventually(lambda handle=handle: handle.get().status == "running")  # type: ignore[misc]
            app.sync_client.cancel(handle.id)
        assert jobs_app.add.submit_sync(1).result(30) == 2


def test_progress_and_a_cancel_reach_a_thread() -> None:
    with working(lease_seconds=3):
        handle = jobs_app.until_cancelled.submit_sync()
        eventually(lambda: handle.get().status == "running")
        app.sync_client.cancel(handle.id)
        # Its slot is free again: all of them are needed.
        handles = [jobs_app.sleeps.submit_sync(0.2) for _ in range(10)]
        assert app.sync_client.results(handles, 30) == ["slept"] * 10
        assert handle.get().status == "cancelled"
        assert jobs_app.bad_progress.submit_sync().result(30) == "fine"


def test_steps_are_done_once_and_signals_are_waited_for() -> None:
    with working():
        handle = jobs_app.steps.submit_sync()
        eventually(lambda: handle.get().waits_for == "go")
        assert app.sync_client.signal(handle.id, "go", {"by": "ada"}) == "sent"
        paid, signal, is_later = handle.result(30)
        assert (signal, is_later) == ({"by": "ada"}, True)
        assert app.sync_client.steps(handle.id)["charge"] == paid
        assert handle.get().progress == {"signal": {"by": "ada"}}
        children = [
            job for job in app.sync_client.list(queue=jobs_app.QUEUE, type="add") if job.payload == {"a": 40, "b": 2}
        ]
        assert app.sync_client.wait(children[0].id, 30).result == 42
        flow = app.sync_client.flow()
        rows = flow.add(jobs_app.add.submission(1, 2), ref="rows")
        flow.add(jobs_app.sync_steps.submission(), depends_on=[rows])
        assert flow.submit().handles[1].result(30) == [1, "timed out", ["rows"]]


def test_a_stop_lets_jobs_finish_and_releases_the_rest() -> None:
    with working(stop_seconds=2):
        short, long = jobs_app.sleeps.submit_sync(1.0), jobs_app.sleeps.submit_sync(60.0)
        eventually(lambda: {short.get().status, long.get().status} == {"running"})
    assert short.get().status == "succeeded"
    released = long.get()
    assert (released.status, released.attempts) == ("queued", 0)
    app.sync_client.cancel(long.id)


def test_options_out_of_range_are_named() -> None:
    with pytest.raises(ValueError, match="concurrency of queue '.*' must be from 1 to 1000; got 0"):
        app.worker(concurrency=0)
    with pytest.raises(ValueError, match="lease_seconds must be from 1 to 3600; got 0"):
        app.worker(lease_seconds=0)
    with pytest.raises(ValueError, match="queues must name at least one queue"):
        app.worker(queues={})
    with pytest.raises(ValueError, match="queues must be a list or a mapping; got 'mail'"):
        app.worker(queues="mail")
    with pytest.raises(ValueError, match="the app has no jobs"):
        App().worker()
    with pytest.raises(ValueError, match="type 'add' has two functions"):
        app.job("add")(lambda: None)
    with pytest.raises(RuntimeError, match="there is no job here"):
        context.progress(1)


def test_the_command_names_what_it_cannot_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert load_app("jobs_app:app") is app
    assert main(["jobs_app"]) == 2
    assert "module:name" in capsys.readouterr().err
    assert main(["jobs_app:nothing"]) == 2
    assert "jobs_app:nothing is not an atlasqueue.App" in capsys.readouterr().err
    assert main(["no_such_module:app"]) == 2
    assert "no_such_module" in capsys.readouterr().err


def test_logs_are_fields() -> None:
    record = logging.LogRecord("atlasqueue", logging.INFO, "", 1, "two\nlines", (), None)
    record.atlasqueue = {"event": "job_settled", "job_id": "1"}
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert json.loads(line)["event"] == "job_settled" and json.loads(line)["message"] == "two\nlines"
    assert isinstance(jobs_app.add.submission(1), Submission)
