import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { countMixedMoves } from "../counts/changes.ts";

/**
 * scheduled | failed → queued, for jobs whose `run_at` has come, oldest first. Sweepers side by side skip each
 * other's rows. Signal what it returns; a full batch means there may be more.
 *
 * @example
 * await signal.push(await promoteDue(deps, 500));
 */
export async function promoteDue(deps: Deps, jobs_max: number): Promise<ReadyJob[]> {
  const promoted = await executeOn(deps.database)<ReadyJob & { attempts: number; run_at: Date }>({
    text: promote,
    params: [jobs_max],
  });
  if (promoted.length === 0) return [];
  const retried = promoted.filter((job) => job.attempts > 0).length;
  deps.observe({ event: "jobs_promoted", scheduled: promoted.length - retried, retried });
  return promoted.toSorted((a, b) => a.run_at.getTime() - b.run_at.getTime());
}

const promote = composed(
  "maintenance/promote",
  ["jobs_max"],
  `
  WITH due AS MATERIALIZED (
    SELECT id, status FROM jobs WHERE due_at <= now() ORDER BY due_at LIMIT $1::int FOR UPDATE SKIP LOCKED
  ), promoted AS (
    UPDATE jobs SET status = 'queued', ready_at = due_at, due_at = NULL, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT id FROM due)) AND due_at <= now()
    RETURNING id, tenant, queue, priority, attempts, run_at
  ), moved AS (
    SELECT tenant, queue, due.status AS from_status, 'queued' AS to_status FROM promoted JOIN due USING (id)
  ), ${countMixedMoves("moved")}
  SELECT * FROM promoted`,
);
