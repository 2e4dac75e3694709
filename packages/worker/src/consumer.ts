import {
  aboutLease,
  announce,
  claim,
  claimReady,
  isUnavailable,
  release,
  SignalUnavailableError,
  wakeMark,
  type Claimer,
  type Lease,
  type QueueRef,
} from "@atlasqueue/core";
import type { Handler } from "./handler.ts";
import { pause } from "./pause.ts";
import { runJob } from "./run-job.ts";
import type { RunningJob, RunningJobs } from "./running-jobs.ts";
import type { Settler } from "./settler.ts";
import type { WorkerDeps } from "./start-worker.ts";
import type { Sweeper } from "./sweeper.ts";

export type ConsumerConfig = {
  claimer: Claimer;
  queues: QueueRef[];
  handlers: ReadonlyMap<string, Handler>;
  poll_timeout_seconds: number;
};

/** While Redis is away, how long an idle worker rests between two looks into Postgres; half of it is chance. */
const poll_ms_max = 1_000;
const rest_after_outage_ms = 500;

/**
 * Keeps the free slots filled: takes as many ids as there are slots, claims them in one statement, starts each handler
 * as its lease comes back. With nothing there it waits on the signal; without a signal it looks into Postgres.
 */
export async function consume(
  parts: { deps: WorkerDeps; running: RunningJobs; settler: Settler; sweeper: Sweeper },
  config: ConsumerConfig,
  stop: AbortSignal,
): Promise<void> {
  const { deps, running, settler, sweeper } = parts;
  const { claimer } = config;
  let first = 0;

  /** Each queue comes first in turn, so that a full one does not starve the others. */
  const queuesInTurn = (): QueueRef[] => {
    first = (first + 1) % config.queues.length;
    return [...config.queues.slice(first), ...config.queues.slice(0, first)];
  };

  const nextLeases = async (): Promise<Lease[]> => {
    const queues = queuesInTurn();
    try {
      let ids = await deps.signal.take(queues, running.free());
      if (ids.length === 0) {
        const woken = await deps.signal.wait(queues, config.poll_timeout_seconds * 1_000, stop);
        if (woken.length === 0) sweeper.nudge();
        ids = woken.filter((id) => id !== wakeMark);
      }
      return await claim(deps, ids, claimer);
    } catch (error) {
      if (!(error instanceof SignalUnavailableError)) throw error;
      return pollPostgres(error);
    }
  };

  const pollPostgres = async (error: SignalUnavailableError): Promise<Lease[]> => {
    const leases = await claimReady(deps, running.free(), claimer);
    if (leases.length === 0) {
      deps.observe({ event: "signal_failed", during: "wait", error: error.message });
      await pause(poll_ms_max * (0.5 + Math.random() / 2), stop);
    }
    return leases;
  };

  const start = async (job: RunningJob): Promise<void> => {
    const { lease, abort } = job;
    const about = aboutLease(lease);
    const started = performance.now();
    deps.observe({ event: "handler_start", ...about });
    const outcome = await runJob(lease, config.handlers.get(lease.type), abort, deps.logger);
    const duration_ms = performance.now() - started;
    if (outcome.kind === "succeeded") deps.observe({ event: "handler_done", ...about, duration_ms });
    else deps.observe({ event: "handler_error", ...about, duration_ms, error: outcome.error });
    if (!running.holds(job)) return;
    running.handlerEnded(job);
    settler.settle(job, outcome);
  };

  while (!stop.aborted) {
    if (running.free() === 0) {
      await Promise.race([running.change(), pause(1_000, stop)]);
      continue;
    }
    try {
      const leases = await nextLeases();
      if (stop.aborted) await announce(deps, await release(deps, leases), "front");
      else for (const lease of leases) void start(running.add(lease));
    } catch (error) {
      if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during: "claim", error: String(error) });
      else deps.logger.error({ err: error }, "claim_failed");
      await pause(rest_after_outage_ms * (0.5 + Math.random()), stop);
    }
  }
}
