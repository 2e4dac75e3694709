"""Takes the outcome of one job to the API, for as long as the job is held."""

from __future__ import annotations

import asyncio
import random

from .._errors import AtlasQueueError
from .._models import Job
from .._retry import backoff_seconds
from ._answers import is_final, is_lost, is_refusal, is_refusal_to_add
from ._held import Failed, HeldJob, Outcome, Succeeded
from ._keeper import Tell, try_seconds
from ._waiting import Interrupted, first

#: The last words of a worker that stops: one that gets no response leaves time for another.
_LAST_TRY_SECONDS_MAX = 2.0


async def settle(held: HeldJob, outcome: Outcome, over: asyncio.Event, tell: Tell) -> None:
    """Sends an outcome until it is answered, or the lease has ended. `over`: the worker's time to stop is over."""
    held.phase = "settling"
    failures = refusals = 0
    while not held.gone.is_set():
        try:
            job = await (_send(held, outcome, last=True) if over.is_set() else first(_send(held, outcome), over))
            held.leave()
            error = outcome.error if isinstance(outcome, Failed) else None
            tell("job_settled", held, outcome=job.status, error=error)
            return
        except Interrupted:
            # Once more. What was done already stays done: an ack has the same response again.
            continue
        except (AtlasQueueError, ValueError, TypeError) as error:
            if is_lost(error):
                held.leave()
                tell("lease_lost", held, during="settling")
                return
            adds = isinstance(outcome, Succeeded) and bool(outcome.children)
            refused = is_refusal(error) or (adds and is_refusal_to_add(error))
            refusals = refusals + 1 if refused else 0
            if refused and is_final(error, refusals):
                tell("settlement_refused", held, error=error)
                if not isinstance(outcome, Succeeded):
                    held.leave()
                    return
                outcome, refusals = _instead(outcome, error), 0
                continue
            tell("api_unavailable", held, during="settle", error=error)
            if isinstance(error, AtlasQueueError) and error.database_away:
                held.hold_on()
            if held.left() <= 0:
                held.leave()
                tell("lease_lost", held, during="settling")
                return
            failures += 1
            await asyncio.sleep(backoff_seconds(failures, random.random()))


async def _send(held: HeldJob, outcome: Outcome, last: bool = False) -> Job:
    # An ack whose response was lost has the same response again, if it is repeated before the lease ends.
    calls = held.calls.with_options(timeout=_LAST_TRY_SECONDS_MAX if last else try_seconds(held.left()))
    job: Job
    if isinstance(outcome, Succeeded):
        children = outcome.children or None
        wait = outcome.dependants_wait or None
        job = await calls.ack(held.leased, outcome.result, children=children, dependants_wait=wait)
    elif isinstance(outcome, Failed):
        job = await calls.nack(held.leased, outcome.error, retry=outcome.retry, delay_seconds=outcome.delay)
    else:
        job = await calls.release(held.leased)
    return job


def _instead(outcome: Succeeded, error: Exception) -> Failed:
    if outcome.children:
        problem = error.problem if isinstance(error, AtlasQueueError) else None
        return Failed(f"SpawnError: {problem.detail if problem else error}")
    return Failed("Refused: the API would not store the result")
