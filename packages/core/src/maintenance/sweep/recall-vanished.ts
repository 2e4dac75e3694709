import { isUnavailable } from "../../database/errors.ts";
import { recallLeases } from "../../lease/recall.ts";
import { pause } from "../../pause.ts";
import { presence_ttl_ms } from "../../signal/presence.ts";
import { SignalUnavailableError } from "../../signal/signal.ts";
import type { LoopDeps } from "../loop-deps.ts";

/** Claims of one worker looked at in one statement. */
const claims_max = 200;

/**
 * End the leases of dead workers, so that their jobs need not wait. A worker is dead when it is silent in both Redis
 * and Postgres and its process, on this machine, is gone; so every process looks, whichever one sweeps. The fleet's
 * sweep then recovers the jobs.
 */
export async function watchMachine(deps: LoopDeps, period_ms: number, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      await recallVanished(deps);
    } catch (error) {
      // Their leases end on their own.
      if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during: "sweep", error: String(error) });
      else if (!(error instanceof SignalUnavailableError)) deps.logger.error({ err: error }, "recall_failed");
    }
    await pause(period_ms, stop);
  }
}

async function recallVanished(deps: LoopDeps): Promise<void> {
  for (const worker of await deps.signal.presence.vanished()) {
    const { open, batches } = await recallLeases(deps, worker, presence_ttl_ms / 1_000, claims_max);
    if (open === 0 && batches < claims_max) await deps.signal.presence.withdraw(worker);
  }
}
