"""The fixtures. pytest finds them by itself once the package is installed."""

from __future__ import annotations

from typing import Iterator

import pytest

from .memory import MemoryQueue
from .server import start_server


@pytest.fixture
def atlasqueue_memory() -> Iterator[MemoryQueue]:
    """A queue in memory: `atlasqueue_memory.attach(app)`, then `submitted`, `drain` and `run_inline`."""
    queue = MemoryQueue()
    yield queue
    queue.detach()


@pytest.fixture(scope="session")
def atlasqueue_server() -> Iterator[str]:
    """The URL of a real server, started once for the session: see `start_server`."""
    server = start_server()
    yield server.url
    server.stop()
