import { isUnavailable } from "@atlasqueue/core";
import { pause, reportProgress, type Lease } from "@atlasqueue/core/internal";
import type { Json } from "@atlasqueue/contract";
import type { WorkerDeps } from "../deps.ts";

const period_ms = 1_000;
const batch_max = 1_000;

/**
 * Brings to the database how far the jobs are: the newest word of each, all in one statement, once a second at most. A
 * database that is away is not waited for; the next word of a job says all that this one did.
 */
export function createProgressReporter(deps: WorkerDeps, stop: AbortSignal) {
  let newest = new Map<Lease, Json>();
  let flushing = false;

  const flush = async (): Promise<void> => {
    while (newest.size > 0 && !stop.aborted) {
      const reports = [...newest].map(([lease, progress]) => ({ lease, progress }));
      newest = new Map();
      try {
        for (let at = 0; at < reports.length; at += batch_max)
          await reportProgress(deps, reports.slice(at, at + batch_max));
      } catch (error) {
        if (!isUnavailable(error)) deps.logger.error({ err: error }, "progress_failed");
      }
      await pause(period_ms, stop);
    }
    flushing = false;
  };

  return (lease: Lease, progress: Json): void => {
    newest.set(lease, progress);
    if (flushing) return;
    flushing = true;
    // After this turn of the event loop, so that what is said in one loop is one word.
    setImmediate(() => void flush());
  };
}
