import { rebuildDeadLetterList } from "../../dead-letters/rebuild-list.ts";
import type { LoopDeps } from "../loop-deps.ts";

/** Even when nothing points to a difference, the list is gone over this often. */
const full_projection_ms = 30_000;

/** Keeps the Redis list of dead letters in line with Postgres, asking Postgres only when there may be a difference. */
export function createDeadLetterCheck(deps: LoopDeps): (newest_dead: Date | null) => Promise<void> {
  let projected_at = -Infinity;
  let projected_newest: number | undefined;
  let round = 0;

  return async (newest_dead) => {
    const list = await deps.signal.deadLetters.look();
    const newest = newest_dead?.getTime();
    if (newest === undefined && list.length === 0) return;
    const intact = list.consistent && (list.cursor !== undefined || newest === undefined);
    const recent = performance.now() - projected_at < full_projection_ms;
    if (intact && newest === projected_newest && recent) return;
    const { caught_up } = await rebuildDeadLetterList(deps, round);
    round += 1;
    if (!caught_up) return;
    projected_at = performance.now();
    projected_newest = newest;
  };
}
