"""Workers as processes: what kill -9, SIGTERM and SIGSTOP do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from conftest import eventually

from atlasqueue import Client

TESTS = Path(__file__).parent


class Process:
    def __init__(self, url: str, queue: str, tmp_path: Path, stop_seconds: float) -> None:
        self.log = tmp_path / f"{uuid4().hex}.log"
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)]),
            "TEST_QUEUE": queue,
        }
        options = [
            "--lease-seconds",
            "3",
            "--stop-seconds",
            str(stop_seconds),
            "--log-format",
            "json",
            "--log-level",
            "debug",
        ]
        command = [sys.executable, "-m", "atlasqueue.cli", "jobs_app:app", "--url", url, *options]
        with self.log.open("wb") as output:
            self.child = subprocess.Popen(command, env=env, stdout=output, stderr=output)

    def events(self) -> list[dict[str, Any]]:
        lines = [line for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [json.loads(line) for line in lines]

    def said(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.events() if line.get("event") == event]

    def send(self, number: signal.Signals) -> None:
        self.child.send_signal(number)


Start = Callable[..., Process]


@pytest.fixture
def queue() -> str:
    return f"p-{uuid4().hex[:12]}"


@pytest.fixture
def start(atlasqueue_server: str, queue: str, tmp_path: Path) -> Iterator[Start]:
    processes: list[Process] = []

    def begin(stop_seconds: float = 25) -> Process:
        processes.append(Process(atlasqueue_server, queue, tmp_path, stop_seconds))
        return processes[-1]

    yield begin
    for process in processes:
        process.child.kill()
        process.child.wait()


@pytest.fixture
def client(atlasqueue_server: str) -> Client:
    return Client(atlasqueue_server)


def test_a_killed_worker_loses_its_lease_and_another_one_does_the_job(start: Start, client: Client, queue: str) -> None:
    first = start()
    handle = client.submit("sleeps", {"seconds": 1.0}, queue=queue)
    eventually(lambda: first.said("handler_start"))
    first.send(signal.SIGKILL)
    second = start()
    assert handle.result(40) == "slept"
    assert [attempt.outcome for attempt in client.attempts(handle.id)] == ["lost", "succeeded"]
    assert len(second.said("handler_start")) == 1


def test_a_terminated_worker_finishes_its_jobs_and_exits_with_0(start: Start, client: Client, queue: str) -> None:
    worker = start()
    handle = client.submit("sleeps", {"seconds": 1.0}, queue=queue)
    # Blocks the loop of all coroutines, but not the signal.
    blocking = client.submit("blocks", {"seconds": 1.0}, queue=queue)
    eventually(lambda: len(worker.said("handler_start")) == 2)
    worker.send(signal.SIGTERM)
    late = client.submit("sleeps", {"seconds": 0}, queue=queue)
    assert worker.child.wait(20) == 0
    assert (handle.get().status, blocking.get().status) == ("succeeded", "succeeded")
    assert late.get().status == "queued"
    assert worker.said("worker_end")


@pytest.mark.parametrize("signals", [1, 2])
def test_what_does_not_end_in_time_is_released(start: Start, client: Client, queue: str, signals: int) -> None:
    worker = start(stop_seconds=1 if signals == 1 else 60)
    handle = client.submit("sleeps", {"seconds": 60}, queue=queue)
    eventually(lambda: worker.said("handler_start"))
    for _ in range(signals):
        worker.send(signal.SIGTERM)
        # Two signals at once may be one.
        eventually(lambda: worker.child.poll() is None)
        if signals == 2:
            try:
                worker.child.wait(0.5)
            except subprocess.TimeoutExpired:
                pass
    assert worker.child.wait(20) == 0
    job = handle.get()
    assert (job.status, job.attempts) == ("queued", 0)


def test_a_frozen_worker_gives_up_what_another_one_has_now(start: Start, client: Client, queue: str) -> None:
    frozen = start()
    handle = client.submit("sleeps", {"seconds": 6.0}, queue=queue)
    eventually(lambda: frozen.said("handler_start"))
    frozen.send(signal.SIGSTOP)
    second = start()
    eventually(lambda: second.said("handler_start"), 40)
    frozen.send(signal.SIGCONT)
    eventually(lambda: frozen.said("lease_lost"))
    assert handle.result(40) == "slept"
    assert [attempt.outcome for attempt in client.attempts(handle.id)] == ["lost", "succeeded"]
    assert not frozen.said("job_settled")
    # It goes on working.
    another = client.submit("sleeps", {"seconds": 0}, queue=queue)
    assert another.result(20) == "slept"
