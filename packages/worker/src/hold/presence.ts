import { pause, SignalUnavailableError } from "@atlasqueue/core/internal";
import { hint, presence_beat_ms, type WorkerPresence } from "@atlasqueue/core/internal/worker";
import type { WorkerDeps } from "../deps.ts";

export type PresenceConfig = {
  /** The tenants it serves: it announces itself to each. */
  tenants: readonly string[];
  describe: () => Omit<WorkerPresence, "tenant">;
  /** Announced at once, not at the next beat. */
  draining: AbortSignal;
  stop: AbortSignal;
};

/**
 * Announces every two seconds that this worker is alive, and at the end that it leaves, for people to see.
 */
export async function keepPresence(deps: WorkerDeps, config: PresenceConfig): Promise<void> {
  const { tenants, describe, draining, stop } = config;
  while (!stop.aborted) {
    const told_draining = draining.aborted;
    try {
      const worker = describe();
      for (const tenant of tenants) await deps.signal.presence.announce({ ...worker, tenant });
    } catch (error) {
      if (!(error instanceof SignalUnavailableError)) deps.logger.error({ err: error }, "announcement_failed");
    }
    await pause(presence_beat_ms, told_draining ? stop : AbortSignal.any([stop, draining]));
  }
  await hint(deps.observe, "farewell", async () => {
    for (const tenant of tenants) await deps.signal.presence.withdraw({ ...describe(), tenant });
  });
}
