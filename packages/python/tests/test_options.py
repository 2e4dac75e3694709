"""What is refused before anything is sent, and what must not be shown."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from atlasqueue import Client, NetworkError, RetryAfter, Submission, UnavailableError, UnexpectedAnswerError
from atlasqueue._retry import backoff_seconds, parse_retry_after


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("localhost:8000", "url must be an http(s) URL, such as http://127.0.0.1:8000"),
        ("ftp://localhost", "url must be an http(s) URL"),
        ("http://me:secret@localhost", "url must be without a user and password"),
        ("http://localhost/?a=1", "url must be without a query"),
    ],
)
def test_a_malformed_url_is_refused(url: str, said: str) -> None:
    with pytest.raises(ValueError) as raised:
        Client(url)
    assert said in str(raised.value) and "secret" not in str(raised.value)


def test_options_out_of_range_are_named() -> None:
    with pytest.raises(ValueError, match="token must be printable ASCII without spaces"):
        Client(token="aq_ secret")
    with pytest.raises(ValueError, match="retries must be a number from 0; got -1"):
        Client(retries=-1)
    with pytest.raises(ValueError, match="delay must be a number of seconds"):
        RetryAfter(-1)
    with pytest.raises(ValueError, match="run_at must have a time zone"):
        Submission("a", run_at=datetime(2030, 1, 1)).to_wire()
    with pytest.raises(TypeError, match="payload must be a dict"):
        Submission("a", [1]).to_wire()
    with pytest.raises(ValueError, match="idempotency_key must be 1 to 512 printable ASCII"):
        Client().submit("a", idempotency_key="ключ")
    with pytest.raises(ValueError, match="not an id or a name"):
        Client().get("..")


def test_the_token_is_not_in_errors(fake_server: Any) -> None:
    problem = {"type": "/problems/x", "title": "No", "status": 503, "detail": "aq_secret", "instance": "r"}
    server = fake_server([{"status": 503, "body": problem}])
    with pytest.raises(UnavailableError) as raised:
        Client(server.url, token="aq_secret", retries=0).get("1")
    assert "aq_secret" not in str(raised.value) and "[token]" in str(raised.value)


def test_a_response_of_something_else_is_an_error_of_its_own(fake_server: Any) -> None:
    client = Client(fake_server([{"status": 200, "body": {"status": "up"}}]).url)
    with pytest.raises(UnexpectedAnswerError, match="the response has no 'jobs'"):
        client.lease("q", worker_id="w")
    with pytest.raises(UnexpectedAnswerError, match="the response is no Job"):
        client.get("1")
    with pytest.raises(UnexpectedAnswerError, match="the response has no 'items'"):
        list(client.list())


def test_a_refused_connection_is_known_to_have_done_nothing(fake_server: Any) -> None:
    with pytest.raises(NetworkError) as raised:
        Client("http://127.0.0.1:1", retries=0).get("1")
    assert raised.value.refused


def test_retry_after_is_seconds_or_a_date() -> None:
    assert parse_retry_after("1.5") == 1.5
    assert parse_retry_after("-5") is None
    assert parse_retry_after(None) is None
    assert parse_retry_after("Mon, 99 Foo 2030 00:00:00 GMT") is None
    assert (parse_retry_after("Tue, 01 Jan 2999 00:00:00 GMT") or 0) > 1e9
    assert backoff_seconds(100, 1.0) == 10.0


def test_the_import_loads_little_and_opens_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import atlasqueue; loaded = set(sys.modules) - before\n"
        "import threading, os; assert threading.active_count() == 1\n"
        "heavy = {'httpx', 'pydantic', 'opentelemetry', 'asyncio', 'http.client', 'atlasqueue.worker'}\n"
        "assert not heavy & loaded, heavy & loaded\n"
        "sockets = [fd for fd in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + fd)\n"
        "           and os.readlink('/proc/self/fd/' + fd).startswith('socket:')] if os.path.exists('/proc') else []\n"
        "assert not sockets, sockets\n"
        "print(sum(not name.startswith('atlasqueue') for name in loaded))"
    )
    # Without the modules that an installation's own start-up loads. A newer Python splits some of its modules.
    others = int(subprocess.check_output([sys.executable, "-c", code]))
    assert others < 120


def test_the_client_without_asyncio_is_written_from_the_other() -> None:
    script = Path(__file__).parents[1] / "scripts" / "unasync.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True)


def test_a_deadline_covers_a_response_that_trickles() -> None:
    import socket
    import threading

    from atlasqueue import DeadlineError, HttpClientTransport, HttpxTransport, Transport

    listener = socket.create_server(("127.0.0.1", 0))

    def trickle() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.recv(65_536)
            try:
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
                for _ in range(50):
                    connection.sendall(b" ")
                    time.sleep(0.05)
            except OSError:
                pass

    threading.Thread(target=trickle, daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    transports: list[Transport] = [HttpxTransport(), HttpClientTransport()]
    for transport in transports:
        began = time.monotonic()
        with pytest.raises(DeadlineError, match="no response within 0.3 s"):
            Client(url, transport=transport, timeout=0.3, retries=0).get("1")
        assert time.monotonic() - began < 1.5
    listener.close()


def test_the_version_is_that_of_all_packages() -> None:
    import json

    import atlasqueue

    manifest = json.loads((Path(__file__).parents[2] / "contract" / "package.json").read_text())
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert manifest["version"] == atlasqueue.__version__
    assert f'version = "{atlasqueue.__version__}"' in project
