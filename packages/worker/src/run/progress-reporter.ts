import { isUnavailable } from "@atlasqueue/core";
import { pause, reportProgress, type Lease } from "@atlasqueue/core/internal";
import type { Json } from "@atlasqueue/contract";
import type { WorkerDeps } from "../deps.ts";

const period_ms = 1_000;
const batch_max = 1_000;

/**
 * Writes the jobs' progress to the database: the newest of each, all in one statement, at most once a second. It does
 * not wait for a database that is away; a job's next progress replaces this one anyway. That of a job whose row is
 * locked is written later.
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
          for (const { lease, progress } of await reportProgress(deps, reports.slice(at, at + batch_max)))
            if (!newest.has(lease)) newest.set(lease, progress);
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
    // After this turn of the event loop, so that many calls in one loop are one update.
    setImmediate(() => void flush());
  };
}
