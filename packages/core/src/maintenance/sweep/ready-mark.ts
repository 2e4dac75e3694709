import { SignalUnavailableError } from "../../signal/signal.ts";
import type { LoopDeps } from "../loop-deps.ts";

const seen_ms = 3_000;
const name = "ready";

/** Whoever asked Postgres saw ready jobs: for the others, so that an idle fleet asks once and not once a worker. */
export async function markReady(deps: LoopDeps): Promise<void> {
  await unlessAway(() => deps.signal.mark(name, seen_ms), undefined);
}

/** Somebody saw ready jobs a moment ago. Where nobody can say, everybody looks in a turn of its own. */
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
