import type { FollowUps } from "../follow-ups.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { bulkJobs } from "../jobs/bulk.ts";

type ActDeps = Deps & { followUps: Pick<FollowUps, "cancelled" | "retried" | "noLongerDead"> };

const page_jobs = 500;

/**
 * Cancel the jobs of a flow that are not final, or retry those that failed: the dead, and the cancelled, except for those
 * that were cancelled because of another one. These come back with that one. Returns how many were changed; jobs that
 * another transaction has locked are passed over.
 *
 * @example
 * const changed = await actOnFlow(deps, "default", id, "retry");
 */
export async function actOnFlow(
  deps: ActDeps,
  tenant: string,
  id: string,
  action: "cancel" | "retry",
): Promise<number> {
  let changed = 0;
  for (let after = -1; ;) {
    const params = [tenant, id, after, page_jobs];
    const rows = await executeOn(deps.database)<{ id: string; place: number }>({ text: meant[action], params });
    if (rows.length === 0) return changed;
    const ids = rows.map((row) => row.id);
    changed += (await bulkJobs(deps, tenant, action, { ids }, { dry_run: false })).changed;
    after = rows.at(-1)?.place ?? after;
  }
}

const textOf = (which: string) => `
  SELECT jobs.id, place FROM flow_jobs JOIN jobs ON jobs.id = flow_jobs.job_id AND jobs.tenant = $1
  WHERE flow_jobs.flow_id = $2::text::uuid AND place > $3::int AND ${which} ORDER BY place LIMIT $4::int`;
const meant = {
  cancel: textOf("status NOT IN ('succeeded', 'dead', 'cancelled')"),
  retry: textOf("(status = 'dead' OR (status = 'cancelled' AND cancelled_by IS NULL))"),
};
