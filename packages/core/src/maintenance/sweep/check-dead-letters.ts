import { fleetCounts } from "../../counts/total.ts";
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
  const missingFrom = createComparison(deps);
  let projected_at = -Infinity;
  let projected_newest: number | undefined;
  let started_over_at = -Infinity;
  let round = 0;

  return async (newest_dead) => {
    const list = await deps.signal.deadLetters.look();
    const newest = newest_dead?.getTime();
    if (newest === undefined && list.length === 0) return;
    const intact = list.consistent && (list.cursor !== undefined || newest === undefined);
    const now = performance.now();
    const recent = now - projected_at < full_projection_ms;
    let missing = 0;
    if (intact && newest === projected_newest && recent) {
      missing = await missingFrom(list.length);
      if (missing === 0) return;
    }
    // What is missing may be older than where the list goes on from.
    const from_start = missing > 0 && now - started_over_at > full_projection_ms;
    if (from_start) started_over_at = now;
    const { caught_up } = await rebuildDeadLetterList(deps, round, from_start);
    round += 1;
    if (!caught_up) return;
    projected_at = performance.now();
    projected_newest = newest;
  };
}

/**
 * How many the list lacks, or has too many of (less than 0), if it is the same number as at the sweep before: what is new
 * may be on its way to the list.
 */
function createComparison(deps: LoopDeps): (length: number) => Promise<number> {
  let compare_at = -Infinity;
  let seen = 0;

  return async (length) => {
    if (performance.now() < compare_at) return 0;
    const { dead } = await fleetCounts(deps);
    const missing = dead - length;
    const lasts = missing === seen;
    compare_at = missing !== 0 && !lasts ? -Infinity : performance.now() + compare_ms;
    seen = missing;
    return lasts ? missing : 0;
  };
}
