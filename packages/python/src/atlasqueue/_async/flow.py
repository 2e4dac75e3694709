"""Jobs that depend on each other, submitted as one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Sequence

from .._http import Call, key_header, path_of, random_key, to_body
from .._submission import Submission
from .handle import AsyncHandle
from .send import AsyncSender


@dataclass(frozen=True)
class AsyncSubmittedFlow:
    """`id` is None if no job depends on another. `handles` are in the order of adding, `last` is of `after_all`."""

    id: str | None
    created: bool
    handles: list[AsyncHandle[Any]]
    last: AsyncHandle[Any] | None


class AsyncFlowBuilder:
    """Collects the jobs of a flow.

    flow = client.flow()
    rows = flow.add(Submission("sales.load", {"month": "2030-01"}))
    flow.add(Submission("report.send", {"to": "ada@example.org"}), depends_on=[rows])
    await flow.submit()
    """

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender
        self._jobs: dict[str, dict[str, Any]] = {}
        self._last: dict[str, Any] | None = None

    def add(
        self,
        job: Submission,
        *,
        ref: str | None = None,
        depends_on: Sequence[str] = (),
        on_parent_failure: str | None = None,
    ) -> str:
        """Adds a job; returns its ref, for `depends_on` of others. `depends_on` takes ids of existing jobs too.

        `on_parent_failure` is cancel, wait or run. Raises ValueError if the ref is taken, or the job has an idempotency
        key: the flow has one, see `submit`.
        """
        name = ref or f"job-{len(self._jobs) + 1}"
        if name in self._jobs:
            raise ValueError(f"ref: {name!r} is the name of another job of this flow")
        _refuse_key(job)
        linked = replace(job, depends_on=[*(job.depends_on or ()), *depends_on]) if depends_on else job
        fields = replace(linked, on_parent_failure=on_parent_failure or job.on_parent_failure).to_wire()
        self._jobs[name] = {**fields, "ref": name}
        return name

    def after_all(self, job: Submission) -> None:
        """One more job, which runs when all of them have ended, however they did."""
        _refuse_key(job)
        self._last = job.to_wire()

    async def submit(self, *, idempotency_key: str | None = None) -> AsyncSubmittedFlow:
        """Stores the whole flow or nothing. Raises like `client.submit`; a ValidationError names every bad job."""
        key = random_key() if idempotency_key is None else idempotency_key
        body: dict[str, Any] = {"jobs": list(self._jobs.values())}
        if self._last is not None:
            body["then"] = self._last
        call = Call("POST", path_of("jobs", "batch"), body=to_body(body), headers=key_header(key))
        answer = (await self._sender.call(call)).body
        handles = [self._handle(one) for one in answer["jobs"]]
        last = self._handle(answer["then"]) if answer.get("then") else None
        return AsyncSubmittedFlow(answer["flow_id"], all(handle.created for handle in handles), handles, last)

    def _handle(self, one: dict[str, Any]) -> AsyncHandle[Any]:
        return AsyncHandle(self._sender, one["id"], created=one["created"])


def _refuse_key(job: Submission) -> None:
    if job.idempotency_key is not None:
        raise ValueError("idempotency_key: give it to the flow's submit()")
