import type { JobSubmission, JsonObject } from "@atlasqueue/client";
import { checkOptions, NotSupportedError, type Refused } from "./refused.ts";

/** Times are in milliseconds. */
export type BackoffOptions = { type: string; delay?: number | undefined; jitter?: number | undefined };
export type KeepJobs = boolean | number | { age?: number | undefined; count?: number | undefined };
export type Flags<Name extends string> = { [name in Name]?: boolean | undefined };
export type DeduplicationOptions = { id: string; ttl?: number | undefined } & Flags<
  "extend" | "replace" | "keepLastIfActive"
>;
export type JobsOptions = {
  attempts?: number | undefined;
  backoff?: number | BackoffOptions | undefined;
  deduplication?: DeduplicationOptions | undefined;
  delay?: number | undefined;
  jobId?: string | undefined;
  priority?: number | undefined;
  /** The last four have no effect. The settings `RETENTION_…` of the server decide. */
  removeOnComplete?: KeepJobs | undefined;
  removeOnFail?: KeepJobs | undefined;
  keepLogs?: number | undefined;
  stackTraceLimit?: number | undefined;
};
export type RepeatOptions = { pattern?: string | undefined; every?: number | undefined; tz?: string | undefined };

const takenOfJobs = "attempts backoff priority removeOnComplete removeOnFail keepLogs stackTraceLimit".split(" ");
const refusedOfJobs: Refused = {
  lifo: "Give urgent jobs a `priority`.",
  repeat: "Use `queue.upsertJobScheduler()`.",
  parent: "Use `FlowProducer`.",
  delay: "Jobs of a scheduler start at their time.",
  jobId: "Each job of a scheduler is one of its own.",
  deduplication: "Each job of a scheduler is one of its own.",
  continueParentOnFailure: "Use `ignoreDependencyOnFailure`: the parent runs when all children have ended.",
};
const refusedOfSchedules: Refused = {
  startDate: "Call upsertJobScheduler() on that day.",
  endDate: "Call removeJobScheduler() on that day.",
  limit: "Call removeJobScheduler() in the processor.",
  offset: "Use `pattern`.",
  immediately: "Call `queue.add()` too.",
};

/** AtlasQueue's limits: lower priorities than this count as equal. */
const priority_max = 1_000;
const attempts_max = 25;

/** The idempotency key of a BullMQ job. */
export const keyOf = (queue: string, jobId: string): string => `bullmq:${queue}:${jobId}`;

/** Schedules belong to a tenant, job schedulers to a queue. */
export const scheduleNameOf = (queue: string, id: string): string => `${queue}:${id}`;

/** What AtlasQueue takes for a job of BullMQ. Throws a NotSupportedError for what it has nothing for. */
export function submissionOf(queue: string, type: string, data: unknown, opts: JobsOptions) {
  const { delay = 0, jobId, deduplication, ...others } = opts;
  // BullMQ forgets the id with the job. A key is remembered for a day, and would swallow the next job.
  const forgotten = opts.removeOnComplete === true || opts.removeOnComplete === 0;
  return {
    ...templateOf(queue, type, data, others),
    ...(delay > 0 && { delay_seconds: delay / 1_000 }),
    ...(jobId !== undefined && (forgotten ? { unique: { key: jobId } } : { idempotency_key: keyOf(queue, jobId) })),
    ...(deduplication && { unique: uniqueOf(deduplication) }),
  };
}

/** The same for a schedule, whose jobs have no delay and no id. */
export function templateOf(queue: string, type: string, data: unknown, opts: JobsOptions) {
  checkOptions(opts, "a job", takenOfJobs, refusedOfJobs);
  const { attempts = 1, priority = 0 } = opts;
  if (attempts > attempts_max) throw new NotSupportedError(`attempts: ${attempts}`, "A job has 25 attempts at most.");
  const payload = data ?? {};
  if (typeof payload !== "object" || Array.isArray(payload))
    throw new NotSupportedError("Data that is no object", "Put the value into an object, such as { value }.");
  return {
    queue,
    type,
    payload: payload as JsonObject,
    max_attempts: attempts || 1,
    backoff: backoffOf(opts.backoff),
    ...(priority > 0 && { priority: -Math.min(priority, priority_max) }),
  };
}

/** BullMQ begins an exponential backoff at its delay, AtlasQueue at twice its base. */
function backoffOf(given: JobsOptions["backoff"] = 0): NonNullable<JobSubmission["backoff"]> {
  const { type, delay = 0, jitter = 0 } = typeof given === "number" ? { type: "fixed", delay: given } : given;
  if (jitter > 0) throw new NotSupportedError("The jitter of a backoff", "Set RETRY_JITTER_MAX_SECONDS of the server.");
  if (type === "fixed") return { kind: "fixed", base_seconds: delay / 1_000 };
  if (type === "exponential") return { kind: "exponential", base_seconds: delay / 2_000 };
  throw new NotSupportedError(`The backoff "${type}"`, "Throw RetryAfterError of @atlasqueue/client in the processor.");
}

function uniqueOf(given: DeduplicationOptions): NonNullable<JobSubmission["unique"]> {
  const { id: key, ttl, extend, replace, keepLastIfActive } = given;
  if (keepLastIfActive) throw new NotSupportedError("keepLastIfActive", "Use `replace`: a started job is left alone.");
  if (replace) return { key, on_conflict: "replace" };
  if (extend) throw new NotSupportedError("`extend` without `replace`", "Use both, or neither.");
  return ttl === undefined ? { key } : { key, scope: "window", window_seconds: Math.ceil(ttl / 1_000) };
}

/** The cron expression and the time zone of a job scheduler. Throws a NotSupportedError if there are none. */
export function cronOf(repeat: RepeatOptions): { cron: string; timezone: string } {
  checkOptions(repeat, "a job scheduler", ["pattern", "every", "tz"], refusedOfSchedules);
  const { pattern, every, tz } = repeat;
  if (pattern === undefined) return { cron: everyAsCron(Number(every)), timezone: "UTC" };
  const fields = pattern.trim().split(/\s+/);
  if (fields.length === 6 && !/^0+$/.test(fields[0] ?? ""))
    throw new NotSupportedError(`The pattern "${pattern}"`, "A schedule runs once a minute at most.");
  return { cron: fields.slice(-5).join(" "), timezone: tz ?? new Intl.DateTimeFormat().resolvedOptions().timeZone };
}

function everyAsCron(every: number): string {
  const minutes = every / 60_000;
  const hours = minutes / 60;
  if (Number.isInteger(minutes) && minutes < 60 && 60 % minutes === 0) return `*/${minutes} * * * *`;
  if (Number.isInteger(hours) && 24 % hours === 0) return hours === 24 ? "0 0 * * *" : `0 */${hours} * * *`;
  throw new NotSupportedError(`every: ${every}`, "Use a `pattern`. An hour or a day must be a multiple of `every`.");
}
