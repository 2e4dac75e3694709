import { randomUUID } from "node:crypto";
import { IdempotencyMismatchError } from "@atlasqueue/client";
import type { Job as Stored, JobStatus, Queue as StoredQueue, Schedule } from "@atlasqueue/client";
import { Connected, type WithConnection } from "./connected.ts";
import { Job, logName, missing, type Known } from "./jobs/job.ts";
import { cronOf, keyOf, scheduleNameOf, submissionOf, templateOf } from "./options/mapping.ts";
import type { JobsOptions, RepeatOptions } from "./options/mapping.ts";
import { refuseMethods } from "./options/refused.ts";
import { allTypes, stateOf, statusesOf, type JobType, type Loose } from "./jobs/states.ts";

export type QueueOptions = WithConnection & { defaultJobOptions?: JobsOptions | undefined };
export type BulkJob = { name: string; data?: unknown; opts?: JobsOptions | undefined };
export type JobTemplate = Partial<BulkJob>;
type Asked = { request: ReturnType<typeof submissionOf> & { idempotency_key: string }; opts: JobsOptions };

const jobs_max = 10_000;
const tooMany = "getJobs() reads 10,000 jobs of a type at most. Use `client.list()` of @atlasqueue/client.";
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** One change of limits after another, as each sets all limits. */
let changed: Promise<void> = Promise.resolve();

export class Queue<Data = Loose, Result = Loose, Name extends string = string> extends Connected<QueueOptions> {
  readonly name: string;

  constructor(name: string, opts: QueueOptions) {
    super("a Queue", opts, { events: "waiting", taken: "defaultJobOptions" });
    this.name = name;
  }

