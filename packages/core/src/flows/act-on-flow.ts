import type { FollowUps } from "../follow-ups.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { bulkJobs } from "../jobs/bulk.ts";
import { pause } from "../pause.ts";

type ActDeps = Deps & { followUps: Pick<FollowUps, "cancelled" | "retried" | "noLongerDead"> };

const page_jobs = 500;
const rest_ms = 50;
/** How long a flow is cancelled again because of jobs that others had locked. */
const again_ms_max = 2_000;

/**
 * Cancel the jobs of a flow that are not final, or retry those that failed: the dead, and the cancelled, except for those
 * that were cancelled because of another one. These come back with that one. Returns how many were changed. Jobs that
 * another transaction has locked are passed over; what is cancelled is looked at again for some 2 s, as such a job may
 * be one that starts, or adds others.
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
  const end = performance.now() + again_ms_max;
  let changed = 0;
  for (;;) {
    const round = await actOnce(deps, tenant, id, action);
    changed += round.changed;
    if (action === "retry" || round.found === round.changed || performance.now() > end) return changed;
    await pause(rest_ms);
  }
}

/** `found` is how many were meant, `changed` how many of these were not locked. */
async function actOnce(deps: ActDeps, tenant: string, id: string, action: "cancel" | "retry") {
  let found = 0;
  let changed = 0;
  for (let after = -1; ;) {
    const params = [tenant, id, after, page_jobs];
    const rows = await executeOn(deps.database)<{ id: string; place: number }>({ text: meant[action], params });
    if (rows.length === 0) return { found, changed };
    found += rows.length;
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
