import type { LoopDeps } from "../loop-deps.ts";
import { takeTurn } from "../take-turn.ts";

const seen_ms = 3_000;

/** Mark that ready jobs were seen in Postgres, so that an idle fleet asks once, not once per worker. */
export async function markReady(deps: LoopDeps): Promise<void> {
  await takeTurn(deps, "ready", seen_ms);
}

/** Whether ready jobs were seen a moment ago. A taken turn is the mark; to look for it, take it for a millisecond. */
export async function readyWasSeen(deps: LoopDeps): Promise<boolean> {
  return !(await takeTurn(deps, "ready", 1));
}
