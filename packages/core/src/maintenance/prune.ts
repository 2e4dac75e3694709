import { byHalves, idAfter, type Pace } from "./by-halves.ts";
import type { Deps } from "../deps.ts";
import { prunePage, type Stretch } from "./prune-page.ts";
import { firstIdFromNow, type JobRetention } from "./retention.ts";

/**
 * `next` is where the next step continues; undefined when the pass has reached jobs that are too young. `failed` is why a
 * job was passed over. `met_another`: nothing was done, as another process was taking a step.
 */
export type Pruned = {
  jobs: number;
  dead: string[];
  next: string | undefined;
  failed?: unknown;
  met_another?: true;
};

export const firstId = "00000000-0000-0000-0000-000000000000";
const day_seconds = 86_400;
const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * succeeded | cancelled | dead → gone, with their attempts, when they finished longer ago than they are kept, and no
 * key that still holds names them, neither an idempotency key nor a unique one with a window, nor may come to. A step looks at
 * `jobs_max` jobs in id order, which is the order of creation, so that no index on the finishing time is needed. Jobs
 * that are kept, or of which a row is locked, or whose flow is not over, are skipped until the next pass, and so is one
 * that cannot be removed. `pace` remembers for the next step how many were too many.
 *
 * @example
 * const { next } = await prune(deps, retention, firstId, 1_000);
 */
export async function prune(
  deps: Deps,
  retention: JobRetention,
  after: string,
  jobs_max: number,
  pace?: Pace,
): Promise<Pruned> {
  const youngest_hours = Math.min(retention.succeededHours, retention.deadHours);
  const before = await firstIdFromNow(deps, -youngest_hours * 3_600);
  return pruneBetween(deps, retention, { after, before, jobs_max }, pace);
}

/**
 * The same for jobs whose ids are of a time still to come: whatever made them had a clock that was far ahead, and they
 * must not stay until the others get there. There are seldom any.
 *
 * @example
 * const { next } = await pruneAhead(deps, retention, firstId, 1_000);
 */
export async function pruneAhead(
  deps: Deps,
  retention: JobRetention,
  after: string,
  jobs_max: number,
  pace?: Pace,
): Promise<Pruned> {
  const first = await firstIdFromNow(deps, day_seconds);
  return pruneBetween(deps, retention, { after: after < first ? first : after, before: lastId, jobs_max }, pace);
}

const pruneBetween = (deps: Deps, retention: JobRetention, stretch: Stretch, pace?: Pace): Promise<Pruned> =>
  byHalves<Pruned>(
    deps,
    stretch.jobs_max,
    (rows) => prunePage(deps, retention, { ...stretch, jobs_max: rows }),
    async (failed) => ({ jobs: 0, dead: [], next: await idAfter(deps, stretch.after), failed }),
    pace,
  );
