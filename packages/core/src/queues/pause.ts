import { composed } from "../database/composed.ts";
import { lockTimeout } from "../database/clauses.ts";
import { isUnavailable } from "../database/errors.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { readyJobs } from "./ready.ts";
import { announce, hint } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";

/** Signalled at once when a queue is resumed; the sweep signals the others when these are taken. */
const signals_max = 10_000;

/**
 * From now on nothing in the queue is claimed: what runs finishes, what waits keeps waiting, and jobs can still be
 * submitted and become due. A claim already under way may still start its jobs. Returns since when the queue has been
 * paused; pausing it again changes nothing. The queue need not have jobs.
 *
 * @example
 * const { paused_at } = await pauseQueue(deps, { tenant: "default", queue: "mail" });
 */
export async function pauseQueue(deps: Deps, { tenant, queue }: QueueRef): Promise<{ paused_at: Date }> {
  const [row] = await executeOn(deps.database)<{ paused_at: Date; was_paused: boolean }>({
    text: pause,
    params: [tenant, queue],
  });
  if (!row) throw new Error("pausing gave no row");
  if (!row.was_paused) deps.observe({ event: "queue_paused", tenant, queue });
  return { paused_at: row.paused_at };
}

// Two concurrent calls may both learn that they were first; the earlier time stays.
const pause = composed(
  "queues/pause",
  ["tenant", "queue"],
  `
  INSERT INTO atlasqueue.queues AS known (tenant, queue, paused_at) SELECT $1, $2, now() WHERE ${lockTimeout}
  ON CONFLICT (tenant, queue) DO UPDATE SET paused_at = coalesce(known.paused_at, now())
  RETURNING paused_at, paused_at < now() AS was_paused`,
);

/**
 * Let the queue's jobs be claimed again, and signal those that are ready, oldest first, whatever was popped meanwhile
 * meanwhile. Resuming a queue that is not paused changes nothing.
 *
 * @example
 * const { resumed } = await resumeQueue(deps, { tenant: "default", queue: "mail" });
 */
export async function resumeQueue(deps: Deps & { signal: Signal }, ref: QueueRef): Promise<{ resumed: boolean }> {
  const { tenant, queue } = ref;
  const [row] = await executeOn(deps.database)({ text: resume, params: [tenant, queue] });
  if (!row) return { resumed: false };
  deps.observe({ event: "queue_resumed", tenant, queue });
  await hint(deps.observe, "resume", () => signalWaiting(deps, ref)).catch((error: unknown) => {
    // It is resumed, and the sweep signals them too.
    if (!isUnavailable(error)) throw error;
    deps.observe({ event: "database_unavailable", during: "resuming a queue", error: String(error) });
  });
  return { resumed: true };
}

async function signalWaiting(deps: Deps & { signal: Signal }, queue: QueueRef): Promise<void> {
  const { length, marked } = await deps.signal.look(queue);
  const jobs = await readyJobs(deps, queue, { jobs_max: marked ? 1 : signals_max });
  if (length >= jobs.length) return;
  // Or each pause would make the list longer.
  if (length > 0) await deps.signal.setMarked(queue, false);
  await announce(deps, jobs, "front");
}

const resume = composed(
  "queues/resume",
  ["tenant", "queue"],
  `
  UPDATE atlasqueue.queues SET paused_at = NULL WHERE tenant = $1 AND queue = $2 AND paused_at IS NOT NULL AND ${lockTimeout} RETURNING queue`,
);
