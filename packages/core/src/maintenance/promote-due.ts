import { countMixedMoves } from "../counts/changes.ts";
import { composed } from "../database/composed.ts";
import { numberArray, textArray, unindexed } from "../database/literals.ts";
import { executeOn, type Statement } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";

/**
 * scheduled | failed → queued, for jobs whose `due_at` has come, oldest first. Concurrent sweepers skip each other's
 * rows. Signal what it returns; a full batch means there may be more.
 *
 * @example
 * await signal.push(await promoteDue(deps, 500));
 */
export function promoteDue(deps: Deps, jobs_max: number): Promise<ReadyJob[]> {
  return promote(deps, { text: oldest, params: [jobs_max] });
}

/** The same for up to `jobs_max` jobs of each of these queues. */
export async function promoteDueOf(
  deps: Deps,
  shares: readonly (QueueRef & { jobs_max: number })[],
): Promise<ReadyJob[]> {
  if (shares.length === 0) return [];
  const params = [
    textArray(shares.map(({ tenant }) => tenant)),
    textArray(shares.map(({ queue }) => queue)),
    numberArray(shares.map(({ jobs_max }) => jobs_max)),
  ];
  return promote(deps, { text: ofQueues, params });
}

async function promote(deps: Deps, statement: Statement): Promise<ReadyJob[]> {
  const promoted = await executeOn(deps.database)<ReadyJob & { attempts: number; run_at: Date }>(statement);
  if (promoted.length === 0) return [];
  const retried = promoted.filter((job) => job.attempts > 0).length;
  deps.observe({ event: "jobs_promoted", scheduled: promoted.length - retried, retried });
  return promoted.toSorted((a, b) => a.run_at.getTime() - b.run_at.getTime());
}

const textOf = (due: string) => `
  WITH due AS MATERIALIZED (
    ${due}
  ), promoted AS (
    UPDATE atlasqueue.jobs SET status = 'queued', ready_at = run_at, due_at = NULL, waits_for = NULL, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT id FROM due)) AND ${unindexed("due_at")} <= now()
    RETURNING id, tenant, queue, priority, attempts, run_at
  ), moved AS (
    SELECT tenant, queue, due.status AS from_status, 'queued' AS to_status FROM promoted JOIN due USING (id)
  ), ${countMixedMoves("moved")}
  SELECT * FROM promoted`;

const oldest = composed(
  "maintenance/promote",
  ["jobs_max"],
  textOf(
    "SELECT id, status FROM atlasqueue.jobs WHERE due_at <= now() ORDER BY due_at LIMIT $1::int FOR UPDATE SKIP LOCKED",
  ),
);

// A range of the index of all three columns: with an equality, PostgreSQL could walk through everybody's in order of time.
const ofQueues = composed(
  "maintenance/promote-of",
  ["tenants", "queues", "jobs_max"],
  textOf(`SELECT one.id, one.status
    FROM unnest($1::text[], $2::text[], $3::int[]) AS share(tenant, queue, jobs_max) CROSS JOIN LATERAL (
      SELECT id, status FROM atlasqueue.jobs
      WHERE due_at IS NOT NULL AND (jobs.tenant, jobs.queue, due_at) >= (share.tenant, share.queue, '-infinity')
        AND (jobs.tenant, jobs.queue, due_at) <= (share.tenant, share.queue, now())
      ORDER BY jobs.tenant, jobs.queue, due_at LIMIT share.jobs_max FOR UPDATE SKIP LOCKED) AS one`),
);
