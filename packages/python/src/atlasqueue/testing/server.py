"""The real server for tests."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from dataclasses import dataclass

_START_SECONDS_MAX = 120.0
_STOP_SECONDS_MAX = 30.0
# What leads to servers of the developer.
_OTHERS = {
    "DATABASE_URL",
    "DATABASE_URL_FILE",
    "DATABASE_TLS_CA_FILE",
    "REDIS_URL",
    "REDIS_URL_FILE",
    "REDIS_TLS_CA_FILE",
    "REDIS_TLS_CERT_FILE",
    "REDIS_TLS_KEY_FILE",
    "REDIS_TLS_SERVERNAME",
}


@dataclass
class Server:
    url: str
    process: subprocess.Popen[bytes] | None
    folder: tempfile.TemporaryDirectory[str] | None

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(_STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.folder is not None:
            self.folder.cleanup()


def start_server(command: str | None = None) -> Server:
    """Runs the server until `stop`, on a free port and with data of its own.

    `command` is by default that of ATLASQUEUE_SERVER_COMMAND, or `npx -y atlasqueue start`. With ATLASQUEUE_TEST_URL
    nothing is started: the server there is used. Raises RuntimeError if it is not up within 120 s.
    """
    if url := os.environ.get("ATLASQUEUE_TEST_URL"):
        return Server(url, None, None)
    folder = tempfile.TemporaryDirectory(prefix="atlasqueue-test-")
    port = _free_port()
    command = command or os.environ.get("ATLASQUEUE_SERVER_COMMAND")
    words = shlex.split(command or "npx -y atlasqueue start")
    # By itself it must not use the database of the developer.
    given = {name: value for name, value in os.environ.items() if command or name not in _OTHERS}
    own = {
        "API_PORT": str(port),
        "WORKER_METRICS_PORT": str(_free_port()),
        "DATA_DIR": os.path.join(folder.name, "data"),
        "AUTH": "disabled",
        # Its own worker would fail the types of the tests, which it does not know.
        "WORKER_QUEUES": "unused-by-tests",
    }
    output_path = os.path.join(folder.name, "output")
    with open(output_path, "wb") as output:
        process = subprocess.Popen(words, env={**given, **own}, stdout=output, stderr=subprocess.STDOUT)
    server = Server(f"http://127.0.0.1:{port}", process, folder)
    ends_at = time.monotonic() + _START_SECONDS_MAX
    while not _is_up(server.url):
        if process.poll() is not None or time.monotonic() > ends_at:
            with open(output_path, errors="replace") as output_text:
                said = output_text.read()[-2_000:]
            process.kill()
            process.wait()
            folder.cleanup()
            raise RuntimeError(f"the server did not start ({shlex.join(words)}):\n{said}")
        time.sleep(0.1)
    return server


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _is_up(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False
