import { forTenant } from "../database/pool/fair-share.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { readyJobs } from "../queues/ready.ts";
import type { Signal } from "../signal/signal.ts";

// A queue with limits or turns has one wake-up mark in Redis: an id in a list of at most one. A worker woken by it claims what
// comes first in the queue.

type SignalDeps = Deps & { signal: Signal };

/** Push the mark of a queue that has a ready job, where Redis has none. Rejects with `SignalUnavailableError`. */
export async function pushMark(deps: SignalDeps, queue: QueueRef): Promise<number> {
  const own = { database: forTenant(deps.database, { tenant: queue.tenant }) };
  return deps.signal.pushFront(await readyJobs(own, queue, { jobs_max: 1 }));
}

/** Give a queue a mark instead of ids: what was in its lists is dropped. Resolves with 1 if it has a ready job. */
export async function markAnew(deps: SignalDeps, queue: QueueRef): Promise<number> {
  await deps.signal.setMarked(queue, true);
  return pushMark(deps, queue);
}

/**
 * Wake a worker for a queue with limits or turns, also where Redis has forgotten that the queue is marked. Rejects with
 * `SignalUnavailableError`.
 *
 * @example
 * await offerMark(deps, { tenant: "default", queue: "mail" });
 */
export async function offerMark(deps: SignalDeps, queue: QueueRef): Promise<void> {
  const { marked, length } = await deps.signal.look(queue);
  if (!marked) await markAnew(deps, queue);
  else if (length === 0) await pushMark(deps, queue);
}

/** The same, for queues that may be ordinary ones: these are left alone. */
export async function offerIfMarked(deps: SignalDeps, queue: QueueRef): Promise<void> {
  const { marked, length } = await deps.signal.look(queue);
  if (marked && length === 0) await pushMark(deps, queue);
}
