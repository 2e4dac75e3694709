import {
  createSpawn,
  limits,
  throughAll,
  type HandlerMiddleware,
  type Job,
  type Json,
  type JsonObject,
  type Tracing,
} from "@atlasqueue/contract";
import {
  abort,
  createRunLoop,
  newStages,
  ownSlots,
  requireBatchRoom,
  requireInteger,
  runAttempt,
  signalOf,
  succeeded,
  unknownType,
  type Attempts,
  type JobSource,
} from "@atlasqueue/runtime";
import { randomKey } from "../idempotency-key.ts";
import { careful, warnOfTrouble, type Observe } from "./events.ts";
import type { Handler, HandlerFunction } from "./handler.ts";
import { heartbeats, report } from "./heartbeats.ts";
import { heldJobs, type HeldJob } from "./held-jobs.ts";
import { createLeasing } from "./leasing.ts";
import type { WorkerCalls, WorkerParts } from "./parts.ts";
import { createRemoteSettler } from "./settler.ts";
import { remoteSources } from "./sources.ts";

export type WorkOptions = {
  /** Shows people which worker holds a job. Default: random. */
  workerId?: string;
  /** Handlers at once, 1 to 1,000. Default 10. For queues with slots of their own, leave it out. */
  concurrency?: number;
  /** How long a lease holds without a renewal, 1 to 3,600; a crashed worker's job waits this long. Default 30. */
  leaseSeconds?: number;
  /** How long one request waits for a job, 0 to 30, and no longer than a third of a lease. Default 20. */
  waitSeconds?: number;
  /**
   * How many jobs of one ordered group may run in one slot, each leased by the ack of the one before it, 1 to 1,000. One
   * request for each job instead of two, for a second at most; then others have their turn. Default 1: none.
   */
  runMax?: number;
  /**
   * A job whose type has no handler here is released with no attempt counted, as another worker may have one. Once it has
   * been ready for this long, 0 to 86,400, it fails. Default 300.
   */
  unknownTypeSeconds?: number;
  /** Only jobs of these types, 1 to 100; those of others are left to other workers. Default: all. */
  types?: readonly string[];
  /** Around each handler, the first outermost. Default: none. */
  middleware?: readonly HandlerMiddleware<Job>[];
  /** Called with what happens. Default: trouble is written with console.warn. */
  observe?: Observe;
  /** Aborting it is `stop()`. */
  signal?: AbortSignal;
};

export type RemoteWorker = {
  readonly id: string;
  /** Slots in use: of handlers that run or are about to, and of runs between two of their jobs. */
  readonly running: number;
  /**
   * Stop leasing and let the running handlers finish. At the deadline (default 25,000 ms) the rest are aborted and
   * their jobs given back, ready at once, with no attempt spent. Resolves once nothing is held, within 5 s of the
   * deadline; never rejects. If called again, the first call's deadline stands.
   */
  stop(options?: { deadlineMs?: number }): Promise<void>;
};

export type WorkHandlers = HandlerFunction<JsonObject> | Handler | readonly Handler[];

const stop_ms_default = 25_000;

/** A queue, or queues with the slots of each. */
export type WorkQueues = string | Readonly<Record<string, number>>;

/** Run the jobs of a queue, or of several, in this process: see `client.work`. Each queue is leased from by itself. */
export function startRemoteWorker(
  calls: WorkerCalls,
  queues: WorkQueues,
  handlers: WorkHandlers,
  options: WorkOptions = {},
  tracing?: Tracing,
): RemoteWorker {
  const slots = typeof queues === "string" ? undefined : ownSlots(queues, options.concurrency, 1_000);
  if (typeof handlers !== "function")
    requireBatchRoom([handlers].flat() as Handler[], slots?.values() ?? [options.concurrency ?? 10]);
  if (!slots) return startOne(calls, queues as string, handlers, options, tracing);
  const id = options.workerId ?? newWorkerId();
  const workers = [...slots].map(([queue, concurrency]) =>
    startOne(calls, queue, handlers, { ...options, workerId: id, concurrency }, tracing),
  );
  return {
    id,
    get running() {
      return workers.reduce((sum, { running }) => sum + running, 0);
    },
    stop: async (given) => void (await Promise.all(workers.map((worker) => worker.stop(given)))),
  };
}

const newWorkerId = () => `remote-${randomKey().slice(0, 12)}`;

