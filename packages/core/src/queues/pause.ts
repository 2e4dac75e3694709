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
  const row = await write(deps, { tenant, queue }, true);
  if (!row) throw new Error("pausing gave no row");
  if (!row.was_paused) deps.observe({ event: "queue_paused", tenant, queue });
  return { paused_at: row.paused_at };
}

/**
 * Let the queue's jobs be claimed again, and signal those that are ready, oldest first, whatever was popped
 * meanwhile. Resuming a queue that is not paused changes nothing.
 *
 * @example
 * const { resumed } = await resumeQueue(deps, { tenant: "default", queue: "mail" });
 */
export async function resumeQueue(deps: Deps & { signal: Signal }, ref: QueueRef): Promise<{ resumed: boolean }> {
  const { tenant, queue } = ref;
  if (!(await write(deps, ref, false))) return { resumed: false };
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

async function write(deps: Deps, { tenant, queue }: QueueRef, paused: boolean) {
  const params = [tenant, queue, String(paused)];
  const [row] = await executeOn(deps.database)<{ paused_at: Date; was_paused: boolean }>({ text, params });
  return row;
}

// Two concurrent pauses may both learn that they were first; the earlier time stays. Only what is paused is resumed.
const text = composed(
  "queues/pause",
  ["tenant", "queue", "paused"],
  `
  INSERT INTO atlasqueue.queues AS known (tenant, queue, paused_at)
  SELECT $1, $2::text, CASE WHEN $3::text::bool THEN now() END
  WHERE ${lockTimeout} AND ($3::text::bool OR EXISTS (
    SELECT FROM atlasqueue.queues WHERE tenant = $1 AND queue = $2::text AND paused_at IS NOT NULL))
  ON CONFLICT (tenant, queue) DO UPDATE SET paused_at = CASE WHEN $3::text::bool THEN coalesce(known.paused_at, now()) END
  WHERE $3::text::bool OR known.paused_at IS NOT NULL
  RETURNING paused_at, paused_at < now() AS was_paused`,
);
