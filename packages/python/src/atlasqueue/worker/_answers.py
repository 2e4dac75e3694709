"""What the API's answers to a worker mean."""

from __future__ import annotations

from .._errors import AtlasQueueError, LeaseLostError, NotFoundError

#: About eight seconds of them, in a row.
_REFUSALS_MAX = 10
_AT_LIMITS = ("/problems/too-many-queues", "/problems/storage-full")


def is_lost(error: Exception) -> bool:
    """The API said that the job is not held any more. A proxy's 404, as during a restart behind it, is not that."""
    return isinstance(error, (LeaseLostError, NotFoundError)) and error.from_api


def is_refusal(error: Exception) -> bool:
    """What was sent is not acceptable, or has no JSON form."""
    return not isinstance(error, AtlasQueueError) or error.status in (400, 413, 422)


def is_refusal_to_add(error: Exception) -> bool:
    """The token may not add jobs, another job has the unique key of one, or there may be no more of them."""
    return isinstance(error, AtlasQueueError) and (
        error.status in (401, 403, 409) or (error.problem is not None and error.problem.type in _AT_LIMITS)
    )


def is_final(error: Exception, refusals: int) -> bool:
    """Whether a refusal is final: the API's own is. A proxy's may pass, but not if it always refuses."""
    return not isinstance(error, AtlasQueueError) or error.from_api or refusals >= _REFUSALS_MAX
