import {
  createSpawn,
  limits,
  ParkedError,
  type Job,
  type Json,
  type JsonObject,
  type Tracing,
} from "@atlasqueue/contract";
import {
  beginAttempt,
  endAttempt,
  newRun,
  pause,
  runAttempt,
  shouldGoOn,
  succeeded,
  traceReceived,
  unknownType,
  type Ending,
  type Run,
} from "@atlasqueue/runtime";
import { randomKey } from "../idempotency-key.ts";
import type { JobCalls } from "../resources/jobs.ts";
import type { LeaseCalls, LeasedJob } from "../resources/leases.ts";
import type { StepCalls } from "../resources/steps.ts";
import { careful, warnOfTrouble, type Observe } from "./events.ts";
import type { Handler, HandlerFunction } from "./handler.ts";
import { heldJobs, type HeldJob } from "./held-jobs.ts";
import { isLate, keepLease, renewBeforeStart, type KeeperDeps } from "./lease-keeper.ts";
import { keepLeasing } from "./leasing.ts";
import { createRemoteSettler } from "./settler.ts";
import { remoteSources } from "./sources.ts";

export type WorkOptions = {
  /** Shows people which worker holds a job. Default: random. */
  workerId?: string;
  /** Handlers at once, 1 to 1,000. Default 10. */
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
/** How long the last words to the API may take, after the deadline. */
const farewell_ms_max = 5_000;
const stops = "the worker stops";

type WorkerCalls = LeaseCalls & Omit<StepCalls, "signal"> & Pick<JobCalls, "parents">;

/** Run the jobs of a queue in this process: see `client.work`. */
export function startRemoteWorker(
  calls: WorkerCalls,
  queue: string,
  handlers: WorkHandlers,
  options: WorkOptions = {},
  tracing?: Tracing,
): RemoteWorker {
  const { concurrency = 10, waitSeconds = 20, runMax = 1, unknownTypeSeconds = 300 } = options;
  const { leaseSeconds: lease_seconds = limits.lease_seconds_default } = options;
  requireRange("concurrency", concurrency, 1, 1_000);
  requireRange("leaseSeconds", lease_seconds, 1, limits.lease_seconds_max);
  requireRange("waitSeconds", waitSeconds, 0, limits.wait_seconds_max);
  requireRange("runMax", runMax, 1, 1_000);
  requireRange("unknownTypeSeconds", unknownTypeSeconds, 0, 86_400);
  const wait_seconds = Math.min(waitSeconds, lease_seconds / 3);
  const find = handlerFinder(handlers);
  const id = options.workerId ?? `remote-${randomKey().slice(0, 12)}`;
  const observe = careful(options.observe ?? warnOfTrouble);
  const held = heldJobs(concurrency);
  const draining = new AbortController();

  const keeping: KeeperDeps = { calls, held, observe, lease_seconds };
  /** Aborts at the stop's deadline. */
  const over = new AbortController();

  /** Its lease is renewed first where less than half of it is left. */
  const start = async (leased: LeasedJob, its_run: Run): Promise<void> => {
    const { job } = leased;
    const mine = held.add(leased, its_run);
    if (over.signal.aborted) return giveBack(mine, stops);
    const handler = find(job.type);
    if (!handler && readyMs(job) < unknownTypeSeconds * 1_000) {
      observe({ event: "job_type_unknown", job });
      return giveBack(mine, "no handler", true);
    }
    if (isLate(mine, lease_seconds) && !(await renewBeforeStart(keeping, mine))) {
      if (mine.phase === "handling") giveBack(mine, "the lease could not be renewed");
      return;
    }
    void keepLease(keeping, mine);
    const span = (mine.span = beginAttempt(tracing, { ...job, delayed: job.run_at !== job.created_at }));
    observe({ event: "handler_start", job });
    const progress = (value: Json): void => {
      if (mine.phase !== "handling") return;
      mine.progress = { value };
      mine.wake();
    };
    const abort = (reason: Error) => mine.stop.abort(reason);
    const run = async (): Promise<Ending> => {
      if (!handler) return unknownType(job.type);
      const { spawn, spawned } = createSpawn();
      const sources = remoteSources({ calls, held, observe }, mine);
      const context = { job, signal: mine.stop.signal, progress, spawn, ...sources };
      const timeout_seconds = job.timeout_seconds ?? handler.options.timeoutSeconds;
      return runAttempt({ timeout_seconds, abort }, async (startClock) => {
        const running = handler.run(job.payload, context);
        startClock();
        return succeeded(await running, spawned());
      });
    };
    const outcome = await (span ? span.active(run) : run());
    if (mine.stop.signal.reason instanceof ParkedError) span?.end();
    else if (span) endAttempt(span, outcome);
    // Lost meanwhile, parked, or given back.
    if (mine.phase !== "handling") return;
    held.handlerEnded(mine, job.group !== null && shouldGoOn(mine.run, outcome, runMax));
    settler.settle(mine, outcome);
  };
  const goingOn = {
    worker_id: id,
    lease_seconds,
    types: options.types,
    start,
    stopping: draining.signal,
    over: over.signal,
  };
  const settler = createRemoteSettler(calls, held, observe, goingOn, tracing);

  const giveBack = (job: HeldJob, why: string, later = false): void => {
    held.handlerEnded(job);
    job.stop.abort(new DOMException(why, "AbortError"));
    settler.settle(job, { kind: "released", ...(later && { later }) });
  };

  const consuming = keepLeasing({
    calls,
    held,
    observe,
    concurrency,
    queue,
    request: { workerId: id, leaseSeconds: lease_seconds, waitSeconds: wait_seconds, types: options.types },
    stopping: draining.signal,
    start(jobs, began_at) {
      traceReceived(
        tracing,
        jobs.map(({ job }) => job),
        began_at,
      );
      for (const leased of jobs) void start(leased, newRun());
    },
  });

  const stop = async (deadline_ms: number): Promise<void> => {
    draining.abort();
    held.tell();
    await consuming;
    const deadline = new AbortController();
    const late = pause(deadline_ms, deadline.signal);
    const allSettled = async () => {
      while (held.handling() > 0 && !deadline.signal.aborted) await held.change();
      await settler.drained();
    };
    await Promise.race([allSettled(), late]);
    deadline.abort();
    over.abort();
    for (const job of held.all()) if (job.phase === "handling") giveBack(job, stops);
    const farewell = new AbortController();
    await Promise.race([settler.drained(), pause(farewell_ms_max, farewell.signal)]);
    farewell.abort();
    settler.giveUp();
    for (const job of held.all()) held.leave(job);
  };

  let stopped: Promise<void> | undefined;
  const stopOnce = (deadline_ms: number) => (stopped ??= stop(deadline_ms));
  const { signal } = options;
  if (signal?.aborted) void stopOnce(stop_ms_default);
  else signal?.addEventListener("abort", () => void stopOnce(stop_ms_default), { once: true });

  return {
    id,
    get running() {
      return held.handling();
    },
    stop: ({ deadlineMs = stop_ms_default } = {}) => stopOnce(deadlineMs),
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

function requireRange(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new RangeError(`${name} must be an integer from ${min} to ${max}; got ${value}`);
}