  #job(known: Known, opts?: JobsOptions) {
    return new Job<Data, Result, Name>(this.api, known, opts);
  }

  /** Stores a job. With a `jobId` or `deduplication` that is taken, it resolves with the job that has it. */
  async add(name: Name, data?: Data, opts?: JobsOptions): Promise<Job<Data, Result, Name>> {
    const added = await this.#submit(this.#asked({ name, data, opts }));
    this.emit("waiting", added);
    return added;
  }
  #asked({ name, data, opts: own }: BulkJob): Asked {
    const opts = { ...this.opts.defaultJobOptions, ...own };
    // The key keeps a job that is stored already from being stored again.
    return { opts, request: { idempotency_key: randomUUID(), ...submissionOf(this.name, name, data, opts) } };
  }
  async #submit({ request, opts }: Asked) {
    try {
      const { job } = await this.api.submit(request);
      return this.#job({ ...request, ...job }, opts);
    } catch (error) {
      const found = error instanceof IdempotencyMismatchError && (await this.#byKey(request.idempotency_key));
      if (!found) throw error;
      return found;
    }
  }

  /** Stores jobs, up to 1,000 and 1 MiB all or none. If one's `jobId` is taken, each is stored alone. */
  async addBulk(jobs: readonly BulkJob[]): Promise<Job<Data, Result, Name>[]> {
    const all = jobs.map((job) => this.#asked(job));
    try {
      const submitted = await this.api.submitMany(all.map(({ request }) => request));
      return all.map(({ request, opts }, at) => this.#job({ ...request, id: submitted[at]?.id } as Known, opts));
    } catch (error) {
      if (!(error instanceof IdempotencyMismatchError)) throw error;
      const added: Job<Data, Result, Name>[] = [];
      for (const one of all) added.push(await this.#submit(one));
      return added;
    }
  }

  /** By its id, or by the `jobId` that it was added with. */
  async getJob(id: string): Promise<Job<Data, Result, Name> | undefined> {
    const job = uuid.test(id) ? await this.api.get(id).catch(missing) : undefined;
    return job?.queue === this.name ? this.#job(job) : this.#byKey(keyOf(this.name, id));
  }
  async #byKey(key: string) {
    const [job] = (await this.api.page({ key })).items;
    return job && this.#job(job);
  }

  /** The lines that processors logged, oldest first. */
  async getJobLogs(id: string): Promise<{ logs: string[]; count: number }> {
    const job = await this.getJob(id);
    const { steps } = job ? await this.api.steps(job.id) : { steps: [] };
    const logs = steps.filter(({ name }) => name.startsWith(logName)).map(({ result }) => String(result));
    return { logs, count: logs.length };
  }

  /** Of each type: newest first, or oldest first with `asc`. `end` is part of the range, and -1 is the last one. */
  async getJobs(types: JobType | readonly JobType[] = allTypes, start = 0, end = -1, asc = false) {
    const stop = end < 0 ? Infinity : end + 1;
    const found = await Promise.all([types].flat().map((type) => this.#ofType(type, asc ? Infinity : stop)));
    const chosen = found.flatMap((jobs) => (asc ? jobs.toReversed() : jobs).slice(start, stop));
    return chosen.map((job) => this.#job(job));
  }
  async #ofType(type: JobType, most: number): Promise<Stored[]> {
    const state = type === "wait" ? "waiting" : type;
    const jobs: Stored[] = [];
    for (const status of statusesOf(type)) {
      let left = most;
      for await (const job of this.api.list({ queue: this.name, status, pageSize: 200 }))
        if (stateOf(job) === state && (jobs.push(job) > jobs_max || (left -= 1) <= 0)) break;
    }
    if (jobs.length > jobs_max) throw new RangeError(tooMany);
    return jobs.toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  }
  getActive = (start?: number, end?: number) => this.getJobs("active", start, end, true);
  getCompleted = (start?: number, end?: number) => this.getJobs("completed", start, end);
  getDelayed = (start?: number, end?: number) => this.getJobs("delayed", start, end, true);
  getFailed = (start?: number, end?: number) => this.getJobs("failed", start, end);
  getWaiting = (start?: number, end?: number) => this.getJobs("waiting", start, end, true);

  /** Up to a second old. Jobs with a priority count as waiting. */
  async getJobCounts(...types: JobType[]): Promise<Record<string, number>> {
    const queue = await this.api.queue(this.name).catch(missing);
    const countOf = (type: JobType) => statusesOf(type).reduce((sum, status) => sum + (queue?.counts[status] ?? 0), 0);
    const asked = types.length > 0 ? types : allTypes;
    return Object.fromEntries(asked.map((type) => [type, type === "prioritized" ? 0 : countOf(type)]));
  }
  getJobCountByTypes = async (...types: JobType[]) =>
    Object.values(await this.getJobCounts(...types)).reduce((sum, count) => sum + count, 0);
  count = () => this.getJobCountByTypes("waiting", "delayed", "waiting-children");
  getActiveCount = () => this.getJobCountByTypes("active");
  getCompletedCount = () => this.getJobCountByTypes("completed");
  getDelayedCount = () => this.getJobCountByTypes("delayed");
  getFailedCount = () => this.getJobCountByTypes("failed");
  getWaitingCount = () => this.getJobCountByTypes("waiting");

  /** Starts no more jobs of the queue, in any worker. Running ones go on. */
  pause = async () => void (await this.api.pause(this.name));
  resume = async () => void (await this.api.resume(this.name));
  isPaused = async () => (await this.api.queue(this.name).catch(missing))?.paused ?? false;

  setGlobalConcurrency = (concurrency: number) => this.#change({ concurrency });
  removeGlobalConcurrency = () => this.#change({ concurrency: null });
  setGlobalRateLimit = (max: number, duration: number) =>
    this.#change({ rate: { limit: max, period_seconds: duration / 1_000 } });
  removeGlobalRateLimit = () => this.#change({ rate: null });
  /** Changes some of the queue's limits, which hold for all its workers. */
  #change(limits: Partial<StoredQueue["limits"]>): Promise<void> {
    const act = async (): Promise<void> => {
      const now = await this.api.queue(this.name).catch(missing);
      await this.api.setLimits(this.name, { ...now?.limits, ...limits });
    };
    return (changed = changed.then(act, act));
  }

  /** Resolves with 1, or with 0 if there is no such job or it is running. */
  async remove(id: string): Promise<number> {
    const job = await this.getJob(id);
    if (!job || (await job.isActive())) return 0;
    await job.remove();
    return 1;
  }
  /** Removes the jobs that wait, and with `delayed` those with a delay. */
  async drain(delayed = false): Promise<void> {
    const types: JobType[] = delayed ? ["waiting", "delayed"] : ["waiting"];
    for (const status of types.flatMap(statusesOf)) await this.#purge({ status });
  }
  /** Pauses the queue and removes its jobs and its job schedulers. Rejects while jobs run, unless forced. */
  async obliterate({ force = false } = {}): Promise<void> {
    await this.pause();
    const [active] = (await this.api.page({ queue: this.name, status: "running", limit: 1 })).items;
    if (active && !force) throw new Error("Cannot obliterate queue with active jobs");
    for (const { key } of await this.getJobSchedulers()) await this.removeJobScheduler(key);
    await this.#purge({});
  }
  async #purge(filter: { status?: JobStatus }): Promise<void> {
    const wish = { action: "purge", filter: { queue: this.name, ...filter } } as const;
    let { next_cursor: cursor } = await this.api.bulk(wish);
    while (cursor !== null) cursor = (await this.api.bulk({ ...wish, cursor })).next_cursor;
  }

  /** Adds a job at each time of a pattern. The first one is stored at its time, so it resolves with no job. */
  async upsertJobScheduler(id: string, repeat: RepeatOptions, template: JobTemplate = {}): Promise<undefined> {
    const { name = id, data, opts } = template;
    const job = templateOf(this.name, name, data, { ...this.opts.defaultJobOptions, ...opts });
    await this.api.schedules.put({ name: scheduleNameOf(this.name, id), ...cronOf(repeat), job });
  }
  async getJobSchedulers(start = 0, end = -1) {
    const prefix = scheduleNameOf(this.name, "");
    const mine: Schedule[] = [];
    for await (const one of this.api.schedules.list())
      if (one.job.queue === this.name && one.name.startsWith(prefix)) mine.push(one);
    return mine.slice(start, end < 0 ? undefined : end + 1).map(({ name, cron, timezone, job, next_runs }) => ({
      key: name.slice(prefix.length),
      name: job.type,
      pattern: cron,
      tz: timezone,
      next: Date.parse(next_runs[0] ?? ""),
      template: { data: job.payload },
    }));
  }
  getJobScheduler = async (id: string) => (await this.getJobSchedulers()).find(({ key }) => key === id);
  async removeJobScheduler(id: string): Promise<boolean> {
    const removed = this.api.schedules.delete(scheduleNameOf(this.name, id)).then(() => true);
    return (await removed.catch(missing)) ?? false;
  }
}

refuseMethods(Queue, {
  clean: "Set RETENTION_SUCCEEDED_HOURS and its like on the server.",
  getDeduplicationJobId: "Add the job: it resolves with the one that exists.",
  getMetrics: "Use `client.stats.series()` of @atlasqueue/client.",
  getRateLimitTtl: "Use `client.queue()` of @atlasqueue/client.",
  getWorkers: "Use `client.workers()` of @atlasqueue/client.",
  rateLimit: "Use `setGlobalRateLimit()`.",
  retryJobs: "Use `client.deadLetters` of @atlasqueue/client.",
  updateJobProgress: "Call `job.updateProgress()` in the processor.",
});
