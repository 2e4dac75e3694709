export { faultOfUrl } from "./http/base-url.ts";
export { createClient, type Client, type ClientOptions } from "./client.ts";
export type { DeadLetterCalls, DeadLetterChoice, DeadLetterFilter } from "./resources/dead-letters.ts";
export * from "./errors.ts";
export type { CallOptions } from "./http/transport.ts";
export type { JobCalls, ListFilter, SubmittedJob } from "./resources/jobs.ts";
export type { Held, LeaseCalls, LeasedJob, LeaseOptions } from "./resources/leases.ts";
export type { QueueCalls } from "./resources/queues.ts";
export { gather, waitAll, type ResultOf, type Slot, type WaitedFor } from "./results/gather.ts";
export type { Handle } from "./results/handle.ts";
export type { WaitOptions } from "./results/waits.ts";
export type { ScheduleCalls } from "./resources/schedules.ts";
export type { Submitted } from "./resources/submit-many.ts";
export {
  defineHandler,
  type Handler,
  type HandlerFunction,
  type HandlerOptions,
  type RemoteContext,
} from "./work/handler.ts";
export type { WorkEvent } from "./work/events.ts";
export type { WorkerCalls } from "./resources/workers.ts";
export type { RemoteWorker, WorkOptions } from "./work/work.ts";
export {
  defineJob,
  DoNotRetryError,
  PayloadError,
  ResultError,
  RetryAfterError,
  type Attempt,
  type Explanation,
  type Job,
  type JobDefinition,
  type JobError,
  type JobOptions,
  type JobStatus,
  type JobSubmission,
  type Json,
  type JsonObject,
  type Queue,
  type Worker,
  type Schedule,
} from "@atlasqueue/contract";