function startOne(
  calls: WorkerCalls,
  queue: string,
  handlers: WorkHandlers,
  options: WorkOptions,
  tracing: Tracing | undefined,
): RemoteWorker {
  const { concurrency = 10, waitSeconds = 20, runMax = 1, unknownTypeSeconds = 300, middleware = [] } = options;
  const { leaseSeconds: lease_seconds = limits.lease_seconds_default } = options;
  requireInteger("concurrency", concurrency, 1, 1_000);
  requireInteger("leaseSeconds", lease_seconds, 1, limits.lease_seconds_max);
  requireInteger("waitSeconds", waitSeconds, 0, limits.wait_seconds_max);
  requireInteger("runMax", runMax, 1, 1_000);
  requireInteger("unknownTypeSeconds", unknownTypeSeconds, 0, 86_400);
  const wait_seconds = Math.min(waitSeconds, lease_seconds / 3);
  const find = handlerFinder(handlers);
  const lease_ms = lease_seconds * 1_000;
  const held = heldJobs(concurrency, lease_ms);
  const parts: WorkerParts = {
    calls,
    held,
    observe: careful(options.observe ?? warnOfTrouble),
    tracing,
    worker_id: options.workerId ?? newWorkerId(),
    lease_seconds,
    types: options.types,
    stages: newStages(),
    start: (leased, asked_at_ms, runs) =>
      void loop.start(
        leased.map((one) => held.add(one, runs?.get(one))),
        asked_at_ms,
      ),
  };
  const source: JobSource<HeldJob> = {
    ...createLeasing(parts, { queue, concurrency, wait_seconds }),
    ...heartbeats(parts),
    ...createRemoteSettler(parts),
  };
  const attempts: Attempts<HeldJob> = {
    isUnknown: ({ leased: { job } }) => !find(job.type) && readyMs(job) < unknownTypeSeconds * 1_000,
    async run(mine) {
      const { job } = mine.leased;
      const handler = find(job.type);
      if (!handler) return unknownType(job.type);
      const { spawn, spawned } = createSpawn();
      const progress = (value: Json) => mine.phase === "handling" && report(mine, value, loop.wake);
      const sources = remoteSources(parts, mine);
      const signal = signalOf(mine.abort);
      const context = { job, signal, progress, spawn, ...sources };
      const { payload, type, queue: from, attempts: attempt } = job;
      const call = { job, type, queue: from, attempt, payload, signal };
      const timeout_seconds = job.timeout_seconds ?? handler.options.timeoutSeconds;
      return runAttempt({ timeout_seconds, abort: (reason) => abort(mine.abort, reason) }, async (startClock) => {
        const running = throughAll(middleware, call, () => handler.run(payload, context));
        startClock();
        return succeeded(await running, spawned());
      });
    },
    mayGoOn: ({ leased }) => leased.job.group !== null,
    run_jobs_max: runMax,
    hear: (event, { leased: { job } }) => parts.observe({ event, job }),
    ended() {},
  };
  const loop = createRunLoop({ held, source, attempts, lease_ms, stages: parts.stages, tracing });

  let stopped: Promise<unknown> | undefined;
  const stopOnce = (deadline_ms: number) => (stopped ??= loop.stop(deadline_ms));
  const { signal } = options;
  if (signal?.aborted) void stopOnce(stop_ms_default);
  else signal?.addEventListener("abort", () => void stopOnce(stop_ms_default), { once: true });

  return {
    id: parts.worker_id,
    get running() {
      return held.handling();
    },
    stop: async ({ deadlineMs = stop_ms_default } = {}) => void (await stopOnce(deadlineMs)),
  };
}

/** How long it had been ready when it was leased, by the server's clock. */
const readyMs = ({ started_at, run_at }: Job): number => Date.parse(started_at ?? "") - Date.parse(run_at);

function handlerFinder(given: WorkHandlers): (type: string) => Handler | undefined {
  if (typeof given === "function") {
    const run: Handler["run"] = async (payload, context) => given(payload as JsonObject, context);
    return (type) => ({ type, options: {}, run });
  }
  const handlers = new Map<string, Handler>();
  for (const handler of Array.isArray(given) ? (given as readonly Handler[]) : [given as Handler]) {
    if (handlers.has(handler.type)) throw new TypeError(`two handlers for type ${JSON.stringify(handler.type)}`);
    handlers.set(handler.type, handler);
  }
  if (handlers.size === 0) throw new TypeError("work needs at least one handler");
  return (type) => handlers.get(type);
}
