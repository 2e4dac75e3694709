import { setTimeout } from "node:timers/promises";
import {
  AuthError,
  DoNotRetryError,
  ValidationError,
  type Client,
  type JsonObject,
  type RemoteContext,
  type RemoteWorker,
  type WorkEvent,
} from "@atlasqueue/client";
import { connect, type WithConnection } from "./options/connection.ts";
import { Emitter } from "./emitter.ts";
import { Job, missing } from "./jobs/job.ts";
import { changeLimits, rateOf, type RateLimiterOptions } from "./options/limits.ts";
import { NotSupportedError, refuseMethods, type Refused } from "./options/refused.ts";
import type { Loose } from "./jobs/types.ts";

export type Processor<Data = Loose, Result = Loose, Name extends string = string> = (
  job: Job<Data, Result, Name>,
  token?: string,
  signal?: AbortSignal,
) => Promise<Result> | Result;

export type WorkerOptions = WithConnection & {
  name?: string | undefined;
  /** Default true: it starts at once. */
  autorun?: boolean | undefined;
  /** Default 1. */
  concurrency?: number | undefined;
  /** Becomes the rate limit of the queue. */
  limiter?: RateLimiterOptions | undefined;
  /** Milliseconds that a job is held without a renewal. Default 30,000. */
  lockDuration?: number | undefined;
};

/** The second row has no effect: leases are renewed and recovered by themselves. */
const taken = [
  ..."name autorun concurrency limiter lockDuration removeOnComplete removeOnFail".split(" "),
  ..."drainDelay lockRenewTime skipStalledCheck maxStalledCount runRetryDelay stalledInterval".split(" "),
];
const refusedOfWorkers: Refused = {
  metrics: "Use GET /metrics of the API.",
  useWorkerThreads: "Use `isolate` of @atlasqueue/worker.",
};
const forever_ms = 2 ** 31 - 1;
const limiter_rest_ms = 1_000;
const drained_poll_ms = 500;

type Attempt = { job: Job; result?: unknown; error?: unknown };

export class Worker<Data = Loose, Result = Loose, Name extends string = string> extends Emitter {
  readonly name: string;
  readonly opts: WorkerOptions;
  readonly #client: Client;
  readonly #processor: Processor<Data, Result, Name>;
  readonly #attempts = new Map<string, Attempt>();
  /** Takes jobs. Undefined while it is paused. */
  #work: RemoteWorker | undefined;
  /** Resolves when the jobs from before a pause have ended. */
  #drained: Promise<unknown> = Promise.resolve();
  readonly #closed = new AbortController();
  #mayStart = false;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #paused = false;
  #isWatching = false;

  constructor(name: string, processor: Processor<Data, Result, Name>, opts: WorkerOptions) {
    super("Worker", "active completed failed progress stalled drained ready paused resumed closing closed".split(" "));
    this.#client = connect("a Worker", opts, taken, refusedOfWorkers);
    if (typeof processor !== "function")
      throw new NotSupportedError("A processor in a file", "Pass a function, or use `isolate` of @atlasqueue/worker.");
    const { concurrency = 1, lockDuration = 30_000 } = opts;
    checkRange("concurrency", concurrency, 1_000);
    checkRange("lockDuration", lockDuration, 3_600_000);
    this.name = name;
    this.opts = opts;
    this.#processor = processor;
    if (opts.autorun !== false) void this.run();
  }

  /** Starts a worker that was made with `autorun: false`. */
  run(): Promise<void> {
    return (this.#starting ??= this.#begin());
  }
  async #begin(): Promise<void> {
    const { limiter } = this.opts;
    if (limiter && !(await this.#isLimited(limiter))) return;
    this.#mayStart = true;
    await this.#start();
    this.emit("ready");
  }
  /** Tries until the limit is set. A worker that may not set it, or is closed, does not start. */
  async #isLimited(limiter: RateLimiterOptions): Promise<boolean> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      try {
        await changeLimits(this.#client, this.name, { rate: rateOf(limiter) });
        return true;
      } catch (error) {
        this.report(error);
        if (error instanceof AuthError || error instanceof ValidationError) return false;
      }
      await setTimeout(limiter_rest_ms, undefined, { signal }).catch(() => {});
    }
    return false;
  }
  async waitUntilReady(): Promise<void> {
    await this.#starting;
  }

