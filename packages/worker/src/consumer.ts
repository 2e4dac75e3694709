import { setImmediate as nextTurn } from "node:timers/promises";
import {
  aboutLease,
  claim,
  claimReady,
  isUnavailable,
  pause,
  SignalUnavailableError,
  wakeMark,
  type Claimer,
  type Lease,
  type LeaseReturns,
  type QueueRef,
} from "@atlasqueue/core";
import type { Handler } from "./handler.ts";
import { runJob, type Surroundings } from "./run-job.ts";
import type { RunningJob, RunningJobs } from "./running-jobs.ts";
import type { Settler } from "./settler.ts";
import type { WorkerDeps } from "./deps.ts";
import { startJobs } from "./start-jobs.ts";
import type { Sweeper } from "./sweep/sweeper.ts";

export type ConsumerConfig = {
  claimer: Claimer;
  queues: QueueRef[];
  handlers: ReadonlyMap<string, Handler>;
  poll_timeout_seconds: number;
};

/** While Redis is away, how long an idle worker rests between two looks into Postgres; half of it is chance. */
const poll_ms_max = 1_000;
const rest_after_outage_ms = 500;
/** Claims under way at once: while one is on its way back, the next is taken. */
const claims_max = 2;

type Parts = {
  deps: WorkerDeps;
  running: RunningJobs;
  settler: Settler;
  sweeper: Sweeper;
  returns: LeaseReturns;
} & Surroundings;

/**
 * Keeps the free slots filled: takes as many ids as there are slots, claims them in one statement, starts each handler
 * as its lease comes back. With nothing there it waits on the signal; without a signal it looks into Postgres.
 */
export async function consume(parts: Parts, config: ConsumerConfig, stop: AbortSignal): Promise<void> {
  const { deps, running, returns } = parts;
  const claim_jobs_max = Math.ceil(running.concurrency / claims_max);
  const claims = new Set<Promise<void>>();
  const nextIds = idSource(parts, config, stop);

  const { lease_seconds } = config.claimer;
  const startOne = (lease: Lease) => void start(parts, config, running.add(lease));
  const claimed = async (claiming: (claimer: Claimer) => Promise<Lease[]>): Promise<number> => {
    const asked_at = performance.now();
    const leases = await claiming(config.claimer);
    await startJobs({ deps, returns, lease_seconds, start: startOne, stop }, leases, asked_at);
    return leases.length;
  };

  /** Claim and start, while the slots are kept free for what comes back. */
  const claimAll = async (ids: string[]): Promise<void> => {
    const freeSlots = running.reserve(ids.length);
    try {
      await claimed((claimer) => claim(deps, ids, claimer));
    } catch (error) {
      await tellTrouble(deps, error, stop);
    } finally {
      freeSlots();
    }
  };

  while (!stop.aborted) {
    const room = Math.min(running.free(), claim_jobs_max);
    if (room === 0 || claims.size === claims_max || returns.full()) {
      await Promise.race([running.change(), ...claims, pause(1_000, stop)]);
      // Handlers that end in the same turn of the event loop share the next claim.
      await nextTurn();
      continue;
    }
    try {
      const ids = await nextIds(room);
      const claiming = claimAll(ids).finally(() => claims.delete(claiming));
      claims.add(claiming);
      // Fewer than asked for: nothing waits, so there is nothing to overlap with.
      if (ids.length < room) await claiming;
    } catch (error) {
      if (error instanceof SignalUnavailableError)
        await pollPostgres(deps, error, stop, () => claimed((claimer) => claimReady(deps, running.free(), claimer)));
      else await tellTrouble(deps, error, stop);
    }
  }
  await Promise.all(claims);
}

/** Ids to claim, at most as many as asked for; none when the wait for one was in vain. */
function idSource({ deps, sweeper }: Parts, config: ConsumerConfig, stop: AbortSignal) {
  let first = 0;
  /** Each queue comes first in turn, so that a full one does not starve the others. */
  const queuesInTurn = (): QueueRef[] => {
    first = (first + 1) % config.queues.length;
    return [...config.queues.slice(first), ...config.queues.slice(0, first)];
  };
  return async (ids_max: number): Promise<string[]> => {
    const queues = queuesInTurn();
    const ids = await deps.signal.take(queues, ids_max);
    if (ids.length > 0) return ids;
    const woken = await deps.signal.wait(queues, config.poll_timeout_seconds * 1_000, stop);
    if (!woken) sweeper.nudge();
    return woken && woken.id !== wakeMark ? [woken.id] : [];
  };
}

async function pollPostgres(
  deps: WorkerDeps,
  reason: SignalUnavailableError,
  stop: AbortSignal,
  claimOldest: () => Promise<number>,
): Promise<void> {
  try {
    if ((await claimOldest()) > 0) return;
  } catch (error) {
    return tellTrouble(deps, error, stop);
  }
  deps.observe({ event: "signal_failed", during: "wait", error: reason.message });
  await pause(poll_ms_max * (0.5 + Math.random() / 2), stop);
}

async function start(parts: Parts, config: ConsumerConfig, job: RunningJob): Promise<void> {
  const { deps, running, settler } = parts;
  const { lease, abort } = job;
  const about = aboutLease(lease);
  const started = performance.now();
  deps.observe({ event: "handler_start", ...about });
  const outcome = await runJob(lease, config.handlers.get(lease.type), abort, parts);
  const duration_ms = performance.now() - started;
  if (outcome.kind === "succeeded") deps.observe({ event: "handler_done", ...about, duration_ms });
  else deps.observe({ event: "handler_error", ...about, duration_ms, error: outcome.error });
  if (!running.holds(job)) return;
  running.handlerEnded(job);
  settler.settle(job, outcome);
}

async function tellTrouble(deps: WorkerDeps, error: unknown, stop: AbortSignal): Promise<void> {
  if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during: "claim", error: String(error) });
  else deps.logger.error({ err: error }, "claim_failed");
  await pause(rest_after_outage_ms * (0.5 + Math.random()), stop);
}
