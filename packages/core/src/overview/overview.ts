import type { Overview } from "@atlasqueue/contract";
import { onBehalfOf } from "../database/pool/on-behalf-of.ts";
import { createReadiness } from "../database/server/readiness.ts";
import type { Deps } from "../deps.ts";
import { outlookInTime } from "../maintenance/outlook.ts";
import { pause } from "../pause.ts";
import { recentDeaths } from "../rollups/series.ts";
import { SignalUnavailableError, type Signal } from "../signal/signal.ts";
import type { SeenWorker } from "../signal/presence.ts";
import { driftingTenants } from "./compare.ts";
import { kept } from "./kept.ts";
import { problemsIn } from "./problems.ts";
import { createSummaries } from "./in-turns.ts";

export type OverviewReader = (tenant: string) => Promise<Overview>;

/** Comparing counts reads every job: only now and then. */
const compared_ms = 60_000;
/** How late the sweep is, all tenants are told alike: it is asked for once in this time, and not waited for longer than that. */
const late_kept_ms = 1_000;
const late_ms_max = 1_000;

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
  const summarize = createSummaries();
  const late = kept(() => lateness(deps), late_kept_ms);
  let compared_at = -Infinity;
  let drifting: ReadonlySet<string> = new Set();

  // Nobody waits for it, and it takes nothing from the answer: what it finds is told with the next one.
  const compare = async (): Promise<void> => {
    if (performance.now() - compared_at < compared_ms) return;
    compared_at = performance.now();
    try {
      drifting = (await driftingTenants(deps)) ?? new Set();
    } catch {
      // The database is away, or has too much to do: the next comparison is a minute away.
    }
  };

  const ownOf = (tenant: string) => ({ database: onBehalfOf(deps.database, { tenant }) });
  // Beside the summary, which takes longer than all of these: each statement at once would open a connection of its own.
  const askBeside = async (tenant: string) => {
    const checks = await readiness();
    return { checks, deaths: await recentDeaths(ownOf(tenant), tenant), sweep_late_ms: await inTime(late()) };
  };

  return async (tenant) => {
    const [{ checks, deaths, sweep_late_ms }, summary, workers] = await Promise.all([
      askBeside(tenant),
      summarize(ownOf(tenant), tenant),
      announced(deps.signal, tenant),
    ]);
    void compare();
    const [oldest] = summary.waiting;
    return {
      at: summary.at.toISOString(),
      checks,
      counts: summary.counts,
      queues: summary.queues,
      paused_queues: summary.paused_queues,
      oldest_queued: oldest ? { queue: oldest.queue, at: oldest.since.toISOString() } : null,
      workers: workers ? sumOf(workers) : null,
      problems: problemsIn({
        ...checks,
        summary,
        deaths,
        workers,
        sweep_late_ms,
        drifted: drifting.has(tenant),
      }),
    };
  };
}

/** Undefined when Redis is away. */
async function announced(signal: Signal, tenant: string): Promise<readonly SeenWorker[] | undefined> {
  return signal.presence.list(tenant).catch((error: unknown) => {
    if (error instanceof SignalUnavailableError) return undefined;
    throw error;
  });
}

/** A sweep's look takes longer where an index is full of dead entries: then it is not known here how late it is. */
async function inTime(late: Promise<number | undefined>): Promise<number> {
  const over = new AbortController();
  const known = await Promise.race([late, pause(late_ms_max, over.signal)]);
  over.abort();
  return known ?? 0;
}

/** How long what is due has waited for a sweep. */
async function lateness(deps: Pick<Deps, "database">): Promise<number> {
  const { due_in_ms = null, lease_check_in_ms = null } = await outlookInTime(deps);
  return Math.max(0, -(due_in_ms ?? 0), -(lease_check_in_ms ?? 0));
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
