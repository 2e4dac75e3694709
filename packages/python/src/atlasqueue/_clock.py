"""Sleeping. asyncio is loaded where it is used, as importing it takes a fifth of the time of all the rest."""

from __future__ import annotations

from time import sleep

__all__ = ["async_sleep", "sleep"]


async def async_sleep(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)
