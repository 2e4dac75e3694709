import { forTenant } from "../database/pool/fair-share.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { createQueueLines } from "../queues/queue-lines.ts";
import { readyJobs } from "../queues/ready.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";

// A queue with limits or turns has one wake-up mark in Redis: an id in a list of at most one. A worker woken by it claims what
// comes first in the queue.

type SignalDeps = Deps & { signal: Signal };

/** Signalled at once when limits end; the sweep signals the others when these are taken. */
const signalled_max = 10_000;

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

/**
 * What follows when the limits of queues change. Of several changes of a queue the last one counts, and a tenant's are made
 * one after another: otherwise one caller that changes them over and over would have all others wait for thousands of signals.
 *
 * @example
 * const changeMark = createMarks(deps);
 * await changeMark({ tenant: "default", queue: "mail" }, true);
 */
export function createMarks(deps: SignalDeps) {
  const last = new Map<string, boolean>();
  const nameOf = ({ tenant, queue }: QueueRef) => JSON.stringify([tenant, queue]);
  const inLine = createQueueLines(async (queue) => {
    const marked = last.get(nameOf(queue));
    last.delete(nameOf(queue));
    if (marked) return offerMark(deps, queue);
    if (!(await deps.signal.look(queue)).marked) return;
    await deps.signal.setMarked(queue, false);
    const own = { database: forTenant(deps.database, { tenant: queue.tenant }) };
    await announce(deps, await readyJobs(own, queue, { jobs_max: signalled_max }), "front");
  });
  /** Resolves when it was made; at once if somebody else waits for that. */
  return (queue: QueueRef, marked: boolean): Promise<void> => {
    last.set(nameOf(queue), marked);
    return inLine(queue);
  };
}
