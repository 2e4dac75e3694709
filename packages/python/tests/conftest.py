from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

pytest_plugins = ["atlasqueue.testing.plugin", "pytester"]


@dataclass
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class FakeServer:
    """Gives answers in turn, and repeats the last one. See the system tests' conformance/cases.json for their form."""

    answers: list[Any]
    requests: list[Received] = field(default_factory=list[Received])
    url: str = ""


@pytest.fixture
def fake_server() -> Iterator[Callable[[list[Any]], FakeServer]]:
    servers: list[ThreadingHTTPServer] = []
    over = threading.Event()

    def start(answers: list[Any]) -> FakeServer:
        fake = FakeServer(answers)
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                with lock:
                    said = fake.answers[min(len(fake.requests), len(fake.answers) - 1)]
                    fake.requests.append(Received(self.command, self.path, headers, body))
                if said in ("hang_up", "silence"):
                    if said == "silence":
                        over.wait(10)
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                import json

                text = said["text"] if "text" in said else json.dumps(said["body"])
                self.send_response(said["status"])
                for name, value in {"content-type": "application/json", **said.get("headers", {})}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        fake.url = f"http://127.0.0.1:{server.server_port}"
        return fake

    yield start
    over.set()
    for server in servers:
        server.shutdown()
        server.server_close()


def eventually(check: Callable[[], Any], seconds: float = 30) -> Any:
    """What `check` returns once it is true; raises what it raised last."""
    ends_at = time.monotonic() + seconds
    while True:
        try:
            if found := check():
                return found
            assert found
        except AssertionError:
            if time.monotonic() > ends_at:
                raise
        time.sleep(0.02)
