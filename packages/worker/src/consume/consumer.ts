import { setImmediate as nextTurn } from "node:timers/promises";
import { isUnavailable } from "@atlasqueue/core";
import {
  claim,
  claimReady,
  pause,
  SignalUnavailableError,
  wakeMark,
  type Claimer,
  type Lease,
  type LeaseReturns,
  readyAmong,
  type Sweeper,
} from "@atlasqueue/core/internal";
import type { RunningJobs } from "./running-jobs.ts";
import type { WorkerDeps } from "../deps.ts";
import type { Served } from "./served.ts";
import type { Starter } from "./starter.ts";

export type ConsumerConfig = {
  /** Each claim is for one tenant, named with it. */
  claimer: Omit<Claimer, "tenant">;
  served: Served;
  poll_timeout_seconds: number;
};

/** While Redis is away, how long an idle worker rests between two looks into Postgres; half of it is random. */
const poll_ms_max = 1_000;
const rest_after_outage_ms = 500;
/** While all queues rest; it ends sooner when one no longer does. */
const rest_ms_max = 60_000;
/** Claims under way at once: while one is on its way back, the next is made. */
const claims_max = 2;

type Parts = {
  deps: WorkerDeps;
  running: RunningJobs;
  sweeper: Sweeper;
  returns: LeaseReturns;
  starter: Starter;
};

/**
 * Keeps the free slots filled: takes as many ids as there are slots, claims them in one statement, starts each handler
 * as its lease comes back. With nothing ready it waits on the signal; without a signal it looks into Postgres.
 */
export async function consume(parts: Parts, config: ConsumerConfig, stop: AbortSignal): Promise<void> {
  const { deps, running, returns, starter } = parts;
  const claim_jobs_max = Math.ceil(running.concurrency / claims_max);
  const claims = new Set<Promise<void>>();
  const { served } = config;
  const nextIds = idSource(parts, config, stop);

  const claimed = async (tenant: string, claiming: (claimer: Claimer) => Promise<Lease[]>): Promise<number> => {
    const asked_at = performance.now();
    const leases = await claiming({ ...config.claimer, tenant });
    await starter(leases, asked_at);
    return leases.length;
  };

  /** Claim and start, keeping slots free for what comes back. */
  const claimAll = async ({ tenant, ids }: NextIds): Promise<void> => {
    const giveUpRoom = running.reserve(ids.length);
    try {
      await claimed(tenant, (claimer) => claim(deps, ids, claimer));
    } catch (error) {
      await restAfter(deps, error, stop);
    } finally {
      giveUpRoom();
    }
  };

  while (!stop.aborted) {
    if (served.open().length === 0) {
      await pause(rest_ms_max, AbortSignal.any([stop, served.changed()]));
      continue;
    }
    const room = Math.min(running.free(), claim_jobs_max);
    if (room === 0 || claims.size === claims_max || returns.full()) {
      await Promise.race([running.change(), ...claims, pause(1_000, stop)]);
      // Handlers that end in the same turn of the event loop share the next claim.
      await nextTurn();
      continue;
    }
    try {
      const next = await nextIds(room);
      const claiming = claimAll(next).finally(() => claims.delete(claiming));
      claims.add(claiming);
      // Fewer than asked for: nothing is waiting, so there is nothing to overlap with.
      if (next.ids.length < room) await claiming;
    } catch (error) {
      if (error instanceof SignalUnavailableError)
        await pollPostgres(deps, error, stop, () => claimOldest(parts, config, claimed));
      else await restAfter(deps, error, stop);
    }
  }
  await Promise.all(claims);
}

type NextIds = { tenant: string; ids: string[] };
const none: NextIds = { tenant: "", ids: [] };

/** Tenants looked at one after another before waiting for all of them at once. */
const looks_max = 8;

/** Ids of one tenant to claim, at most as many as asked for; none when none came in time. */
function idSource({ deps, sweeper }: Parts, { served, poll_timeout_seconds }: ConsumerConfig, stop: AbortSignal) {
  let turn = 0;
  /** Each queue comes first in turn, so that a full one does not starve the others. */
  const inTurn = <T>(queues: readonly T[]): T[] => {
    const first = turn % queues.length;
    return [...queues.slice(first), ...queues.slice(0, first)];
  };
  return async (ids_max: number): Promise<NextIds> => {
    turn += 1;
    for (const tenant of served.tenants().slice(0, looks_max)) {
      const queues = inTurn(served.queuesOf([tenant]));
      if (queues.length === 0) return none;
      const ids = await deps.signal.take(queues, ids_max);
      served.lookedAt(tenant);
      if (ids.length > 0) return { tenant, ids };
    }
    const tenants = served.tenants();
    const queues = tenants.length === 1 ? inTurn(served.queuesOf(tenants)) : served.queuesOf(tenants);
    if (queues.length === 0) return none;
    const ended = AbortSignal.any([stop, served.changed()]);
    const woken = await deps.signal.wait(queues, poll_timeout_seconds * 1_000, ended);
    if (!woken) {
      if (!ended.aborted) sweeper.nudge();
      return none;
    }
    // What is behind it is looked at next.
    served.hasJobs(woken.queue.tenant);
    return { tenant: woken.queue.tenant, ids: woken.id === wakeMark ? [] : [woken.id] };
  };
}

/** Without a signal: the oldest jobs of each tenant that has ready ones, in turn, until the slots are full. */
async function claimOldest(
  { deps, running }: Parts,
  { served }: ConsumerConfig,
  claimed: (tenant: string, claiming: (claimer: Claimer) => Promise<Lease[]>) => Promise<number>,
): Promise<number> {
  await served.discover();
  const tenants = served.tenants();
  const [only] = tenants;
  const ready =
    tenants.length === 1 && only !== undefined
      ? [only]
      : new Set((await readyAmong(deps, served.queuesOf(tenants))).map(({ tenant }) => tenant));
  let total = 0;
  for (const tenant of ready) {
    if (running.free() === 0) break;
    served.lookedAt(tenant);
    const queues = served.open();
    total += await claimed(tenant, (claimer) => claimReady(deps, running.free(), { ...claimer, queues }));
  }
  return total;
}

async function pollPostgres(
  deps: WorkerDeps,
  reason: SignalUnavailableError,
  stop: AbortSignal,
  claimSome: () => Promise<number>,
): Promise<void> {
  try {
    if ((await claimSome()) > 0) return;
  } catch (error) {
    return restAfter(deps, error, stop);
  }
  deps.observe({ event: "signal_failed", during: "wait", error: reason.message });
  await pause(poll_ms_max * (0.5 + Math.random() / 2), stop);
}

export function reportTrouble(deps: WorkerDeps, error: unknown): void {
  if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during: "claim", error: String(error) });
  else deps.logger.error({ err: error }, "claim_failed");
}

async function restAfter(deps: WorkerDeps, error: unknown, stop: AbortSignal): Promise<void> {
  reportTrouble(deps, error);
  await pause(rest_after_outage_ms * (0.5 + Math.random()), stop);
}
