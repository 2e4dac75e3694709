import type { LoopDeps } from "../loop-deps.ts";
import { takeTurn } from "../take-turn.ts";

const seen_ms = 3_000;

/** Whoever asked Postgres saw ready jobs: for the others, so that an idle fleet asks once and not once a worker. */
export async function markReady(deps: LoopDeps): Promise<void> {
  await takeTurn(deps, "ready", seen_ms);
}

/** Somebody saw ready jobs a moment ago. A turn that is taken is the mark; to look for it, take it for a millisecond. */
export async function readyWasSeen(deps: LoopDeps): Promise<boolean> {
  return !(await takeTurn(deps, "ready", 1));
}
