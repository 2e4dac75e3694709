import { setTimeout } from "node:timers/promises";
import { AuthError, DoNotRetryError, ValidationError } from "@atlasqueue/client";
import type { RemoteContext, RemoteWorker, WorkEvent, WorkOptions } from "@atlasqueue/client";
import { Connected, type WithConnection } from "./connected.ts";
import { Job, missing } from "./jobs/job.ts";
import { NotSupportedError, refuseMethods, type Refused } from "./options/refused.ts";
import { Queue } from "./queue.ts";
import type { Loose } from "./jobs/states.ts";

export type RateLimiterOptions = { max: number; duration: number };
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
const taken =
  "name autorun concurrency limiter lockDuration removeOnComplete removeOnFail " +
  "drainDelay lockRenewTime skipStalledCheck maxStalledCount runRetryDelay stalledInterval";
const events = "active completed failed progress stalled drained ready paused resumed closing closed";
const refused: Refused = {
  metrics: "Use GET /metrics of the API.",
  useWorkerThreads: "Use `isolate` of @atlasqueue/worker.",
};
const forever_ms = 2 ** 31 - 1;
const limiter_rest_ms = 1_000;
const drained_poll_ms = 500;

type Attempt = { job: Job; error?: unknown };

export class Worker<Data = Loose, Result = Loose, Name extends string = string> extends Connected<WorkerOptions> {
  readonly name: string;
  readonly #processor: Processor<Data, Result, Name>;
  readonly #options: WorkOptions;
  readonly #attempts = new Map<string, Attempt>();
  /** Takes jobs. Undefined while it is paused. */
  #work: RemoteWorker | undefined;
  /** Resolves when the jobs from before a pause have ended. */
  #drained: Promise<unknown> = Promise.resolve();
  #mayStart = false;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #paused = false;
  #watching: Promise<void> | undefined;

  constructor(name: string, processor: Processor<Data, Result, Name>, opts: WorkerOptions) {
    super("a Worker", opts, { events, taken, refused });
    if (typeof processor !== "function")
      throw new NotSupportedError("A processor in a file", "Pass a function, or use `isolate` of @atlasqueue/worker.");
    const { concurrency = 1, lockDuration = 30_000, autorun = true, name: workerId } = opts;
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 1_000)
      throw new RangeError(`concurrency must be an integer from 1 to 1000; got ${concurrency}`);
    if (!(lockDuration > 0 && lockDuration <= 3_600_000))
      throw new RangeError(`lockDuration must be above 0, and 3600000 at most; got ${lockDuration}`);
    this.name = name;
    this.#processor = processor;
    const options = { concurrency, leaseSeconds: Math.ceil(lockDuration / 1_000), ...(workerId && { workerId }) };
    this.#options = { ...options, observe: (event) => this.#observe(event) };
    if (autorun) void this.run();
  }

  /** Starts a worker that was made with `autorun: false`. */
  run = (): Promise<void> => (this.#starting ??= this.#begin());
  /** Sets the limiter first, and tries until that is done. A worker that may not set it does not start. */
  async #begin(): Promise<void> {
    const { connection, limiter } = this.opts;
    const queue = new Queue(this.name, { connection });
    while (!this.#mayStart && !this.#closing)
      try {
        if (limiter) await queue.setGlobalRateLimit(limiter.max, limiter.duration);
        this.#mayStart = true;
      } catch (error) {
        this.report(error);
        if (error instanceof AuthError || error instanceof ValidationError) return;
        await setTimeout(limiter_rest_ms);
      }
    await this.#start();
    this.emit("ready");
  }
  override waitUntilReady = async () => this.#starting;

  async #start(): Promise<void> {
    await this.#drained;
    if (!this.#mayStart || this.#paused || this.#closing || this.#work) return;
    this.#work = this.api.work(this.name, (_payload, context) => this.#process(context), this.#options);
  }
  async #stop(deadlineMs: number): Promise<void> {
    this.#drained = this.#work?.stop({ deadlineMs }) ?? this.#drained;
    this.#work = undefined;
    await this.#drained;
  }

  async #process(context: RemoteContext): Promise<unknown> {
    const progress: RemoteContext["progress"] = (value) => {
      context.progress(value);
      this.emit("progress", job, value);
    };
    const job: Job<Data, Result, Name> = new Job(this.api, context.job, undefined, { ...context, progress });
    const attempt: Attempt = { job };
    this.#attempts.set(job.id, attempt);
    this.emit("active", job, "waiting");
    try {
      return (job.returnvalue = await this.#processor(job, this.#work?.id, context.signal));
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
    this.#attempts.delete(event.job.id);
    if (event.event === "job_settled" && event.outcome !== "released") this.#ended(attempt, event);
    if (event.event === "lease_lost") this.emit("stalled", event.job.id, "active");
    if (!this.#watching) this.#watching = this.#watch().finally(() => (this.#watching = undefined));
  }
  #ended({ job, error }: Attempt, event: WorkEvent & { event: "job_settled" }): void {
    job.attemptsMade += 1;
    job.finishedOn = Date.now();
    if (event.outcome === "succeeded") return void this.emit("completed", job, job.returnvalue, "active");
    const thrown = error instanceof Error ? error : new Error(event.error ?? String(error));
    job.failedReason = thrown.message;
    this.emit("failed", job, thrown, "active");
  }

  /** Looks whether the queue is empty, while this worker has nothing to do. */
  async #watch(): Promise<void> {
    try {
      while (this.#attempts.size === 0 && !this.#closing && this.listenerCount("drained") > 0) {
        const queue = await this.api.scaling(this.name).catch(missing);
        if (!queue?.ready && !queue?.running) return void this.emit("drained");
        await setTimeout(drained_poll_ms, undefined, { ref: false });
      }
    } catch (error) {
      this.report(error);
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
  override close(force = false): Promise<void> {
    this.emit("closing", "closing");
    // After a pause the first deadline stands, so these jobs are given back one by one.
    if (force && !this.#work)
      for (const { job } of this.#attempts.values()) void job.moveToDelayed(Date.now()).catch(() => {});
    return (this.#closing ??= this.#stop(force ? 0 : forever_ms).then(() => void this.emit("closed")));
  }
}

refuseMethods(Worker, {
  cancelAllJobs: "Use `client.bulk()` of @atlasqueue/client.",
  cancelJob: "Use `client.cancel()` of @atlasqueue/client.",
  getNextJob: "Use `client.lease()` of @atlasqueue/client.",
  rateLimit: "Throw RetryAfterError of @atlasqueue/client, or use `queue.setGlobalRateLimit()`.",
});
