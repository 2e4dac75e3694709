import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { BackoffPolicy, Retention } from "@atlasqueue/core";
import {
  clearAway,
  createFollowUps,
  createRedisOwner,
  createSweeper,
  defaultTenant,
  sharedRedis,
} from "@atlasqueue/core/internal";
import {
  aboutLease,
  allTenants,
  announce,
  type Claimer,
  createClaimSize,
  createLeaseReleaser,
  defaultRetention,
  type Lease,
} from "@atlasqueue/core/internal/worker";
import { createRunLoop, newStages, until, type JobSource, type Run } from "@atlasqueue/runtime";
import { watchConsuming } from "./consume/consume-watch.ts";
import { createConsumer } from "./consume/consumer.ts";
import type { Sinks } from "./run/context.ts";
import type { WorkerDeps } from "./deps.ts";
import { untilEmpty } from "./consume/drain.ts";
import { handlersByType, type Handler, type HandlerMiddleware } from "./handler.ts";
import { dueOf, forgetSettled, leaseExtender, renewAtOnce } from "./hold/lease-keeper.ts";
import { createChildPool, type ChildPoolConfig } from "./isolate/child-pool.ts";
import { keepPresence } from "./hold/presence.ts";
import { createProgressReporter } from "./run/progress-reporter.ts";
import { AbandonedError, runningJobs, type RunningJob } from "./consume/running-jobs.ts";
import { createServed } from "./consume/served.ts";
import { slotsOf, type Queues } from "./consume/slots.ts";
import { createVitals } from "./hold/vitals.ts";
import { createSettler } from "./hold/settler.ts";
import { createAttempts } from "./run/attempts.ts";
import { createSources } from "./run/sources.ts";

export type WorkerConfig = {
  handlers: readonly Handler[];
  /** Around each handler, the first outermost. Of one with `isolate` it runs here, and the handler in its process. Default: none. */
  middleware?: readonly HandlerMiddleware[] | undefined;
  /**
   * Queues this worker serves, for each of its tenants: names, whose handlers share `concurrency`, or names with slots of
   * their own, 1 to 10,000, as `{ mail: 20, reports: 2 }`, without `concurrency`. Default: the queue "default".
   */
  queues?: Queues;
  /**
   * Only jobs of these types, 1 to 100; those of others are left to other workers. Default: all. Many waiting jobs of other
   * types make it slower to find its own: give them a queue of their own then.
   */
  types?: readonly string[] | undefined;
  /** Whose queues: `*` for all tenants, served fairly. Default: the default tenant's. */
  tenants?: readonly string[] | "*";
  /** Handlers at once, in all queues. Default 10. */
  concurrency?: number | undefined;
  /** How long a lease holds without a renewal; a crashed worker's job waits this long. Default 30. */
  leaseSeconds?: number;
  /** How long one wait on the signal lasts. Default 5. */
  pollTimeoutSeconds?: number;
  backoff?: BackoffPolicy;
  /**
   * A job whose type has no handler here is released, as another worker may have one, until it has been ready for this
   * long. Then it fails. 0 to a day, default 300.
   */
  unknownTypeSeconds?: number;
  /** Bounds for the processes that run handlers with `isolate`. Default: one per processor. */
  isolation?: ChildPoolConfig;
  /** How long finished jobs are kept. Default: a week, and thirty days for dead ones. */
  retention?: Retention;
  /** How long the results of succeeded jobs are kept. Default: as long as the jobs. */
  resultTtlSeconds?: number | undefined;
  /** Default: made from the host, the process and a random part. */
  workerId?: string;
};

export type Worker = {
  id: string;
  /**
   * Stop taking jobs, let the running handlers finish until the deadline, then abort them and give their jobs back
   * with no attempt spent. `deadlineMs` is 25,000 by default; 0 aborts them at once. Resolves when nothing is held, within
   * 5 s of the deadline. Never rejects. If called again, the first call's deadline stands.
   */
  stop(options?: { deadlineMs?: number }): Promise<void>;
  /**
   * Resolves if the worker begins to stop by itself, with the reason in one line: another database uses the same keys of
   * this Redis, and had it first, or, of `createWorker`, PostgreSQL or the database cannot be used.
   */
  refused: Promise<string>;
  /**
   * Resolves when nothing is left to do in its queues: no job is ready, none will be within `dueWithinSeconds`
   * (default 0), and none runs here. The worker goes on; `stop` it then.
   */
  empty(options?: { dueWithinSeconds?: number }): Promise<void>;
  /** How long it has taken no jobs although it should; 0 while all is well. */
  stuckForMs(): number;
  /**
   * How long the system has not let it start a process for handlers with `isolate`, without which it takes no jobs for
   * them; 0 while all is well, and for the first ten seconds.
   */
  withoutProcessForMs(): number;
};

const unsettled_max = 2_000;
/** As in `@atlasqueue/client`. */
const stop_ms_default = 25_000;

/**
 * Run a worker in this process.
 *
 * @example
 * const worker = startWorker({ database, signal, observe, logger }, { handlers: [sendEmail], concurrency: 20 });
 * process.once("SIGTERM", () => worker.stop({ deadlineMs: 25_000 }));
 */
