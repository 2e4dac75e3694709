export { createClient, type Client, type ClientOptions } from "./client.ts";
export * from "./errors.ts";
export type { CallOptions } from "./http/transport.ts";
export type { JobCalls, ListFilter, SubmittedJob } from "./jobs.ts";
export type { Held, LeaseCalls, LeasedJob, LeaseOptions } from "./leases.ts";
export type { QueueCalls } from "./queues.ts";
export type { ScheduleCalls } from "./schedules.ts";
export type { Submitted } from "./submit-many.ts";
export {
  defineHandler,
  type Handler,
  type HandlerFunction,
  type HandlerOptions,
  type RemoteContext,
} from "./work/handler.ts";
export type { WorkEvent } from "./work/events.ts";
export type { RemoteWorker, WorkOptions } from "./work/work.ts";
export {
  defineJob,
  DoNotRetryError,
  PayloadError,
  RetryAfterError,
  type Attempt,
  type Explanation,
  type Job,
  type JobDefinition,
  type JobOptions,
  type JobStatus,
  type JobSubmission,
  type Json,
  type JsonObject,
  type Queue,
  type Schedule,
} from "@atlasqueue/contract";
