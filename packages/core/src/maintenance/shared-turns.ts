import { SignalUnavailableError } from "../signal/signal.ts";
import type { LoopDeps } from "./loop-deps.ts";

const ready = "ready";
const seen_ms = 3_000;

/** In each period one worker of the fleet does the work of this name; with Redis away, every worker does. */
export const takeTurn = ({ signal }: LoopDeps, name: string, period_ms: number): Promise<boolean> =>
  unlessAway(() => signal.takeTurn(name, period_ms), true);

/** Mark that ready jobs were seen in Postgres, so that an idle fleet asks once, not once per worker. */
export const markReady = ({ signal }: LoopDeps): Promise<void> =>
  unlessAway(() => signal.mark(ready, seen_ms), undefined);

/** Whether ready jobs were seen a moment ago. */
export const readyWasSeen = ({ signal }: LoopDeps): Promise<boolean> => unlessAway(() => signal.isMarked(ready), false);

async function unlessAway<T>(ask: () => Promise<T>, away: T): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SignalUnavailableError) return away;
    throw error;
  }
}