export function startWorker(deps: WorkerDeps, config: WorkerConfig): Worker {
  const id = config.workerId ?? newWorkerId();
  const tenants = config.tenants ?? [defaultTenant];
  const { names, slots, concurrency } = slotsOf(config);
  const served = createServed(deps, tenants, names);
  const lease_seconds = config.leaseSeconds ?? 30;
  const backoff = config.backoff ?? { baseSeconds: 5, maxSeconds: 3_600, jitterMaxSeconds: 2 };
  const unknown_type_seconds = config.unknownTypeSeconds ?? 300;
  const handlers = handlersByType(config.handlers);

  const stages = newStages();
  const { draining, stopped } = stages;
  const running = runningJobs(concurrency, unsettled_max, slots && { of: slots, setFull: served.setFull });
  const followUps = createFollowUps(deps);
  const sweeper = createSweeper({ ...deps, followUps }, draining.signal, tenants === "*" ? served.discover : undefined);
  const children = createChildPool(config.isolation ?? {}, {
    output: (pid, stream, line) => deps.logger.warn({ event: "process_output", pid, stream, line }, "process_output"),
    notStarted: ({ message }, retry_in_ms) =>
      deps.observe({ event: "process_not_started", error: message, retry_in_ms }),
    startedAgain: served.resume,
  });
  const stuckForMs = () => (draining.signal.aborted ? 0 : watch.stuckForMs());
  const withoutProcessForMs = () => (draining.signal.aborted ? 0 : children.withoutProcessForMs());
  const sinks: Sinks = {
    logger: deps.logger,
    progress: createProgressReporter(deps, stopped.signal),
    sources: createSources({ deps, running, followUps }),
    output: (lease, stream, line) => deps.observe({ event: "handler_output", ...aboutLease(lease), stream, line }),
  };
  const returns = createLeaseReleaser(deps);
  const claimer: Omit<Claimer, "tenant"> = {
    queues: names,
    types: config.types,
    worker_id: id,
    lease_seconds,
    size: createClaimSize(),
    throttled: followUps.throttled,
    unanswered: returns.unanswered,
    put_back: (jobs) => void announce(deps, jobs, "front"),
  };
  const poll_timeout_seconds = config.pollTimeoutSeconds ?? 5;
  const watch = watchConsuming(running, poll_timeout_seconds);
  const settler = createSettler({ ...deps, followUps }, running, backoff, {
    claimer,
    stop: draining.signal,
    start: (next, asked_at) => start([...next.keys()], asked_at, next),
  });
  const start = (leases: Lease[], asked_at: number, runs?: ReadonlyMap<Lease, Run>): void =>
    void loop.start(running.claimed(leases, dueOf(lease_seconds, asked_at), runs), asked_at);
  const source: JobSource<RunningJob> = {
    ...settler,
    ...leaseExtender(deps, running, lease_seconds),
    ...createConsumer(
      { deps, running, watch, returns, start },
      { claimer, served, poll_timeout_seconds, own_slots: slots !== undefined },
      draining.signal,
    ),
    release(jobs, why, later = false) {
      for (const job of jobs) running.abandon(job, new AbandonedError(why));
      return returns.release(
        jobs.map(({ lease }) => lease),
        { later },
      );
    },
  };
  const vitals = createVitals();
  const attempts = createAttempts({
    jobEnded: vitals.jobEnded,
    deps,
    served,
    handlers,
    unknown_type_seconds,
    middleware: config.middleware ?? [],
    children,
    sinks,
    tracing: deps.tracing,
  });
  const lease_ms = lease_seconds * 1_000;
  const loop = createRunLoop({ held: running, source, attempts, lease_ms, stages, tracing: deps.tracing });
  const renewNoMore = renewAtOnce(deps, running, loop.wake);
  const keeping = Promise.all([
    forgetSettled(deps, running, stopped.signal),
    keepPresence(deps, {
      tenants: tenants === "*" ? [allTenants] : tenants,
      describe: () => ({
        id,
        host: hostname(),
        pid: process.pid,
        queues: names,
        handlers: [...handlers.keys()],
        concurrency,
        active: running.handling(),
        state: draining.signal.aborted ? "draining" : stuckForMs() + withoutProcessForMs() > 0 ? "stuck" : "running",
        lease_seconds,
        ...vitals.read(),
      }),
      draining: draining.signal,
      stop: stopped.signal,
    }),
  ]);
  const refused = Promise.withResolvers<string>();
  const endRefused = () => {
    refused.resolve(sharedRedis);
    void stopOnce(stop_ms_default);
  };
  const sweeping = Promise.all([
    createRedisOwner(deps).run(draining.signal, endRefused),
    sweeper.run(),
    clearAway(deps, config.retention ?? defaultRetention, config.resultTtlSeconds, draining.signal),
  ]);
  deps.observe({ event: "worker_started", worker_id: id, queues: names, handlers: [...handlers.keys()], concurrency });

  const stop = async (wanted_ms: number): Promise<void> => {
    deps.observe({ event: "worker_draining", worker_id: id, running: running.size(), deadline_ms: wanted_ms });
    const { released, last_ms } = await loop.stop(wanted_ms);
    renewNoMore();
    const ended = Promise.all([children.close(), loop.ended, keeping, sweeping, followUps.stop()]);
    await until(ended, last_ms - performance.now());
    await returns.close(Math.max(0, last_ms - performance.now()));
    deps.observe({ event: "worker_stopped", worker_id: id, released });
  };

  let stopping: Promise<void> | undefined;
  const stopOnce = (deadline_ms: number) => (stopping ??= stop(deadline_ms));
  return {
    id,
    refused: refused.promise,
    stuckForMs,
    withoutProcessForMs,
    stop: ({ deadlineMs = stop_ms_default } = {}) => stopOnce(deadlineMs),
    empty: ({ dueWithinSeconds: due_within_seconds = 0 } = {}) =>
      untilEmpty(deps, served, { queues: names, worker_id: id, due_within_seconds }, draining.signal),
  };
}

export const newWorkerId = () => `${hostname()}-${process.pid}-${randomBytes(3).toString("hex")}`;
