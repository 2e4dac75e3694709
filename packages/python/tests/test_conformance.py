"""What each client of the API must do, from the table that the TypeScript client passes too."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

import atlasqueue
from atlasqueue import (
    AsyncClient,
    AtlasQueueError,
    Client,
    HttpClientTransport,
    HttpxTransport,
    Job,
    LeasedJob,
    Submission,
    Transport,
)

TABLE = Path(__file__).parents[2] / "system-tests" / "client" / "conformance" / "cases.json"
CASES: list[dict[str, Any]] = json.loads(TABLE.read_text())["cases"]
PAYLOAD_FIELDS = {"delay_seconds": "delay", "timeout_seconds": "timeout"}


def submission(given: dict[str, Any]) -> Submission:
    return Submission(**{PAYLOAD_FIELDS.get(name, name): value for name, value in given.items()})


def held(given: dict[str, Any]) -> LeasedJob:
    return LeasedJob(Job(id=given["id"], status="running"), given["lease_token"], 0.0)


def fields(found: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(found, name) for name in names}


async def call(client: AsyncClient, name: str, given: Any, wait_seconds: float) -> Any:
    if name == "wait":
        return fields(await client.wait(given, wait_seconds), "id", "status")
    if name == "result":
        return await client.handle(given).result(wait_seconds)
    if name == "submit":
        return fields(await client.submit(submission(given)), "id", "created")
    if name == "submit_many":
        return [fields(one, "id", "created") for one in await client.submit_many([submission(one) for one in given])]
    if name in ("get", "cancel", "retry"):
        return fields(await getattr(client, name)(given), "id", "status")
    if name == "retry_with_key":
        return fields(await client.retry(given["id"], idempotency_key=given["key"]), "id", "status")
    if name == "lease":
        return [{"id": one.job.id, "lease_token": one.lease_token} for one in await client.lease(**given)]
    if name == "ack":
        return fields(await client.ack(held(given), given["result"]), "id", "status")
    if name == "nack":
        return fields(await client.nack(held(given), given["error"], retry=given["retry"]), "id", "status")
    if name == "heartbeat":
        return await client.heartbeat(held(given), progress=given["progress"])
    if name == "release":
        return fields(await client.release(held(given)), "id", "status")
    if name == "release_lease":
        return await client.release_lease(given)
    if name == "pause":
        return fields(await client.queues.pause(given), "queue", "paused")
    if name == "replay":
        return fields(await client.dead_letters.replay(**given), "matched", "changed")
    if name == "signal":
        return await client.signal(given["id"], given["name"], given["payload"])
    if name == "put_schedule":
        job = submission(given["job"])
        return fields(await client.schedules.put(given["name"], cron=given["cron"], job=job), "name", "cron")
    if name == "run_schedule":
        return await client.schedules.run(given)
    if name == "create_token":
        return await client.tokens.create(given["name"], given["scopes"])
    if name == "list":
        return [job.id async for job in client.list(**given)]
    raise AssertionError(f"no call {name}")


class Blocking:
    """A client without asyncio, for the same calls."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if not callable(found):
            return Blocking(found)

        def blocking(*args: Any, **kwargs: Any) -> Any:
            made = found(*args, **kwargs)
            return _each(made) if name == "list" else Blocking(made) if name == "handle" else _now(made)

        return blocking


async def _now(made: Any) -> Any:
    return made


async def _each(made: Any) -> Any:
    for one in made:
        yield one


def client_of(kind: str, url: str, **options: Any) -> Any:
    if kind == "asyncio":
        return AsyncClient(url, **options)
    transport: Transport = HttpxTransport()
    if kind == "http.client":
        transport = HttpClientTransport()
    return Blocking(Client(url, transport=transport, **options))


def name_of(case: Any) -> str:
    return str(case["name"])


@pytest.mark.parametrize("kind", ["asyncio", "httpx", "http.client"])
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_conformance(case: dict[str, Any], kind: str, fake_server: Any) -> None:
    server = fake_server(case["answers"])
    options = case.get("options", {})
    timeout, retries = options.get("timeout_seconds", 10), options.get("retries", 5)
    client = client_of(kind, server.url, timeout=timeout, retries=retries)
    ((name, given),) = case["call"].items()
    if "error" in case:
        with pytest.raises(AtlasQueueError) as raised:
            asyncio.run(call(client, name, given, options.get("wait_seconds", 60)))
        expect_error(raised.value, **case["error"])
    else:
        assert asyncio.run(call(client, name, given, options.get("wait_seconds", 60))) == case["result"]
    expect_requests(server.requests, case["requests"])


def expect_error(error: AtlasQueueError, kind: str, **facts: Any) -> None:
    if kind != "any":
        assert type(error) is getattr(atlasqueue, {"Timeout": "DeadlineError"}.get(kind, f"{kind}Error"))
    for name, value in facts.items():
        found = error.retry_after if name == "retry_after_seconds" else getattr(error, name)
        assert found == value, name


def expect_requests(received: list[Any], expected: list[dict[str, Any]]) -> None:
    assert [(one.method, sorted_path(one.path)) for one in received] == [
        (one["method"], sorted_path(one["path"])) for one in expected
    ]
    for at, (one, wanted) in enumerate(zip(received, expected)):
        if "body" in wanted:
            assert json.loads(one.body) == wanted["body"]
        if "key" in wanted:
            assert re.search(wanted["key"], one.headers["idempotency-key"])
        if at > 0 and (received[at - 1].method, received[at - 1].path) == (one.method, one.path):
            assert one.body == received[at - 1].body
            assert one.headers.get("idempotency-key") == received[at - 1].headers.get("idempotency-key")


def sorted_path(path: str) -> tuple[str, list[tuple[str, str]]]:
    parts = urlsplit(path)
    return parts.path, sorted(parse_qsl(parts.query))
