import { countJobs } from "../../counts/total.ts";
import { rebuildDeadLetterList } from "../../dead-letters/rebuild-list.ts";
import type { LoopDeps } from "../loop.ts";

/** Even when nothing points to a difference, the list is gone over this often, and from its start at most this often. */
const full_projection_ms = 30_000;
/** While there are none, neither in Postgres nor in the list, the list is looked at this often. */
const empty_look_ms = 10_000;

/**
 * Keeps the Redis list of dead letters in line with Postgres. It is gone over only when there may be a difference: when
 * a job has died since, or when at two sweeps there are more or fewer in the list than Postgres counts, as after a replay
 * whose answer was lost. What is new may be on its way to the list at one sweep.
 */
export function createDeadLetterCheck(deps: LoopDeps): (newest_dead: Date | null) => Promise<void> {
  let projected_at = -Infinity;
  let projected_newest: number | undefined;
  let started_over_at = -Infinity;
  let missing_before = 0;
  let round = 0;
  let empty_at = -Infinity;

  return async (newest_dead) => {
    if (deps.signal.marks_only) return;
    const newest = newest_dead?.getTime();
    if (newest === undefined && performance.now() - empty_at < empty_look_ms) return;
    const list = await deps.signal.deadLetters.look();
    const is_empty = newest === undefined && list.length === 0;
    empty_at = is_empty ? performance.now() : -Infinity;
    if (is_empty) return;
    const missing = (await countJobs(deps, undefined)).dead - list.length;
    const lasts = missing !== 0 && missing === missing_before;
    missing_before = missing;
    const intact = list.consistent && (list.cursor !== undefined || newest === undefined);
    const now = performance.now();
    if (intact && !lasts && newest === projected_newest && now - projected_at < full_projection_ms) return;
    // What is missing may be older than where the list goes on from.
    const from_start = lasts && missing > 0 && now - started_over_at > full_projection_ms;
    if (from_start) started_over_at = now;
    const { caught_up } = await rebuildDeadLetterList(deps, round, from_start);
    round += 1;
    if (!caught_up) return;
    projected_at = performance.now();
    projected_newest = newest;
  };
}
