"""The fixtures for users' tests."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta
from pathlib import Path

import jobs_app
import pytest
from jobs_app import app

from atlasqueue import (
    AtlasQueueError,
    JobFailedError,
    JobFinishedError,
    NotFoundError,
    Submission,
    context,
    sync_context,
)
from atlasqueue.testing import MemoryQueue, start_server
from atlasqueue.testing._store import now


def test_submitted_jobs_are_kept_and_drained(atlasqueue_memory: MemoryQueue) -> None:
    atlasqueue_memory.attach(app)
    handle = jobs_app.add.options(idempotency_key="k").submit_sync(1, b=2)
    assert not jobs_app.add.options(idempotency_key="k").submit_sync(1, b=2).created
    assert [job.payload for job in atlasqueue_memory.submitted("add")] == [{"a": 1, "b": 2}]
    failing, late = jobs_app.fails.submit_sync(), jobs_app.again.submit_sync()
    assert {job.status for job in atlasqueue_memory.drain()} == {"succeeded", "dead"}
    assert (handle.result(), late.result()) == (3, 3)
    with pytest.raises(JobFailedError, match="ValueError: no"):
        failing.result()
    assert len(atlasqueue_memory.submitted()) == 3


def test_inline_jobs_have_run_when_submit_returns(atlasqueue_memory: MemoryQueue) -> None:
    atlasqueue_memory.attach(app)
    with atlasqueue_memory.run_inline():
        assert jobs_app.multiply.submit_sync(6, 7).result() == 42

        async def story() -> int:
            return await (await jobs_app.add.submit(1)).result()

        assert asyncio.run(story()) == 2


def test_a_handler_may_submit(atlasqueue_memory: MemoryQueue) -> None:
    atlasqueue_memory.attach(app)
    jobs_app.submits.submit_sync(2)
    assert [job.type for job in atlasqueue_memory.drain()] == ["submits", "submits", "submits"]
    with atlasqueue_memory.run_inline():
        assert jobs_app.submits.submit_sync(1).result() == 1
    assert [job.status for job in atlasqueue_memory.submitted("submits")] == ["succeeded"] * 5


def test_steps_signals_and_children(atlasqueue_memory: MemoryQueue) -> None:
    atlasqueue_memory.attach(app)
    handle = jobs_app.steps.submit_sync()
    assert atlasqueue_memory.drain() == []
    assert handle.get().waits_for == "go"
    assert app.sync_client.signal(handle.id, "go", 1) == "sent"
    assert app.sync_client.signal(handle.id, "go", 2) == "sent_before"
    assert [job.type for job in atlasqueue_memory.drain()] == ["steps", "add"]
    assert handle.result()[1:] == [1, True]
    flow = app.sync_client.flow()
    rows = flow.add(jobs_app.fails.submission(), ref="rows")
    flow.add(jobs_app.add.submission(1), depends_on=[rows])
    flow.after_all(jobs_app.add.submission(2))
    stored = flow.submit()
    atlasqueue_memory.drain()
    assert [handle.get().status for handle in stored.handles] == ["dead", "cancelled"]
    assert stored.last is not None and stored.last.result() == 3


def test_a_wait_for_a_signal_ends(atlasqueue_memory: MemoryQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    atlasqueue_memory.attach(app)
    first = jobs_app.sync_steps.submit_sync()
    assert atlasqueue_memory.drain() == []
    in_a_second = now() + timedelta(seconds=1)
    monkeypatch.setattr("atlasqueue.testing.memory.now", lambda: in_a_second)
    monkeypatch.setattr("atlasqueue.testing._attempt.now", lambda: in_a_second)
    assert [job.result for job in atlasqueue_memory.drain()] == [[1, "timed out", []]]
    monkeypatch.undo()
    second, waits = jobs_app.sync_steps.submit_sync(), jobs_app.steps.submit_sync()
    assert app.sync_client.signal(waits.id, "go") == "sent"
    assert second.id in [job.id for job in atlasqueue_memory.drain(until_finished=True)]
    assert first.result() == second.result() == [1, "timed out", []]


def test_a_signal_after_the_wait_is_too_late(atlasqueue_memory: MemoryQueue) -> None:
    atlasqueue_memory.attach(app)

    @app.job("late")
    def late() -> str:
        with pytest.raises(TimeoutError, match="the signal 'go' did not come in time"):
            sync_context.wait_for("go", timeout=60)
        return app.sync_client.signal(sync_context.job.id, "go")

    handle = late.submit_sync()
    atlasqueue_memory.drain(until_finished=True)
    del app.jobs["late"]
    assert handle.result() == "too_late"


def test_what_it_refuses(atlasqueue_memory: MemoryQueue) -> None:
    atlasqueue_memory.attach(app)
    client = app.sync_client.with_options(retries=0)
    handle = client.submit("add", {"a": 1})
    assert client.cancel(handle.id).status == "cancelled"
    with pytest.raises(JobFinishedError):
        client.cancel(handle.id)
    assert client.retry(handle.id).status == "queued"
    with pytest.raises(AtlasQueueError, match="is queued"):
        client.retry(handle.id)
    with pytest.raises(NotFoundError):
        client.get("nothing")
    with pytest.raises(AtlasQueueError, match="use atlasqueue_server"):
        client.schedules.get("nightly")
    client.submit("unknown")
    with pytest.raises(RuntimeError, match="no attached app has a job of type 'unknown'"):
        atlasqueue_memory.drain()


def test_jobs_that_never_end_are_found(atlasqueue_memory: MemoryQueue) -> None:
    atlasqueue_memory.attach(app)
    if "endless" not in app.jobs:

        @app.job("endless")
        async def endless() -> None:
            context.spawn(Submission("endless"))

    app.sync_client.submit("endless")
    with pytest.raises(RuntimeError, match="there are still jobs after 10 runs"):
        atlasqueue_memory.drain(max_runs=10)
    del app.jobs["endless"]


def test_the_fixtures_are_there_without_a_conftest(pytester: pytest.Pytester) -> None:
    test = "def test_it(atlasqueue_memory):\n    assert atlasqueue_memory.submitted() == []\n"
    (pytester.path / "test_it.py").write_text(test)
    pytester.runpytest("-p", "atlasqueue.testing.plugin", "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_server_that_does_not_start_shows_what_it_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATLASQUEUE_TEST_URL", raising=False)
    script = tmp_path / "server.py"
    script.write_text("print('the port is taken'); raise SystemExit(1)")
    with pytest.raises(RuntimeError, match="the port is taken"):
        start_server(f"{sys.executable} {script}")
    monkeypatch.setenv("ATLASQUEUE_TEST_URL", "http://127.0.0.1:1")
    assert start_server().url == "http://127.0.0.1:1" and os.environ["ATLASQUEUE_TEST_URL"]
