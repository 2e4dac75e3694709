import { executeOn } from "../database/statement.ts";
import { cancelMany } from "../jobs/cancel.ts";
import type { Deps } from "../deps.ts";
import type { SweepDeps } from "./loop.ts";

const page_jobs = 500;
/** Pages in one go, leaving a sweep time for its other duties. */
const pages_max = 20;

/**
 * Cancel the jobs whose `expires_in` is over and of which no attempt has counted, oldest first. What waits for them goes on as after
 * any cancellation. Jobs that another transaction has locked are left to a later sweep.
 *
 * @example
 * await expireAll(deps);
 */
export async function expireAll(deps: Deps & { followUps: Pick<SweepDeps["followUps"], "cancelled"> }): Promise<void> {
  for (let page = 0; page < pages_max; page += 1) {
    const expired = await executeOn(deps.database)<{ id: string; tenant: string }>({ text, params: [page_jobs] });
    let ended = 0;
    for (const [tenant, jobs] of Map.groupBy(expired, (one) => one.tenant)) {
      const ids = jobs.map(({ id }) => id);
      const { cancelled, ready } = await cancelMany(deps, tenant, ids, ["scheduled", "blocked", "queued"], {
        expired: true,
      });
      if (cancelled.length > 0) await deps.followUps.cancelled(cancelled, ready);
      ended += cancelled.length;
    }
    if (expired.length < page_jobs || ended === 0) return;
  }
}

// A claim may hold some locked, and take them.
const text = `
  SELECT id, tenant FROM atlasqueue.jobs WHERE expires_at <= now() AND attempts = 0 ORDER BY expires_at LIMIT $1::int FOR UPDATE SKIP LOCKED`;
