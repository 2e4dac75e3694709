import type { FollowUps } from "../follow-ups.ts";
import { afterAPart } from "../database/errors.ts";
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
  const change = async (ids: readonly string[]): Promise<boolean> => {
    const page = await bulkJobs(deps, tenant, action, { ids }, { dry_run: false });
    changed += page.changed;
    return page.changed === ids.length;
  };
  try {
    for (;;) {
      const all = await inPages(deps, [tenant, id], meant[action], change);
      if (action === "retry" || all || performance.now() > end) return changed;
      await pause(rest_ms);
    }
  } catch (error) {
    throw changed > 0 ? afterAPart(error) : error;
  }
}

/** Whether all that were meant were changed. */
async function inPages(
  deps: ActDeps,
  flow: readonly [tenant: string, id: string],
  text: string,
  change: (ids: readonly string[]) => Promise<boolean>,
): Promise<boolean> {
  let all = true;
  for (let after = -1; ;) {
    const params = [...flow, after, page_jobs];
    const rows = await executeOn(deps.database)<{ id: string; place: number }>({ text, params });
    if (rows.length === 0) return all;
    all = (await change(rows.map((row) => row.id))) && all;
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
