import { fleetCounts } from "../../counts/fleet.ts";
import { rebuildDeadLetterList } from "../../dead-letters/rebuild-list.ts";
import type { LoopDeps } from "../loop-deps.ts";

/** Even when nothing points to a difference, the list is gone over this often. */
const full_projection_ms = 30_000;
/** And its length is compared with the number of dead jobs this often. */
const compare_ms = 4_000;

/**
 * Keeps the Redis list of dead letters in line with Postgres. It is gone over only when there may be a difference: when
 * a job has died since, or when there are more or fewer in the list than Postgres counts, as after a replay whose answer
 * was lost.
 */
export function createDeadLetterCheck(deps: LoopDeps): (newest_dead: Date | null) => Promise<void> {
  const differs = createComparison(deps);
  let projected_at = -Infinity;
  let projected_newest: number | undefined;
  let round = 0;

  return async (newest_dead) => {
    const list = await deps.signal.deadLetters.look();
    const newest = newest_dead?.getTime();
    if (newest === undefined && list.length === 0) return;
    const intact = list.consistent && (list.cursor !== undefined || newest === undefined);
    const recent = performance.now() - projected_at < full_projection_ms;
    if (intact && newest === projected_newest && recent && !(await differs(list.length))) return;
    const { caught_up } = await rebuildDeadLetterList(deps, round);
    round += 1;
    if (!caught_up) return;
    projected_at = performance.now();
    projected_newest = newest;
  };
}

/** Whether there is the same difference as at the sweep before: one that is new may be on its way to the list. */
function createComparison(deps: LoopDeps): (length: number) => Promise<boolean> {
  let compare_at = -Infinity;
  let seen: string | undefined;

  return async (length) => {
    if (performance.now() < compare_at) return false;
    const { dead } = await fleetCounts(deps);
    const difference = length === dead ? undefined : `${length} for ${dead}`;
    const lasts = difference !== undefined && difference === seen;
    compare_at = difference !== undefined && !lasts ? -Infinity : performance.now() + compare_ms;
    seen = difference;
    return lasts;
  };
}
