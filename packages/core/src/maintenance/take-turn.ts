import { SignalUnavailableError } from "../signal/signal.ts";
import type { LoopDeps } from "./loop-deps.ts";

/** In each period one worker of the fleet does the work of this name; with Redis away, every worker does. */
export async function takeTurn(deps: LoopDeps, name: string, period_ms: number): Promise<boolean> {
  try {
    return await deps.signal.takeTurn(name, period_ms);
  } catch (error) {
    if (error instanceof SignalUnavailableError) return true;
    throw error;
  }
}
