import { isUnavailable } from "@atlasqueue/core";
import { pause } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";
import type { LazyAbort } from "./lazy-abort.ts";

const retry_ms = 250;

/**
 * Ask the database for a handler until it answers. Rejects when the attempt is over, whether or not its handler heeds
 * that, and with any error but that the database is away.
 *
 * @example
 * const found = await patiently(deps, "steps", lazy, () => findJobSteps(deps, tenant, id));
 */
export async function patiently<T>(
  deps: Pick<WorkerDeps, "observe">,
  during: string,
  lazy: LazyAbort,
  ask: () => Promise<T>,
): Promise<T> {
  for (;;) {
    if (lazy.reason) throw lazy.reason;
    try {
      return await ask();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      deps.observe({ event: "database_unavailable", during, error: String(error) });
      await pause(retry_ms);
    }
  }
}