  async #start(): Promise<void> {
    await this.#drained;
    if (!this.#mayStart || this.#paused || this.#closing || this.#work) return;
    const { concurrency = 1, lockDuration = 30_000, name: workerId } = this.opts;
    this.#work = this.#client.work(this.name, (payload, context) => this.#process(payload, context), {
      concurrency,
      leaseSeconds: Math.ceil(lockDuration / 1_000),
      ...(workerId !== undefined && { workerId }),
      observe: (event) => this.#observe(event),
    });
  }
  async #stop(deadlineMs: number): Promise<void> {
    const work = this.#work;
    this.#work = undefined;
    if (work) this.#drained = work.stop({ deadlineMs });
    await this.#drained;
  }

  async #process(_payload: JsonObject, context: RemoteContext): Promise<unknown> {
    const progress: RemoteContext["progress"] = (value) => {
      context.progress(value);
      this.emit("progress", job, value);
    };
    const job: Job<Data, Result, Name> = new Job(this.#client, context.job, undefined, { ...context, progress });
    const attempt: Attempt = { job };
    this.#attempts.set(job.id, attempt);
    this.emit("active", job, "waiting");
    try {
      return (attempt.result = await this.#processor(job, this.#work?.id, context.signal));
    } catch (error) {
      attempt.error = error;
      // By its name: one file may still import BullMQ's.
      const { name, message } = Object(error) as Error;
      throw name === "UnrecoverableError" ? new DoNotRetryError(message) : error;
    }
  }

  #observe(event: WorkEvent): void {
    if ("error" in event && event.event !== "job_settled") this.report(event.error);
    if (!("job" in event) || event.event === "handler_start" || event.event === "progress_refused") return;
    const attempt = this.#attempts.get(event.job.id);
    if (!attempt) return;
    this.#attempts.delete(attempt.job.id);
    if (event.event === "job_settled" && event.outcome !== "released") this.#ended(attempt, event);
    if (event.event === "lease_lost") this.emit("stalled", attempt.job.id, "active");
    void this.#watch();
  }
  #ended({ job, result, error }: Attempt, event: WorkEvent & { event: "job_settled" }): void {
    job.attemptsMade += 1;
    job.finishedOn = Date.now();
    if (event.outcome === "succeeded") {
      job.returnvalue = result;
      this.emit("completed", job, result, "active");
    } else {
      const thrown = error instanceof Error ? error : new Error(event.error ?? String(error));
      job.failedReason = thrown.message;
      this.emit("failed", job, thrown, "active");
    }
  }

  /** Looks whether the queue is empty, while this worker has nothing to do. */
  async #watch(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    try {
      while (this.#attempts.size === 0 && !this.#closing && this.listenerCount("drained") > 0) {
        const queue = await this.#client.scaling(this.name).catch(missing);
        if (!queue?.ready && !queue?.running) return void this.emit("drained");
        await setTimeout(drained_poll_ms, undefined, { ref: false });
      }
    } catch (error) {
      this.report(error);
    } finally {
      this.#isWatching = false;
    }
  }

  /** Takes no more jobs here. Resolves when those that run have ended. */
  async pause(doNotWaitActive = false): Promise<void> {
    this.#paused = true;
    const stopped = this.#stop(forever_ms);
    if (!doNotWaitActive) await stopped;
    this.emit("paused");
  }
  /** Takes jobs again, once those from before the pause have ended. */
  resume(): void {
    if (!this.#paused || this.#closing) return;
    this.#paused = false;
    void this.#start();
    this.emit("resumed");
  }
  set concurrency(_jobs: number) {
    throw new NotSupportedError("Changing `concurrency`", "Close the worker and make another one.");
  }
  isPaused = () => this.#paused;
  isRunning = () => this.#work !== undefined;

  /** Takes no more jobs, and resolves when those that run have ended. Forced, it aborts them and gives them back. */
  close(force = false): Promise<void> {
    this.emit("closing", "closing");
    this.#closed.abort();
    // After a pause the first deadline stands, so these jobs are given back one by one.
    if (force && !this.#work)
      for (const { job } of this.#attempts.values()) void job.moveToDelayed(Date.now()).catch(() => {});
    return (this.#closing ??= this.#stop(force ? 0 : forever_ms).then(() => void this.emit("closed")));
  }
}

function checkRange(name: string, value: number, most: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return;
  throw new RangeError(`${name} must be an integer from 1 to ${most}; got ${value}`);
}

const refusedOfWorker = {
  cancelAllJobs: "Use `client.bulk()` of @atlasqueue/client.",
  cancelJob: "Use `client.cancel()` of @atlasqueue/client.",
  getNextJob: "Use `client.lease()` of @atlasqueue/client.",
  rateLimit: "Throw RetryAfterError of @atlasqueue/client, or use `queue.setGlobalRateLimit()`.",
};
refuseMethods(Worker, refusedOfWorker);
