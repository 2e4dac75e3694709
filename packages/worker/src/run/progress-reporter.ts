import { isUnavailable } from "@atlasqueue/core";
import { reportProgress, type Lease } from "@atlasqueue/core/internal/worker";
import type { Json } from "@atlasqueue/contract";
import { createTrigger } from "@atlasqueue/runtime";
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
  const flush = async (): Promise<void> => {
    const reports = [...newest].map(([lease, progress]) => ({ lease, progress }));
    newest = new Map();
    try {
      for (let at = 0; at < reports.length; at += batch_max)
        for (const { lease, progress } of await reportProgress(deps, reports.slice(at, at + batch_max)))
          if (!newest.has(lease)) report(lease, progress);
    } catch (error) {
      if (!isUnavailable(error)) deps.logger.error({ err: error }, "progress_failed");
    }
  };
  const writing = createTrigger(flush, { rest_ms: period_ms, stop });
  const report = (lease: Lease, progress: Json): void => {
    newest.set(lease, progress);
    writing.pull();
  };
  return report;
}
