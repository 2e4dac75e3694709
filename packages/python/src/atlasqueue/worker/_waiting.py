"""Waiting for one thing or another, under asyncio."""

from __future__ import annotations

import asyncio
from typing import Any, Coroutine, TypeVar

T = TypeVar("T")


class Interrupted(Exception):
    """What was awaited was given up, as an event came first."""


async def first(work: Coroutine[Any, Any, T], *events: asyncio.Event) -> T:
    """The result of some work, or Interrupted if one of the events is set before that; the work is cancelled then."""
    doing = asyncio.ensure_future(work)
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait([doing, *waits], return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise Interrupted
        return doing.result()
    finally:
        for one in (doing, *waits):
            one.cancel()
        await asyncio.gather(doing, *waits, return_exceptions=True)


async def pause(seconds: float | None, *events: asyncio.Event) -> None:
    """Until the time is over, or one of the events is set."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        if waits:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(seconds or 0)
    finally:
        for one in waits:
            one.cancel()
