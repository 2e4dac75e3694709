import type { Overview } from "@atlasqueue/contract";
import { forTenant } from "../database/pool/fair-share.ts";
import { createReadiness } from "../database/server/readiness.ts";
import type { Deps } from "../deps.ts";
import { dueSummaryInTime } from "../maintenance/due-summary.ts";
import { announcedWorkers } from "../queues/workers.ts";
import { recentDeaths } from "../rollups/series.ts";
import type { Signal } from "../signal/signal.ts";
import type { SeenWorker } from "../signal/presence.ts";
import { problemsIn } from "./problems.ts";
import { summaryOf } from "./summary.ts";

export type OverviewReader = (tenant: string) => Promise<Overview>;

/**
 * How a tenant's system is, and what is wrong with it: what `doctor` looks at, as far as it can be asked every few
 * seconds. Answers without Redis too.
 *
 * @example
 * const overviewOf = createOverview({ database, signal, observe });
 * const { problems } = await overviewOf("default");
 */
export function createOverview(deps: Deps & { signal: Signal }): OverviewReader {
  const readiness = createReadiness(deps);
  const ownOf = (tenant: string) => ({ database: forTenant(deps.database, { tenant }) });
  // Beside the summary, which takes longer than all of these: each statement at once would open a connection of its own.
  const askBeside = async (tenant: string) => {
    const checks = await readiness();
    const deaths = await recentDeaths(ownOf(tenant), tenant);
    const { due_in_ms, lease_check_in_ms } = await dueSummaryInTime(deps);
    return { checks, deaths, sweep_late_ms: Math.max(0, -(due_in_ms ?? 0), -(lease_check_in_ms ?? 0)) };
  };

  return async (tenant) => {
    const [{ checks, deaths, sweep_late_ms }, summary, workers] = await Promise.all([
      askBeside(tenant),
      summaryOf(ownOf(tenant), tenant),
      announcedWorkers(deps.signal, tenant),
    ]);
    const [oldest] = summary.waiting;
    return {
      at: summary.at.toISOString(),
      checks,
      counts: summary.counts,
      queues: summary.queues,
      paused_queues: summary.paused_queues,
      oldest_queued: oldest ? { queue: oldest.queue, at: oldest.since.toISOString() } : null,
      workers: workers ? sumOf(workers) : null,
      problems: problemsIn({ ...checks, summary, deaths, workers, sweep_late_ms }),
    };
  };
}

function sumOf(workers: readonly SeenWorker[]): NonNullable<Overview["workers"]> {
  const taking = workers.filter(({ state }) => state !== "draining");
  return {
    count: workers.length,
    slots: taking.reduce((sum, { concurrency }) => sum + concurrency, 0),
    active: taking.reduce((sum, { active }) => sum + active, 0),
    stuck: workers.filter(({ state }) => state === "stuck").length,
  };
}
