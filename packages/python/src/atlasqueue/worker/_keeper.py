"""Renews the lease of one job until the job is gone, and carries its progress."""

from __future__ import annotations

import random
from time import monotonic
from typing import Any, Callable

from .._errors import AtlasQueueError
from .._retry import backoff_seconds
from ._answers import is_lost, is_refusal
from ._held import OUTAGE_HOLD_SECONDS, HeldJob
from ._waiting import Interrupted, first, pause

_PROGRESS_SECONDS_MIN = 1.0
_TRY_SECONDS_MAX = 10.0
#: An API may take that long to say that its database is unavailable.
_PATIENCE_SECONDS = 3.0
#: Between two tries near the end of a lease.
_REST_SECONDS_MIN = 0.2

Tell = Callable[..., None]


def try_seconds(left: float) -> float:
    """How long one try may take: half of what the lease has left. If its response is lost, another try fits."""
    if left <= 0:
        return _TRY_SECONDS_MAX
    return max(0.001, min(_TRY_SECONDS_MAX, max(left / 2, min(_PATIENCE_SECONDS, left * 0.7))))


def _renew_in(lease: float) -> float:
    """A third of the lease at most, and not at the same moment as all others that were leased with it."""
    return lease * (3 + random.random()) / 12


def is_late(held: HeldJob, lease_seconds: float) -> bool:
    """Whether less than half of the lease is left: the response was late, or this process stood still."""
    return held.left() < lease_seconds / 2


async def renew_before_start(held: HeldJob, lease_seconds: int, tell: Tell) -> bool:
    """Renews the lease of a job that would start late; False if it must not start: another worker may have it."""
    asked_at = monotonic()
    allowed = max(held.left(), lease_seconds / 2)
    calls = held.calls.with_options(retries=5, timeout=try_seconds(allowed), retry_max=allowed)
    try:
        await first(calls.heartbeat(held.leased, lease_seconds=lease_seconds), held.stopped)
    except Interrupted:
        return False
    except AtlasQueueError as error:
        if is_lost(error):
            held.leave()
            tell("lease_lost", held, during="starting")
        else:
            tell("api_unavailable", held, during="heartbeat", error=error)
            # A renewal whose response was lost may hold it.
            held.ends_at = monotonic() + lease_seconds
        return False
    held.ends_at = asked_at + lease_seconds
    return held.left() > 0 and not held.stopped.is_set()


async def keep_lease(held: HeldJob, lease_seconds: int, tell: Tell) -> None:
    """Renews three to four times a lease.

    A handler is stopped when the API says that the lease is lost, or when it could not be renewed in time: from then on
    another worker may have the job. While the API says that its database is unavailable, the handler goes on.
    """
    due_at = held.ends_at - lease_seconds + _renew_in(lease_seconds)
    progress_at = float("-inf")
    failures = 0
    while not held.gone.is_set():
        next_at = min(due_at, progress_at + _PROGRESS_SECONDS_MIN) if held.unsent_progress else due_at
        if not held.settling:
            next_at = min(next_at, held.ends_at)
        if next_at > monotonic():
            held.wake.clear()
            await pause(next_at - monotonic(), held.wake)
            continue
        if not held.settling and held.left() <= 0:
            return _lose(held, tell)
        sent, held.unsent_progress = held.unsent_progress, None
        asked_at = monotonic()
        progress_at = asked_at if sent else progress_at
        calls = held.calls.with_options(timeout=try_seconds(held.left()))
        progress: Any = sent[0] if sent else None
        try:
            await first(calls.heartbeat(held.leased, lease_seconds=lease_seconds, progress=progress), held.gone)
            held.ends_at = asked_at + lease_seconds
            due_at = asked_at + _renew_in(lease_seconds)
            failures = 0
        except Interrupted:
            return
        except (AtlasQueueError, ValueError, TypeError) as error:
            if is_lost(error):
                return _lose(held, tell)
            if sent and is_refusal(error):
                # Bad progress must not cost the lease: the next heartbeat goes at once, without it.
                tell("progress_refused", held, error=error)
                due_at = asked_at
                continue
            tell("api_unavailable", held, during="heartbeat", error=error)
            held.unsent_progress = held.unsent_progress or sent
            away = isinstance(error, AtlasQueueError) and error.database_away
            failures = 0 if away else failures + 1
            due_at = monotonic() + _rest(held, away, failures)
            progress_at = min(due_at, monotonic() + _TRY_SECONDS_MAX)


def _lose(held: HeldJob, tell: Tell) -> None:
    # An outcome on its way may still be in time; its settlement will show.
    if held.settling or held.gone.is_set():
        return
    held.stop(None)
    tell("lease_lost", held, during="handling")


def _rest(held: HeldJob, away: bool, failures: int) -> float:
    """How long to rest after a failed renewal. The rest of a lease is not slept through."""
    if away:
        held.hold_on()
        return max(OUTAGE_HOLD_SECONDS, held.left()) / OUTAGE_HOLD_SECONDS * (0.5 + 0.5 * random.random())
    rest = backoff_seconds(failures, random.random())
    left = held.left()
    return min(rest, max(left / 2, _REST_SECONDS_MIN)) if left > 0 else rest
