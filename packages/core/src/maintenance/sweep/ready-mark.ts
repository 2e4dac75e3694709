import { SignalUnavailableError } from "../../signal/signal.ts";
import type { LoopDeps } from "../loop-deps.ts";

const seen_ms = 3_000;
const name = "ready";

/** Mark that ready jobs were seen in Postgres, so that an idle fleet asks once, not once per worker. */
export async function markReady(deps: LoopDeps): Promise<void> {
  await unlessAway(() => deps.signal.mark(name, seen_ms), undefined);
}

/** Whether ready jobs were seen a moment ago. */
export function readyWasSeen(deps: LoopDeps): Promise<boolean> {
  return unlessAway(() => deps.signal.isMarked(name), false);
}

async function unlessAway<T>(ask: () => Promise<T>, away: T): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SignalUnavailableError) return away;
    throw error;
  }
}
