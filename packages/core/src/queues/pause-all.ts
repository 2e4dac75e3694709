import { composed } from "../database/composed.ts";
import type { Database } from "../database/connect.ts";
import { executeOn } from "../database/statement.ts";

/**
 * For a restored copy of a database, before anything runs: pause all queues that are known, of all tenants, and all
 * schedules. Returns how many were not paused before. What is paused is resumed one by one, as after any other pause.
 */
export async function pauseAll(database: Database): Promise<{ queues: number; schedules: number }> {
  const [row] = await executeOn(database)<{ queues: number; schedules: number }>({ text: pause, params: [] });
  return row ?? { queues: 0, schedules: 0 };
}

// In order, and the queues first: several processes that start at once wait for one another instead of deadlocking.
const pause = composed(
  "queues/pause-all",
  [],
  `
  WITH there AS (
    SELECT tenant, queue FROM atlasqueue.queue_counts UNION SELECT tenant, queue FROM atlasqueue.queue_changes UNION SELECT tenant, queue FROM atlasqueue.queues
    UNION SELECT tenant, coalesce(job ->> 'queue', 'default') FROM atlasqueue.schedules
  ), paused AS (
    INSERT INTO atlasqueue.queues AS known (tenant, queue, paused_at) SELECT tenant, queue, now() FROM there ORDER BY tenant, queue
    ON CONFLICT (tenant, queue) DO UPDATE SET paused_at = now() WHERE known.paused_at IS NULL
    RETURNING queue
  ), held AS (
    UPDATE atlasqueue.schedules SET paused_at = now(), updated_at = now() WHERE paused_at IS NULL RETURNING name
  )
  SELECT (SELECT count(*) FROM paused)::int AS queues, (SELECT count(*) FROM held)::int AS schedules`,
);
