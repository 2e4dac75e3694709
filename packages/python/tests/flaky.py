"""Transports that fail as networks do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

from atlasqueue import AsyncHttpxTransport, HttpRequest, HttpResponse, TransportError

#: Of a request: what becomes of it, or None.
Fate = Callable[[HttpRequest], Any]


def ends_with(end: str, *fates: Any) -> Fate:
    """The fates of the first requests whose path ends so."""
    left = list(fates)

    def fate(request: HttpRequest) -> Any:
        return left.pop(0) if left and request.url.partition("?")[0].endswith(end) else None

    return fate


class Flaky:
    """`unsent`, `lost` (the server has done it), `late`, or a status with a problem's type or none."""

    def __init__(self, fate: Fate, late: float = 2.0) -> None:
        self.fate = fate
        self.late = late
        self.met: list[tuple[str, Any]] = []
        self._inner = AsyncHttpxTransport()

    async def send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        fate = self.fate(request)
        if fate is None:
            return await self._inner.send(request, timeout)
        self.met.append((request.url, fate))
        if fate == "unsent":
            raise TransportError("cut", refused=True)
        if isinstance(fate, tuple):
            status, kind = cast("tuple[int, str | None]", fate)
            body = {"type": f"/problems/{kind}", "title": "No", "status": status, "detail": "because", "instance": "r"}
            return HttpResponse(status, {}, json.dumps(body if kind else {}).encode())
        response = await self._inner.send(request, timeout)
        if fate == "late":
            if timeout <= self.late:
                await asyncio.sleep(timeout)
                raise TimeoutError
            await asyncio.sleep(self.late)
            return response
        raise TransportError("cut", refused=False)

    async def aclose(self) -> None:
        await self._inner.aclose()
