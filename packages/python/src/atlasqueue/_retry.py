"""Which failures allow that a request is sent again, and when. Decisions only: time and chance are arguments."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from ._errors import AtlasQueueError, DeadlineError, NetworkError, UnderWayError

_BASE_SECONDS = 0.2
_BACKOFF_SECONDS_MAX = 10.0


def backoff_seconds(tries: int, random: float, most: float | None = None) -> float:
    """Exponential with full jitter: from 0 to 0.2 s, 0.4 s, … 10 s, so that clients that failed together spread out.

    `most`: of a request that must be repeated sooner.
    """
    return random * min(most or _BACKOFF_SECONDS_MAX, _BACKOFF_SECONDS_MAX, _BASE_SECONDS * 2.0 ** min(tries, 16))


def may_repeat(error: AtlasQueueError, safe: bool) -> bool:
    """Whether the request may be sent again. `safe`: sending it twice is the same as sending it once."""
    # The server refuses before anything is done.
    if error.status == 429:
        return True
    if error.status == 503:
        # Only the API knows: a proxy also returns 503 after it lost the connection to an API that has done it.
        return safe or (error.from_api and not (error.problem and error.problem.maybe_done))
    # The first request with this key, perhaps this call's own, will end in a moment.
    if isinstance(error, UnderWayError):
        return True
    if isinstance(error, NetworkError) and error.refused:
        return True
    return safe and (isinstance(error, (NetworkError, DeadlineError)) or error.status in (502, 504))


def next_try_in(
    error: AtlasQueueError,
    *,
    safe: bool,
    tries: int,
    retries: float,
    left: float,
    random: float,
    rest_most: float | None = None,
) -> float | None:
    """Seconds until the next try, or None if there is none. A Retry-After of the server is never shortened.

    `rest_most`: of the rest that no Retry-After asks for.
    """
    if tries > retries or not may_repeat(error, safe):
        return None
    wait = (error.retry_after or 0.0) + backoff_seconds(tries - 1, random, rest_most)
    return wait if wait <= left else None


def parse_retry_after(header: str | None) -> float | None:
    """A Retry-After header, in seconds or as an HTTP date, as seconds from now; None if it is neither."""
    text = (header or "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", text):
        return float(text)
    if not re.match(r"[A-Z][a-z]{2,8},? ", text):
        return None
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return max(0.0, (date - datetime.now(timezone.utc)).total_seconds())
