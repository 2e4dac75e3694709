export { faultOfUrl } from "./http/base-url.ts";
export { createCalls, type Calls, type ClientOptions } from "./calls.ts";
export { createClient, type Client } from "./client.ts";
export {
  onlyCounted,
  type DeadLetterCalls,
  type DeadLetterChoice,
  type DeadLetterFilter,
  type DeadLetterTraits,
} from "./resources/dead-letters.ts";
export * from "./errors.ts";
export type { ActOptions, CallOptions } from "./http/transport.ts";
export type { FlowBuilder, FlowLinks, FlowMember, SubmittedFlow } from "./flows/builder.ts";
export type { FlowCalls } from "./resources/flows.ts";
export type { JobCalls, ListFilter, PageFilter, SubmittedJob } from "./resources/jobs.ts";
export type { AckOptions, Held, LeaseCalls, LeasedJob, LeaseOptions, ReleaseOptions } from "./resources/leases.ts";
export type { QueueCalls } from "./resources/queues.ts";
export { gather, waitAll, type ResultOf, type Slot, type WaitedFor } from "./results/gather.ts";
export type { Handle } from "./results/handle.ts";
export type { WaitOptions } from "./results/waits.ts";
export type { ScheduleCalls } from "./resources/schedules.ts";
export type { AuditCalls, AuditFilter } from "./resources/audit.ts";
export type { OperationCalls } from "./resources/operations.ts";
export type { ReplayCalls } from "./resources/replays.ts";
export type { SeriesChoice, StatsCalls } from "./resources/stats.ts";
export type { StepCalls } from "./resources/steps.ts";
export type { SessionCalls } from "./resources/session.ts";
export type { Submitted } from "./resources/submit-many.ts";
export {
  defineBatchHandler,
  defineHandler,
  type Handler,
  type HandlerFunction,
  type HandlerOptions,
  type RemoteContext,
} from "./work/handler.ts";
export type { BatchFunction, BatchJob, BatchOptions, BatchResults } from "@atlasqueue/runtime";
export type { WorkEvent } from "./work/events.ts";
export type { StreamCalls, StreamedJob } from "./streams/submit-stream.ts";
export type { TokenCalls } from "./resources/tokens.ts";
export type { WorkerCalls } from "./resources/workers.ts";
export type { RemoteWorker, WorkOptions } from "./work/work.ts";
export {
  defineJob,
  type BulkJobsAnswer,
  type BulkJobsInput,
  type HeldGroup,
  type HeldGroupPage,
  type DeadGroup,
  type DeadGroupPage,
  DoNotRetryError,
  PayloadError,
  ResultError,
  StepError,
  type JobSteps,
  type SignalWait,
  RetryAfterError,
  SpawnError,
  type Attempt,
  type HandlerMiddleware,
  type SubmitMiddleware,
  type AuditEntry,
  type AuditPage,
  type Explanation,
  type Flow,
  type FlowActAnswer,
  type FlowGraph,
  type FlowJob,
  type FlowPage,
  type FlowState,
  type Job,
  type JobDefinition,
  type JobError,
  type JobOptions,
  type JobWithParents,
  type ParentCounts,
  type ParentPage,
  type ParentResult,
  type JobPage,
  type JobStatus,
  type JobSubmission,
  type Json,
  type JsonObject,
  type LiveEvent,
  type Overview,
  type ProblemNow,
  type OneQueue,
  type Queue,
  type Worker,
  type CreateOperationInput,
  type Operation,
  type OperationPage,
  type OperationPreview,
  type Replay,
  type ReplayPage,
  type ReplayPreview,
  type Schedule,
  type StatsBucket,
  type StatsSeries,
  type Throughput,
  type StatsWindow,
  type Session,
} from "@atlasqueue/contract";
