"""Streams of jobs whose responses break off."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from atlasqueue import AsyncClient, Client, Streamed, Submission, TooLargeError, UnexpectedAnswerError, ValidationError

JOBS = [Submission("a", {"n": n}, idempotency_key=f"k-{n}") for n in range(3)]
COMPLETE = {"end": "complete", "answered": 3}


def taken(line: int, outcome: str = "created") -> dict[str, Any]:
    return {"line": line, "id": f"id-{line}", "status": "queued", "outcome": outcome}


def problem(status: int, kind: str) -> dict[str, Any]:
    return {"type": f"/problems/{kind}", "title": "No", "status": status, "detail": "because"}


def answer(*lines: Any, tail: str = "") -> dict[str, Any]:
    return {"status": 200, "text": "".join(json.dumps(line) + "\n" for line in lines) + tail}


def keys(body: bytes) -> list[str]:
    return [json.loads(line)["idempotency_key"] for line in body.splitlines()]


@pytest.fixture(params=["asyncio", "blocking"])
def stream(request: pytest.FixtureRequest) -> Any:
    async def collected(url: str) -> list[Streamed]:
        async def source() -> AsyncIterator[Submission]:
            for job in JOBS:
                yield job

        return [one async for one in AsyncClient(url, retries=2).submit_stream(source())]

    def stream(url: str) -> list[Streamed]:
        if request.param == "asyncio":
            return asyncio.run(collected(url))
        return list(Client(url, retries=2).submit_stream(JOBS))

    return stream


def test_what_has_no_answer_is_sent_again(stream: Any, fake_server: Any) -> None:
    server = fake_server(
        [
            answer(taken(1), {"line": 2, "error": problem(422, "validation")}, tail='{"line": 3, "id'),
            "hang_up",
            answer({"end": "draining", "answered": 0}),
            answer(taken(1, "replayed"), COMPLETE),
        ]
    )
    first, second, third = stream(server.url)
    assert (first.index, first.key, first.id, first.outcome) == (0, "k-0", "id-1", "created")
    assert isinstance(second.error, ValidationError) and second.key == "k-1"
    assert (third.index, third.outcome) == (2, "replayed")
    assert [keys(one.body) for one in server.requests] == [["k-0", "k-1", "k-2"], ["k-2"], ["k-2"], ["k-2"]]


def test_a_line_that_is_too_large_is_the_oldest_one(stream: Any, fake_server: Any) -> None:
    end = {"end": "failed", "answered": 0, "error": problem(413, "too-large")}
    server = fake_server([answer(end), answer(taken(1), taken(2), COMPLETE)])
    assert [type(one.error) for one in stream(server.url)] == [TooLargeError, type(None), type(None)]


def test_a_stream_without_progress_ends(stream: Any, fake_server: Any) -> None:
    server = fake_server([answer({"end": "draining", "answered": 0})])
    with pytest.raises(UnexpectedAnswerError, match="3 jobs have no answer"):
        stream(server.url)
    assert len(server.requests) == 3
    refused = fake_server([answer({"end": "failed", "answered": 0, "error": problem(422, "validation")})])
    with pytest.raises(ValidationError):
        stream(refused.url)
    too_many = fake_server([answer(*(taken(n) for n in range(5)))])
    with pytest.raises(UnexpectedAnswerError, match="an answer to nothing"):
        stream(too_many.url)
