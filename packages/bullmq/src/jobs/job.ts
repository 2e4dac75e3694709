import { JobFinishedError, NotFoundError } from "@atlasqueue/client";
import type { Client, Job as Stored, Json, RemoteContext } from "@atlasqueue/client";
import { readError } from "@atlasqueue/contract";
import type { JobsOptions } from "../options/mapping.ts";
import { NotSupportedError, refuseMethods } from "../options/refused.ts";
import { stateOf, type Loose } from "./states.ts";

/** All that is known of a job. Of one that was submitted just now, that is not everything. */
export type Known = Pick<Stored, "id" | "queue" | "type" | "payload"> & Partial<Stored>;

export class Job<Data = Loose, Result = Loose, Name extends string = string> {
  readonly id: string;
  readonly name: Name;
  readonly queueName: string;
  readonly data: Data;
  readonly opts: JobsOptions;
  readonly timestamp: number;
  readonly delay: number;
  readonly processedOn: number | undefined;
  finishedOn: number | undefined;
  progress: Loose;
  /** Attempts that have ended. */
  attemptsMade: number;
  readonly attemptsStarted: number;
  returnvalue: Result;
  failedReason: string | undefined;
  readonly stacktrace: string[] = [];
  readonly #client: Client;
  /** What a processor may do to its job. */
  readonly #running: RemoteContext | undefined;
  #lines = 0;

  constructor(client: Client, known: Known, opts?: JobsOptions, running?: RemoteContext) {
    const { created_at = new Date().toISOString(), run_at = created_at, attempts = 0, max_attempts } = known;
    this.id = known.id;
    this.name = known.type as Name;
    this.queueName = known.queue;
    this.data = known.payload as Data;
    this.timestamp = Date.parse(created_at);
    this.delay = Math.max(0, Date.parse(run_at) - this.timestamp);
    this.opts = opts ?? { attempts: max_attempts, delay: this.delay, priority: Math.max(0, -(known.priority ?? 0)) };
    this.processedOn = timeOf(known.started_at);
    this.finishedOn = timeOf(known.finished_at);
    this.progress = known.progress ?? 0;
    this.attemptsStarted = attempts;
    this.attemptsMade = known.status === "running" ? attempts - 1 : attempts;
    this.returnvalue = (known.status === "succeeded" ? known.result : null) as Result;
    this.failedReason = known.status === "succeeded" ? undefined : reasonOf(known);
    this.#client = client;
    this.#running = running;
  }

  static fromId = <Found>(queue: { getJob(id: string): Promise<Found> }, id: string) => queue.getJob(id);

  getState = async () => stateOf(await this.#client.get(this.id).catch(missing));
  isActive = async () => (await this.getState()) === "active";
  isCompleted = async () => (await this.getState()) === "completed";
  isDelayed = async () => (await this.getState()) === "delayed";
  isFailed = async () => (await this.getState()) === "failed";
  isWaiting = async () => /^waiting$|^prioritized$/.test(await this.getState());

  /** Replaces the job's progress. It is sent once a second at most. */
  async updateProgress(progress: Json): Promise<void> {
    this.#inside("updateProgress").progress(progress);
    this.progress = progress;
  }

  /** Keeps a line with the job, as a step of it. Resolves with the number of lines of this attempt. */
  async log(line: string): Promise<number> {
    const lines = (this.#lines += 1);
    await this.#inside("log").step(`${logName}${this.attemptsStarted}.${lines}`, () => line);
    return lines;
  }

  /** The results of its children by their ids. */
  async getChildrenValues(): Promise<Record<string, Loose>> {
    const parents = this.#running ? await this.#running.parents() : (await this.#client.parents(this.id)).items;
    const done = Object.values(parents).filter(({ status }) => status === "succeeded");
    return Object.fromEntries(done.map(({ id, result }) => [id, result]));
  }

  /** Ends this attempt, which is not counted. The processor is called again at that time. */
  async moveToDelayed(timestamp: number, _token?: string): Promise<void> {
    const seconds = Math.max(1, (timestamp - Date.now()) / 1_000);
    await this.#inside("moveToDelayed").waitFor(`delayed until ${timestamp}`, { timeoutSeconds: seconds });
  }

  /** Removes a job that is not running. Rejects for one that is. */
  async remove(): Promise<void> {
    const { status } = await this.#client.get(this.id);
    if (status === "running") throw new Error(`Job ${this.id} could not be removed because it is active`);
    await this.#client.cancel(this.id).catch((error: unknown) => {
      if (!(error instanceof JobFinishedError)) throw error;
    });
    await this.#client.delete(this.id);
  }

  /** Runs a failed job again, with all its attempts. */
  async retry(state: "completed" | "failed" = "failed"): Promise<void> {
    if (state === "completed") throw new NotSupportedError('retry("completed")', "Add the job again.");
    await this.#client.retry(this.id);
  }

  /** Resolves with the result, and rejects with the job's last error. The QueueEvents are not needed. */
  async waitUntilFinished(_events?: unknown, ttl = Infinity): Promise<Result> {
    const job = await this.#client.wait(this.id, { timeoutMs: ttl });
    if (job.status === "succeeded") return job.result as Result;
    throw new Error(reasonOf(job) ?? `the job was ${job.status}`);
  }

  #inside(method: string): RemoteContext {
    if (this.#running) return this.#running;
    throw new NotSupportedError(`job.${method}() outside of a processor`, "Call it in the processor of a Worker.");
  }
}

refuseMethods(Job, {
  changeDelay: "Add the job with `deduplication: { id, replace: true }` and the new delay.",
  changePriority: "Remove the job and add it again.",
  extendLock: "The worker renews leases by itself.",
  getDependencies: "Use `client.parents()` of @atlasqueue/client.",
  moveToCompleted: "Return from the processor, or use `client.ack()` of @atlasqueue/client.",
  moveToFailed: "Throw in the processor, or use `client.nack()` of @atlasqueue/client.",
  moveToWaitingChildren: "Use `spawn` of a handler of @atlasqueue/client.",
  promote: "Remove the job and add it without a delay.",
  updateData: "Add the job with `deduplication: { id, replace: true }` and the new data.",
});

export const logName = "log ";

export function missing(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error;
}

const timeOf = (text: string | null | undefined) => (text ? Date.parse(text) : undefined);

function reasonOf({ last_error, result = null }: Partial<Stored>): string | undefined {
  return last_error ? readError({ last_error, result }).message : undefined;
}
