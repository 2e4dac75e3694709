import { DatabaseTimeoutError, isUnavailable } from "@atlasqueue/core";
import { isLocked, pause } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";
import type { LazyAbort } from "./lazy-abort.ts";

const retry_ms = 250;
/** So often in a row a question may be late while the database answers others: it never will be answered. */
const slow_max = 3;

/**
 * Ask the database for a handler until it answers. Rejects when the attempt is over, whether or not its handler heeds
 * that, and with any error but that the database is away, or has the job locked for another: it is not away while it
 * answers others.
 *
 * @example
 * const found = await patiently(deps, "steps", lazy, () => findJobSteps(deps, tenant, id));
 */
export async function patiently<T>(
  { database, observe }: Pick<WorkerDeps, "observe"> & { database: { pulse: { answered_at: number } } },
  during: string,
  lazy: LazyAbort,
  ask: () => Promise<T>,
): Promise<T> {
  for (let slow = 0; ;) {
    if (lazy.reason) throw lazy.reason;
    const asked_at = performance.now();
    try {
      return await ask();
    } catch (error) {
      // One that is only `not_applied` waited for a connection, or a lock.
      const was_sent = error instanceof DatabaseTimeoutError && error.outcome === "unknown";
      slow = was_sent && database.pulse.answered_at > asked_at ? slow + 1 : 0;
      if (!isUnavailable(error) || slow === slow_max) throw error;
      if (!isLocked(error)) observe({ event: "database_unavailable", during, error: String(error) });
      await pause(retry_ms);
    }
  }
}
