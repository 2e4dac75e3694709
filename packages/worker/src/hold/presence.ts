import { hint, pause, presence_beat_ms, SignalUnavailableError, type WorkerPresence } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";

export type PresenceConfig = {
  /** The tenants it serves: it announces itself to each. */
  tenants: readonly string[];
  describe: () => Omit<WorkerPresence, "tenant">;
  /** Show in Postgres that this worker is alive. */
  renewLeases: () => Promise<unknown>;
  /** Announced at once, not at the next beat. */
  draining: AbortSignal;
  stop: AbortSignal;
};

/**
 * Announces every two seconds that this worker is alive, and at the end that it leaves. While Redis is away, leases are
 * renewed as often: a worker silent in both places is presumed dead.
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
