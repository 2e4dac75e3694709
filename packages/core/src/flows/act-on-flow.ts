import type { FollowUps } from "../follow-ups.ts";
import { afterAPart } from "../database/errors.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { bulkJobs } from "../jobs/bulk.ts";
import { pause } from "../pause.ts";

type ActDeps = Deps & { followUps: Pick<FollowUps, "cancelled" | "retried" | "noLongerDead"> };

const page_jobs = 500;
const rest_ms = 50;
/** How long a flow is acted on again because of jobs that others had locked. */
const again_ms_max = 2_000;

/**
 * Cancel the jobs of a flow that are not final, or retry those that failed: the dead, and the cancelled, except for those
 * that were cancelled because of another one. These come back with that one. Returns how many were changed. Jobs that
 * another transaction has locked are passed over, and looked at again for some 2 s: one may be about to start, or to add
 * others, or be what the others of its flow wait for. What fails again meanwhile is not retried again.
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
  /** Counted from the end of the first round: of thousands of jobs that one takes longer. */
  let end: number | undefined;
  let changed = 0;
  const change = async (ids: readonly string[]): Promise<boolean> => {
    const page = await bulkJobs(deps, tenant, action, { ids }, { dry_run: false });
    changed += page.changed;
    return page.changed === ids.length;
  };
  try {
    for (let ended_by = "infinity"; ;) {
      const round = await inPages(deps, { tenant, id, text: meant[action], ended_by }, change);
      end ??= performance.now() + again_ms_max;
      if (round.all || performance.now() > end) return changed;
      if (ended_by === "infinity") ended_by = round.began;
      await pause(rest_ms);
    }
  } catch (error) {
    throw changed > 0 ? afterAPart(error) : error;
  }
}

/** `ended_by`: only the jobs that had ended by then. */
type Which = { tenant: string; id: string; text: string; ended_by: string };
/** Whether all that were meant were changed, and when it began, by the database's clock. */
type Round = { all: boolean; began: string };

async function inPages(
  deps: Deps,
  { tenant, id, text, ended_by }: Which,
  change: (ids: readonly string[]) => Promise<boolean>,
): Promise<Round> {
  const round: Round = { all: true, began: "infinity" };
  for (let after = -1; ;) {
    const params = [tenant, id, after, page_jobs, ended_by];
    const rows = await executeOn(deps.database)<{ id: string; place: number; now: string }>({ text, params });
    const [first] = rows;
    if (!first) return round;
    if (after === -1) round.began = first.now;
    round.all = (await change(rows.map((row) => row.id))) && round.all;
    after = rows.at(-1)?.place ?? after;
  }
}

const textOf = (which: string) => `
  SELECT jobs.id, place, now()::text AS now FROM atlasqueue.flow_jobs JOIN atlasqueue.jobs ON jobs.id = flow_jobs.job_id AND jobs.tenant = $1
  WHERE flow_jobs.tenant = $1 AND flow_jobs.flow_id = $2::text::uuid AND place > $3::int AND ${which}
  AND coalesce(finished_at, '-infinity') <= $5::text::timestamptz ORDER BY place LIMIT $4::int`;
const meant = {
  cancel: textOf("status NOT IN ('succeeded', 'dead', 'cancelled')"),
  retry: textOf("(status = 'dead' OR (status = 'cancelled' AND cancelled_by IS NULL))"),
};
