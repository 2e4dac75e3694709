import { bounded } from "../database/bounded.ts";
import type { Deps } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";

/**
 * scheduled | failed → queued, for jobs whose `run_at` has come, oldest first. Sweepers side by side skip each
 * other's rows. Signal what it returns; a full batch means there may be more.
 *
 * @example
 * await signal.push(await promoteDue(deps, 500));
 */
export async function promoteDue(deps: Deps, jobs_max: number): Promise<ReadyJob[]> {
  const { sql } = deps.database;
  const promoted = await bounded(
    deps.database,
    sql<(ReadyJob & { attempts: number; run_at: Date })[]>`
    UPDATE jobs SET status = 'queued', ready_at = due_at, due_at = NULL, updated_at = now()
    WHERE id = ANY(ARRAY(
      SELECT id FROM jobs WHERE due_at <= now()
      ORDER BY due_at LIMIT ${jobs_max} FOR UPDATE SKIP LOCKED))
      AND due_at <= now()
    RETURNING id, tenant, queue, priority, attempts, run_at`,
  );
  if (promoted.length === 0) return [];
  const retried = promoted.filter((job) => job.attempts > 0).length;
  deps.observe({ event: "jobs_promoted", scheduled: promoted.length - retried, retried });
  return promoted.toSorted((a, b) => a.run_at.getTime() - b.run_at.getTime());
}
