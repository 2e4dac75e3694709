"""What the client and the worker ask of a tracer, and nothing if there is none. `opentelemetry` has one."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, ContextManager, Mapping, Protocol, Sequence

if TYPE_CHECKING:
    from ._models import Job
    from ._submission import Submission


class Tracing(Protocol):
    def headers(self) -> Mapping[str, str]:
        """The headers that carry the active span."""
        ...

    def sending(self, queue: str | None, *, type: str | None, count: int | None) -> ContextManager[object]:
        """Active while one job, or a batch, is submitted. No queue: the jobs are of several."""
        ...

    def received(self, jobs: Sequence[Job], worker_id: str, began_at_ns: int) -> None:
        """A lease, asked for at `began_at_ns` by the clock of `time.time_ns()`, has taken jobs."""
        ...

    def attempt(self, job: Job) -> ContextManager[object]:
        """Active while a handler runs."""
        ...


def sending_one(tracing: Tracing | None, job: Submission) -> ContextManager[object]:
    if tracing is None:
        return nullcontext()
    return tracing.sending(job.queue or "default", type=job.type, count=None)


def sending_many(tracing: Tracing | None, jobs: Sequence[Submission]) -> ContextManager[object]:
    if tracing is None:
        return nullcontext()
    return tracing.sending(only_queue([job.queue or "default" for job in jobs]), type=None, count=len(jobs))


def only_queue(queues: Sequence[str]) -> str | None:
    """The queue of all of them, if it is one."""
    return queues[0] if len(set(queues)) == 1 else None
