"""Leasing by hand; a worker does all of this for you."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic, time_ns
from typing import Any, Sequence

from .._codec import encode, error_data, error_text, storable_text
from .._errors import AtlasQueueError
from .._http import Call, path_of, random_token, to_body
from .._models import Job, LeasedJob, Parked, read
from .send import AsyncSender


class AsyncLeases:
    """Calls of a worker. Each may be repeated: the lease token fences it. LeaseLostError if the lease is over."""

    _sender: AsyncSender

    async def lease(
        self,
        queue: str,
        *,
        worker_id: str,
        lease_seconds: int = 30,
        max_jobs: int = 1,
        wait_seconds: float = 0,
        types: Sequence[str] | None = None,
        lease_token: str | None = None,
    ) -> list[LeasedJob]:
        """Leases up to 100 ready jobs, waiting up to 30 s (and a third of the lease) for the first.

        A try is given up after the wait and a third of the lease, and repeated with the same token: it has the same
        jobs. Without a `lease_token` of yours, a call that fails releases its jobs once.
        """
        token = lease_token or random_token()
        # A try that gets no response must be repeated before what it leased has ended.
        third = lease_seconds / 3
        wait = min(wait_seconds, third)
        body = {
            "worker_id": worker_id,
            "lease_seconds": lease_seconds,
            "max_jobs": max_jobs,
            "wait_seconds": wait,
            "lease_token": token,
            "types": list(types) if types is not None else None,
        }
        call = Call(
            "POST",
            path_of("queues", queue, "lease"),
            body=to_body({name: value for name, value in body.items() if value is not None}),
            hold=wait,
            answer_max=third,
        )
        began_at_ns = time_ns()
        try:
            answer = await self._sender.call(call)
        except AtlasQueueError as error:
            refused = error.from_api and (error.status or 500) < 500
            if lease_token is None and not refused:
                await self._release_once(token)
            raise
        waited = answer.body.get("waited_ms", 0) / 1_000
        # A clock that stood still while the machine slept is behind what the API has waited.
        ends_at = min(answer.sent_at + waited, monotonic()) + answer.body.get("remaining_ms", 0) / 1_000
        leased = [
            read(LeasedJob, {**one, "job": read(Job, one["job"]), "ends_at": ends_at}) for one in answer.body["jobs"]
        ]
        # Leases that took nothing would be most of them.
        if leased and self._sender.options.tracing is not None:
            self._sender.options.tracing.received([one.job for one in leased], worker_id, began_at_ns)
        return leased

    async def _release_once(self, token: str) -> None:
        once = AsyncSender(replace(self._sender.options, retries=0, timeout=2.0), self._sender.transport)
        try:
            await once.ask("POST", "leases", "release", body={"lease_token": token})
        except AtlasQueueError:
            # Their lease ends by itself.
            pass

    async def ack(
        self,
        leased: LeasedJob,
        result: object = None,
        *,
        children: Sequence[dict[str, Any]] | None = None,
        dependants_wait: bool | None = None,
    ) -> Job:
        """The job has succeeded; `result` is at most 256 KiB of JSON. `children` are jobs stored with it."""
        body = {"result": encode(result), "children": children, "dependants_wait": dependants_wait}
        return read(Job, await self._settle(leased, "ack", body))

    async def nack(
        self, leased: LeasedJob, error: BaseException | str, *, retry: bool = True, delay_seconds: float | None = None
    ) -> Job:
        """The attempt failed. The job is retried after its backoff or `delay_seconds`, or with `retry=False` never."""
        body = {
            "error": storable_text(error) if isinstance(error, str) else error_text(error),
            "retry": retry,
            "delay_seconds": delay_seconds,
            "error_data": None if isinstance(error, str) else error_data(error),
        }
        return read(Job, await self._settle(leased, "nack", body))

    async def release(self, leased: LeasedJob, *, later: bool | None = None) -> Job:
        """You will not finish it: it is ready again, and no attempt is counted; with `later` after 1 to 30 seconds."""
        return read(Job, await self._settle(leased, "release", {"later": later}))

    async def release_lease(self, lease_token: str) -> int:
        """Everything leased under a token is ready again; returns how many jobs were released now."""
        return int((await self._sender.ask("POST", "leases", "release", body={"lease_token": lease_token}))["released"])

    async def heartbeat(self, leased: LeasedJob, *, lease_seconds: int = 30, progress: object = None) -> None:
        """Holds the job for `lease_seconds` from when you call it, and reports its progress, at most 16 KiB of JSON."""
        body = {"lease_seconds": lease_seconds, "progress": encode(progress)}
        await self._settle(leased, "heartbeat", body)

    async def store_step(self, leased: LeasedJob, name: str, result: object) -> Any:
        """Keeps a step's result with the job; returns what is kept, the first result of that name."""
        # A result of None is a result.
        body = to_body({"lease_token": leased.lease_token, "result": encode(result)})
        return (await self._sender.call(Call("PUT", path_of("jobs", leased.job.id, "steps", name), body=body))).body[
            "result"
        ]

    async def park(self, leased: LeasedJob, signal: str, timeout_seconds: float) -> Parked:
        """Lets a job wait for a signal, unless it is there. After `parked` the lease is over."""
        return read(Parked, await self._settle(leased, "park", {"signal": signal, "timeout_seconds": timeout_seconds}))

    async def _settle(self, leased: LeasedJob, verb: str, body: dict[str, Any]) -> Any:
        return await self._sender.ask(
            "POST", "jobs", leased.job.id, verb, body={"lease_token": leased.lease_token, **body}
        )
