"""For the tests of your jobs: a queue in memory, and the real server. pytest has both as fixtures, see `plugin`."""

from .memory import MemoryQueue
from .server import Server, start_server

__all__ = ["MemoryQueue", "Server", "start_server"]
