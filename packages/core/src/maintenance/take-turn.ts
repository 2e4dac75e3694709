import { SignalUnavailableError } from "../signal/signal.ts";
import type { LoopDeps } from "./loop-deps.ts";

/** One worker of the fleet in each period does what has this name; with Redis away, every worker does. */
export async function takeTurn(deps: LoopDeps, name: string, period_ms: number): Promise<boolean> {
  try {
    return await deps.signal.takeTurn(name, period_ms);
  } catch (error) {
    if (error instanceof SignalUnavailableError) return true;
    throw error;
  }
}
