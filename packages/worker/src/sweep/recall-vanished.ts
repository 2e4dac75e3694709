import { presence_ttl_ms, recallLeases, SignalUnavailableError } from "@atlasqueue/core";
import type { WorkerDeps } from "../deps.ts";

/** Claims of one worker looked at in one statement. */
const lease_batches_max = 200;

/**
 * End the leases of workers that died, so that their jobs need not wait for it. Dead is who is silent in Redis and in
 * Postgres alike and has let go of its connection. Returns how many leases were ended.
 */
export async function recallVanished(deps: WorkerDeps): Promise<number> {
  let total = 0;
  try {
    for (const worker of await deps.signal.presence.vanished()) {
      const { recalled, open, batches } = await recallLeases(deps, worker, presence_ttl_ms / 1_000, lease_batches_max);
      total += recalled;
      if (open === 0 && batches < lease_batches_max) await deps.signal.presence.withdraw(worker);
    }
  } catch (error) {
    // Their leases end by themselves.
    if (!(error instanceof SignalUnavailableError)) throw error;
  }
  return total;
}
