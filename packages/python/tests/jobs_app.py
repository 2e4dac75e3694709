"""The app of the worker's tests; also run by atlasqueue-worker in a process of its own."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from atlasqueue import App, Backoff, DoNotRetry, RetryAfter, Submission, context, sync_context

app = App()
QUEUE = os.environ.get("TEST_QUEUE", "python")
at_once = Backoff.fixed(0)


@dataclass
class Order:
    id: int
    at: datetime
    lines: list[str]


@app.job("add", queue=QUEUE)
async def add(a: int, b: int = 1) -> int:
    return a + b


@app.job("multiply", queue=QUEUE)
def multiply(a: int, b: int) -> int:
    return a * b


@app.job("ship", queue=QUEUE)
async def ship(order: Order) -> Order:
    return Order(order.id + 1, order.at, [*order.lines, "shipped"])


@app.job("fails", queue=QUEUE, max_attempts=2, backoff=at_once)
def fails() -> None:
    try:
        raise KeyError("cause")
    except KeyError as error:
        raise ValueError("no") from error


@app.job("never", queue=QUEUE)
async def never() -> None:
    raise DoNotRetry("it cannot work")


@app.job("again", queue=QUEUE)
async def again() -> int:
    if context.job.attempts < 3:
        raise RetryAfter(0, "not yet")
    return context.job.attempts


@app.job("slow", queue=QUEUE, timeout=1, max_attempts=1)
async def slow() -> None:
    await asyncio.sleep(60)


@app.job("blocks", queue=QUEUE)
async def blocks(seconds: float) -> str:
    """Keeps the loop of all coroutines busy, as bad code does."""
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        pass
    return "done"


@app.job("sleeps", queue=QUEUE)
async def sleeps(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "slept"


@app.job("until_cancelled", queue=QUEUE)
def until_cancelled() -> str:
    while not sync_context.cancelled:
        time.sleep(0.02)
    return "cancelled"


@app.job("steps", queue=QUEUE, backoff=at_once)
async def steps() -> list[Any]:
    async def charge() -> float:
        return time.time()

    paid = await context.step("charge", charge)
    signal = await context.wait_for("go", timeout=60)
    context.progress({"signal": signal})
    if context.job.attempts < 2:
        raise RuntimeError("once more")
    context.spawn(Submission("add", {"a": 40, "b": 2}, queue=QUEUE))
    return [paid, signal, await context.step("charge again", charge) >= paid]


@app.job("sync_steps", queue=QUEUE)
def sync_steps() -> list[Any]:
    first = sync_context.step("one", lambda: 1)
    try:
        sync_context.wait_for("never", timeout=1)
    except TimeoutError:
        return [first, "timed out", sorted(sync_context.parents())]
    raise AssertionError


@app.job("submits", queue=QUEUE)
def submits(times: int) -> int:
    if times > 0:
        submits.submit_sync(times - 1)
    return times


@app.job("unstorable", queue=QUEUE, max_attempts=1)
async def unstorable() -> object:
    return {"not": object()}


@app.job("huge", queue=QUEUE, max_attempts=1)
async def huge() -> str:
    return "x" * 300_000


@app.job("spawns_badly", queue=QUEUE, max_attempts=1)
async def spawns_badly() -> None:
    context.spawn(Submission("", {}))


@app.job("bad_progress", queue=QUEUE)
async def bad_progress() -> str:
    context.progress("x" * 20_000)
    await asyncio.sleep(1.5)
    return "fine"
