"""The calls against the real API, with and without asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

import pytest

from atlasqueue import (
    AsyncClient,
    Backoff,
    Client,
    ConflictError,
    DeadlineError,
    HttpClientTransport,
    IdempotencyMismatchError,
    JobCancelledError,
    JobFailedError,
    LeaseLostError,
    NotFoundError,
    Submission,
    TooLargeError,
    Unique,
    ValidationError,
)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 60))


def new_queue() -> str:
    return f"q-{uuid4().hex[:12]}"


@dataclass
class Mail:
    to: str
    at: datetime


def test_submit_work_and_read(atlasqueue_server: str) -> None:
    async def story() -> None:
        async with AsyncClient(atlasqueue_server) as client:
            queue = new_queue()
            mail = Mail("ada@example.org", datetime(2030, 1, 1, tzinfo=timezone.utc))
            handle = await client.submit(
                "mail", mail, queue=queue, priority=3, max_attempts=2, timeout=timedelta(seconds=30), expires_in=60, tags=["a"]
            )
            assert handle.created and handle.job is not None and handle.job.created_at is not None
            assert handle.job.tags == ["a"]
            assert [job.id async for job in client.list(queue=queue, tag="a")] == [handle.id]
            assert handle.job.expires_at == handle.job.created_at + timedelta(seconds=60)
            assert (await client.submit("other", queue=new_queue())).created
            assert (await client.explain(handle.id)).status == "queued"
            (leased,) = await client.lease(queue, worker_id="w", wait_seconds=5, lease_seconds=30)
            assert leased.job.payload == {"to": "ada@example.org", "at": "2030-01-01T00:00:00+00:00"}
            await client.heartbeat(leased, progress={"at": 1})
            assert (await client.get(handle.id)).progress == {"at": 1}
            assert await client.store_step(leased, "one", None) is None
            assert await client.store_step(leased, "two", [1]) == [1]
            assert await client.steps(handle.id) == {"one": None, "two": [1]}
            waiting = asyncio.create_task(handle.result(20))
            await client.ack(leased, {"sent": True})
            assert await waiting == {"sent": True}
            assert [attempt.outcome for attempt in await client.attempts(handle.id)] == ["succeeded"]
            assert [
                job.id
                async for job in client.list(queue=queue, created_after=datetime(2020, 1, 1, tzinfo=timezone.utc))
            ] == [handle.id]
            with pytest.raises(LeaseLostError):
                await client.nack(leased, "late")
            await client.delete(handle.id)
            with pytest.raises(NotFoundError):
                await client.get(handle.id)

    run(story())


def test_failures_and_dead_letters(atlasqueue_server: str) -> None:
    client = Client(atlasqueue_server, transport=HttpClientTransport())
    queue = new_queue()
    handle = client.submit("fails", {"n": 1}, queue=queue, max_attempts=2, backoff=Backoff.fixed(0))
    (leased,) = client.lease(queue, worker_id="w")
    # Due at once, so it may be queued again before the answer is made.
    assert client.nack(leased, ValueError("no"), delay_seconds=0).status in ("failed", "queued")
    (leased,) = client.lease(queue, worker_id="w", wait_seconds=5)
    error = RuntimeError("no")
    error.data = {"sku": "tea"}  # type: ignore[attr-defined]
    assert client.nack(leased, error).status == "dead"
    with pytest.raises(JobFailedError) as raised:
        handle.result(5)
    assert (raised.value.error_type, raised.value.error_message, raised.value.data) == (
        "RuntimeError",
        "no",
        {"sku": "tea"},
    )
    assert [job.id for job in client.dead_letters.list(queue=queue)] == [handle.id]
    assert client.dead_letters.groups(type="fails").items[0].count >= 1
    assert client.dead_letters.replay(queue=queue, dry_run=True).matched == 1
    assert client.dead_letters.replay(ids=[handle.id], idempotency_key=uuid4().hex).changed == 1
    assert handle.get().status == "queued"
    assert client.cancel(handle.id).status == "cancelled"
    with pytest.raises(JobCancelledError):
        handle.result(5)
    assert client.retry(handle.id).status == "queued"
    client.cancel(handle.id)
    assert client.edit_and_retry(handle.id, patch={"n": 2}).payload == {"n": 2}
    (leased,) = client.lease(queue, worker_id="w")
    client.release(leased)
    (leased,) = client.lease(queue, worker_id="w")
    client.nack(leased, "never", retry=False)
    assert client.dead_letters.purge(queue=queue).changed == 1
    client.close()


def test_submissions(atlasqueue_server: str) -> None:
    async def story() -> None:
        async with AsyncClient(atlasqueue_server) as client:
            queue = new_queue()
            key = uuid4().hex
            first = await client.submit("a", {"n": 1}, queue=queue, idempotency_key=key)
            assert not (await client.submit(Submission("a", {"n": 1}, queue=queue, idempotency_key=key))).created
            with pytest.raises(IdempotencyMismatchError):
                await client.submit("a", {"n": 2}, queue=queue, idempotency_key=key)
            with pytest.raises(ValidationError) as invalid:
                await client.submit("a", queue=queue, max_attempts=99)
            assert invalid.value.errors[0]["pointer"] == "/max_attempts"
            with pytest.raises((TooLargeError, ValidationError)):
                await client.submit("a", {"text": "x" * 300_000}, queue=queue)
            many = await client.submit_many(Submission("a", {"n": n}, queue=queue) for n in range(1_200))
            assert len({handle.id for handle in many}) == 1_200
            rows = (Submission("a" if n != 3 else "", {"n": n}, queue=queue) for n in range(700))
            streamed = [row async for row in client.submit_stream(rows)]
            assert [row.index for row in streamed] == list(range(700))
            assert [row.index for row in streamed if row.error is not None] == [3]
            unique = Unique(key=uuid4().hex, window_seconds=60)
            one = await client.submit(
                "a", queue=queue, unique=unique, run_at=datetime.now(timezone.utc) + timedelta(hours=1)
            )
            assert (
                await client.submit(
                    "a", queue=queue, unique=unique, run_at=datetime.now(timezone.utc) + timedelta(hours=1)
                )
            ).id == one.id
            with pytest.raises(DeadlineError):
                await first.wait(0.3)
            assert sum([1 async for _ in client.list(queue=queue, limit=60)]) == 60
            assert client.handle(first.id).id in repr(client.handle(first.id))

    run(story())


def test_flows_and_signals(atlasqueue_server: str) -> None:
    client = Client(atlasqueue_server)
    queue = new_queue()
    flow = client.flow()
    rows = flow.add(Submission("rows", queue=queue), ref="rows")
    flow.add(Submission("report", queue=queue), depends_on=[rows], on_parent_failure="wait")
    flow.after_all(Submission("done", queue=queue))
    with pytest.raises(ValueError, match="ref"):
        flow.add(Submission("rows", queue=queue), ref="rows")
    stored = flow.submit()
    assert stored.id is not None and stored.last is not None and stored.created
    (leased,) = client.lease(queue, worker_id="w", max_jobs=5)
    assert client.signal(leased.job.id, "go", {"by": "ada"}) == "sent"
    assert client.signal(leased.job.id, "go", {"by": "bob"}) == "sent_before"
    parked = client.park(leased, "go", 60)
    assert (parked.outcome, parked.payload) == ("signalled", {"by": "ada"})
    client.ack(leased, [1, 2], children=[{"type": "child", "queue": queue}])
    (report,) = client.lease(queue, worker_id="w", types=["report"], wait_seconds=5)
    assert report.parents["rows"]["result"] == [1, 2]
    assert client.parents(report.job.id).items[0]["ref"] == "rows"
    assert client.flows.get(stored.id).state == "running"
    assert stored.id in [one.id for one in client.flows.list(limit=5)]
    assert client.flows.cancel(stored.id) >= 1
    assert client.flows.retry(stored.id) >= 1
    assert len(client.results([])) == 0


def test_operations(atlasqueue_server: str) -> None:
    client = Client(atlasqueue_server)
    queue, name = new_queue(), f"s-{uuid4().hex[:8]}"
    client.submit("a", queue=queue)
    assert client.queues.pause(queue).paused and not client.queues.resume(queue).paused
    limited = client.queues.set_limits(queue, concurrency=2, rate=(10, 1.0))
    assert limited.limits["concurrency"] == 2 and limited.limits["group_concurrency"] is None
    named = client.queues.set_defaults(queue, max_attempts=3, backoff=Backoff.fixed(2), retention=timedelta(days=1))
    assert named.defaults["max_attempts"] == 3 and named.defaults["backoff"] == {"kind": "fixed", "base_seconds": 2}
    kept = client.submit("b", queue=queue, result_ttl=60).job
    assert kept and (kept.max_attempts, kept.retention_seconds, kept.result_ttl_seconds) == (3, 86_400, 60)
    assert client.queues.set_defaults(queue).defaults["max_attempts"] is None
    assert client.queues.get(queue).counts["queued"] == 2
    assert queue in [one.queue for one in client.queues.list()]
    job = Submission("nightly", {"n": 1}, queue=queue)
    assert client.schedules.put(name, cron="0 3 * * *", job=job, timezone="Europe/Berlin").next_runs
    with pytest.raises(ConflictError):
        client.schedules.create(name, cron="0 3 * * *", job=job)
    assert client.schedules.pause(name).paused and not client.schedules.resume(name).paused
    assert client.schedules.run(name).type == "nightly"
    assert client.schedules.get(name).catch_up == "one"
    assert name in [one.name for one in client.schedules.list()]
    client.schedules.delete(name)
    assert isinstance(client.workers(), list)


def test_a_lease_that_gets_no_response_is_released(atlasqueue_server: str, fake_server: Any) -> None:
    server = fake_server(["silence", {"status": 200, "body": {"released": 0}}])
    client = Client(server.url, retries=0, timeout=0.2)
    with pytest.raises(DeadlineError):
        client.lease("q", worker_id="w")
    assert server.requests[1].path == "/v1/leases/release"


def test_tokens(fake_server: Any) -> None:
    shown: dict[str, Any] = {
        "id": "1",
        "name": "ci",
        "hint": "aq_1",
        "scopes": ["submit"],
        "created_at": "2030-01-01T00:00:00.000Z",
    }
    answers = [{"status": 201, "body": {**shown, "token": "aq_secret"}}] * 2
    server = fake_server([*answers, {"status": 200, "body": {"items": [shown]}}, {"status": 204, "text": ""}])
    client = Client(server.url, token="aq_mine")
    token = client.tokens.create("ci", ["submit"], expires_in_seconds=3_600)
    assert token.token == "aq_secret" and "aq_secret" not in repr(token)
    assert client.tokens.rotate(token.id, overlap_seconds=0).token == "aq_secret"
    assert [one.name for one in client.tokens.list()] == ["ci"]
    client.tokens.revoke(token.id)
    assert server.requests[0].headers["authorization"] == "Bearer aq_mine"
