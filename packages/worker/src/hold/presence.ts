import { hint, pause, presence_beat_ms, SignalUnavailableError, type WorkerPresence } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";

export type PresenceConfig = {
  /** Whose workers it is one of: it is said to each of them. */
  tenants: readonly string[];
  describe: () => Omit<WorkerPresence, "tenant">;
  /** Say in Postgres that this worker lives. */
  renewLeases: () => Promise<unknown>;
  /** Told at once, not at the next beat. */
  draining: AbortSignal;
  stop: AbortSignal;
};

/**
 * Says every two seconds that this worker lives, and at the end that it leaves. While it cannot be said in Redis, the
 * leases are renewed as often: others take a worker for dead that is silent in both places.
 */
export async function keepPresence(deps: WorkerDeps, config: PresenceConfig): Promise<void> {
  const { tenants, describe, renewLeases, draining, stop } = config;
  while (!stop.aborted) {
    const told_draining = draining.aborted;
    try {
      for (const tenant of tenants) await deps.signal.presence.announce({ ...describe(), tenant });
    } catch (error) {
      if (!(error instanceof SignalUnavailableError)) deps.logger.error({ err: error }, "announcement_failed");
      await renewLeases();
    }
    await pause(presence_beat_ms, told_draining ? stop : AbortSignal.any([stop, draining]));
  }
  await hint(deps.observe, "farewell", async () => {
    for (const tenant of tenants) await deps.signal.presence.withdraw({ ...describe(), tenant });
  });
}
