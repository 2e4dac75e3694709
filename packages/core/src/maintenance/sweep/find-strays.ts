import { isUnavailable } from "../../database/errors.ts";
import { adoptStrays, countStrays } from "../../lease/adopt-strays.ts";
import { firstId } from "../prune.ts";
import { pause } from "../../pause.ts";
import type { LoopDeps } from "../loop-deps.ts";
import { takeTurn } from "../take-turn.ts";

/** From one look at whether there are any to the next, across the whole fleet. */
const look_ms = 30_000;
/** When a walk did not find all it should, because the counts are wrong or the jobs have moved on meanwhile. */
const rest_after_walk_ms = 600_000;
const rows_max = 5_000;
const rest_ms_min = 20;

/**
 * The safety net under the claims' rows: finds jobs that would run forever, as no claim says when to look at them.
 * Checking whether there are any is cheap; only if so are all jobs walked over, with rests twice as long as the steps.
 */
export async function findStrays(deps: LoopDeps, stop: AbortSignal): Promise<void> {
  let walked_at = -Infinity;
  while (!stop.aborted) {
    try {
      const rested = performance.now() - walked_at >= rest_after_walk_ms;
      if (rested && (await takeTurn(deps, "strays", look_ms))) {
        const strays = await countStrays(deps);
        if (strays > 0 && (await walk(deps, strays, stop)) < strays) walked_at = performance.now();
      }
    } catch (error) {
      if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during: "sweep", error: String(error) });
      else deps.logger.error({ err: error }, "stray_search_failed");
    }
    await pause(look_ms, stop);
  }
}

async function walk(deps: LoopDeps, strays: number, stop: AbortSignal): Promise<number> {
  let found = 0;
  for (let after: string | undefined = firstId; after !== undefined && found < strays && !stop.aborted;) {
    const started = performance.now();
    const step: { adopted: number; next: string | undefined } = await adoptStrays(deps, after, rows_max);
    found += step.adopted;
    after = step.next;
    await pause(Math.max(rest_ms_min, 2 * (performance.now() - started)), stop);
  }
  return found;
}
