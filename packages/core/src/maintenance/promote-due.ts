import { countMixedMoves } from "../counts/changes.ts";
import { composed } from "../database/composed.ts";
import { numberArray, textArray, unindexed } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";

/** Up to `jobs_max` jobs of a queue. */
export type Share = QueueRef & { jobs_max: number };

/**
 * scheduled | failed → queued, for up to `jobs_max` jobs whose `due_at` has come, oldest first, and for a share of those of
 * some queues. Concurrent sweepers skip each other's
 * rows. Signal what it returns; as many as `jobs_max` means there may be more.
 *
 * @example
 * await signal.push(await promoteDue(deps, 500));
 */
export async function promoteDue(deps: Deps, jobs_max: number, shares: readonly Share[] = []): Promise<ReadyJob[]> {
  const params = [
    jobs_max,
    textArray(shares.map(({ tenant }) => tenant)),
    textArray(shares.map(({ queue }) => queue)),
    numberArray(shares.map((share) => share.jobs_max)),
  ];
  const promoted = await executeOn(deps.database)<ReadyJob & { attempts: number; run_at: Date }>({ text, params });
  if (promoted.length === 0) return [];
  const retried = promoted.filter((job) => job.attempts > 0).length;
  deps.observe({ event: "jobs_promoted", scheduled: promoted.length - retried, retried });
  return promoted.toSorted((a, b) => a.run_at.getTime() - b.run_at.getTime());
}

// Of a queue a range of the index of all three columns: with an equality, PostgreSQL could walk through everybody's in order of time.
const text = composed(
  "maintenance/promote",
  ["jobs_max", "tenants", "queues", "shares"],
  `
  WITH due AS MATERIALIZED (
    SELECT * FROM (SELECT id, status FROM atlasqueue.jobs WHERE due_at <= now() ORDER BY due_at LIMIT $1::int FOR UPDATE SKIP LOCKED) AS oldest
    UNION
    SELECT one.id, one.status
    FROM unnest($2::text[], $3::text[], $4::int[]) AS share(tenant, queue, jobs_max) CROSS JOIN LATERAL (
      SELECT id, status FROM atlasqueue.jobs
      WHERE due_at IS NOT NULL AND (jobs.tenant, jobs.queue, due_at) >= (share.tenant, share.queue, '-infinity')
        AND (jobs.tenant, jobs.queue, due_at) <= (share.tenant, share.queue, now())
      ORDER BY jobs.tenant, jobs.queue, due_at LIMIT share.jobs_max FOR UPDATE SKIP LOCKED) AS one
  ), promoted AS (
    UPDATE atlasqueue.jobs SET status = 'queued', ready_at = run_at, due_at = NULL, waits_for = NULL, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT id FROM due)) AND ${unindexed("due_at")} <= now()
    RETURNING id, tenant, queue, priority, attempts, run_at
  ), moved AS (
    SELECT tenant, queue, due.status AS from_status, 'queued' AS to_status FROM promoted JOIN due USING (id)
  ), ${countMixedMoves("moved")}
  SELECT * FROM promoted`,
);
