export type { ConnectionOptions } from "./connected.ts";
export { FlowProducer, type FlowJob, type FlowJobOptions, type JobNode } from "./flow-producer.ts";
export { Job } from "./jobs/job.ts";
export type { BackoffOptions, DeduplicationOptions, JobsOptions, KeepJobs, RepeatOptions } from "./options/mapping.ts";
export { Queue, type BulkJob, type JobTemplate, type QueueOptions } from "./queue.ts";
export { QueueEvents, type QueueEventsOptions } from "./queue-events.ts";
export { DelayedError, NotSupportedError, UnrecoverableError } from "./options/refused.ts";
export type { JobState, JobType } from "./jobs/states.ts";
export { Worker, type Processor, type RateLimiterOptions, type WorkerOptions } from "./worker.ts";
