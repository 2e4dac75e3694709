import { isUnavailable } from "@atlasqueue/core";
import { extendLeases, type Lease } from "@atlasqueue/core/internal/worker";
import type { Json } from "@atlasqueue/contract";
import { createTrigger } from "@atlasqueue/runtime";
import type { WorkerDeps } from "../deps.ts";

const period_ms = 1_000;
const batch_max = 1_000;

/**
 * Writes the jobs' progress to the database: the newest of each, all in one statement, at most once a second, which renews
 * their leases. It does
 * not wait for a database that is away; a job's next progress replaces this one anyway. That of a job whose row is
 * locked is written later.
 */
export function createProgressReporter(deps: WorkerDeps, lease_seconds: number, stop: AbortSignal) {
  let newest = new Map<Lease, Json>();
  const flush = async (): Promise<void> => {
    const reports = [...newest].map(([lease, progress]) => ({ lease, progress }));
    newest = new Map();
    try {
      for (let from = 0; from < reports.length; from += batch_max) {
        const leases = reports.slice(from, from + batch_max).map(({ lease }) => lease);
        const { locked } = await extendLeases(deps, leases, lease_seconds, {
          progressOf: (at) => reports[from + at]?.progress,
        });
        for (const { lease, progress } of reports)
          if (locked.includes(lease) && !newest.has(lease)) report(lease, progress);
      }
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
