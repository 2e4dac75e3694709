"""The queue in memory answers as the real API does: one story, told to both."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from atlasqueue import App, AtlasQueueError, Backoff, Client, Handle, Submission, Unique, sync_context
from atlasqueue.testing import MemoryQueue


def app_of(queue: str) -> App:
    app = App()

    @app.job("works", queue=queue)
    def works(n: int = 0) -> dict[str, Any]:
        return {ref: one["status"] for ref, one in sorted(sync_context.parents().items()) if "-" not in ref}

    @app.job("fails", queue=queue, max_attempts=2, backoff=Backoff.fixed(0))
    def fails() -> None:
        raise ValueError("no")

    @app.job("adds", queue=queue)
    def adds() -> None:
        sync_context.spawn(works.submission(n=1), works.submission(n=2), dependants_wait=True)

    return app


def said(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except AtlasQueueError as error:
        return [type(error).__name__, error.status]


def submissions(app: App, queue: str) -> list[Any]:
    client, known = app.sync_client, list[str]()

    def told(handle: Handle[Any]) -> Any:
        if handle.id not in known:
            known.append(handle.id)
        job = handle.get()
        return [known.index(handle.id), handle.created, job.status, job.payload]

    def submit(n: int, **options: Any) -> Any:
        return said(lambda: told(client.submit("works", {"n": n}, queue=queue, **options)))

    def batch(*jobs: Submission) -> Any:
        return said(lambda: [told(handle) for handle in client.submit_many(jobs)])

    def job(n: int, key: str, **options: Any) -> Submission:
        return Submission("works", {"n": n}, queue=queue, idempotency_key=key + queue, **options)

    story = [
        submit(1, idempotency_key="once" + queue),
        submit(1, idempotency_key="once" + queue),
        submit(2, idempotency_key="once" + queue),
        batch(job(1, "once"), job(3, "three")),
        batch(job(4, "four"), job(2, "once")),
        submit(4, idempotency_key="four" + queue),
        submit(5, unique=Unique("u")),
        submit(6, unique=Unique("u")),
        submit(6, unique=Unique("u", on_conflict="reject")),
        submit(7, unique=Unique("u", on_conflict="replace")),
        submit(7, unique=Unique("u", on_conflict="replace"), group="g"),
        submit(8, unique=Unique("w", window_seconds=60)),
        submit(9, unique=Unique()),
        submit(9, unique=Unique()),
        submit(10, unique=Unique()),
        batch(job(11, "new"), job(12, "taken", unique=Unique("u", on_conflict="reject"))),
        submit(11, idempotency_key="new" + queue),
        submit(13, group="g"),
        submit(14, group="g"),
        submit(15, unique=Unique("u", on_conflict="no")),
        submit(16, depends_on=["00000000-0000-7000-8000-000000000000"]),
    ]
    client.cancel(client.submit("works", queue=queue, unique=Unique("u")).id)
    client.cancel(client.submit("works", queue=queue, unique=Unique("w", window_seconds=60)).id)
    return [*story, submit(17, unique=Unique("u")), submit(18, unique=Unique("w", window_seconds=60))]


def flow_faults(client: Client, queue: str) -> Any:
    flow = client.flow()
    flow.add(Submission("works", queue=queue), ref="a", depends_on=["b"])
    flow.add(Submission("works", queue=queue), ref="b", depends_on=["a"])
    return said(flow.submit)


def flows(app: App, queue: str) -> list[Any]:
    client = app.sync_client

    def flow(n: int = 0, key: str | None = None) -> Any:
        made = client.flow()
        made.add(app.jobs["adds"].submission(), ref="adds")
        made.add(app.jobs["fails"].submission(), ref="fails")
        for policy in ("cancel", "wait", "run"):
            made.add(app.jobs["works"].submission(n), ref=policy, depends_on=["fails"], on_parent_failure=policy)
        made.add(app.jobs["works"].submission(), ref="after", depends_on=["adds", "cancel"], on_parent_failure="run")
        made.after_all(app.jobs["works"].submission())
        return made.submit(idempotency_key=key)

    once = flow(key=f"flow{queue}")
    again = flow(key=f"flow{queue}")
    assert [one.id for one in once.handles] == [one.id for one in again.handles] and once.last.id == again.last.id
    other = said(lambda: flow(n=1, key=f"flow{queue}"))
    return [once.created, again.created, once.id == again.id, other, flow_faults(client, queue), once]


def ended(stored: Any) -> list[Any]:
    jobs = [handle.get() for handle in [*stored.handles, stored.last]]
    errors = [job.last_error and job.last_error.partition(":")[0] for job in jobs]
    return [[job.status, job.attempts, error, job.result] for job, error in zip(jobs, errors)]


@pytest.fixture
def both(atlasqueue_server: str, atlasqueue_memory: MemoryQueue) -> tuple[App, App, str]:
    """The same app over the queue in memory, and over a real server."""
    queue = f"same-{uuid4()}"
    memory, real = app_of(queue), app_of(queue)
    atlasqueue_memory.attach(memory)
    real.use_url(atlasqueue_server)
    return memory, real, queue


def test_submissions_have_the_same_responses(both: tuple[App, App, str]) -> None:
    memory, real, queue = both
    assert submissions(memory, queue) == submissions(real, queue)


def test_flows_have_the_same_responses_and_end_the_same_way(
    both: tuple[App, App, str], atlasqueue_memory: MemoryQueue
) -> None:
    memory, real, queue = both
    (*expected, wanted), (*answers, stored) = flows(real, queue), flows(memory, queue)
    assert answers == expected
    worker = real.worker(lease_seconds=6)
    working = threading.Thread(target=worker.run, daemon=True)
    working.start()
    waiting = wanted.handles.pop(3)
    assert [handle.wait(20).is_final for handle in wanted.handles] == [True] * 5
    assert (waiting.get().status, wanted.last.get().status) == ("blocked", "blocked")
    real.sync_client.cancel(waiting.id)
    wanted.last.wait(20)
    worker.stop()
    working.join(30)
    atlasqueue_memory.drain()
    memory.sync_client.cancel(stored.handles.pop(3).id)
    atlasqueue_memory.drain()
    assert ended(stored) == ended(wanted)
