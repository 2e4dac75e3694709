import type {
  Job,
  OpenQueueJob,
  OpenQueueSubmitInput,
  ParentsOfJob,
  Queue,
  SubmitBatchInput,
  SubmitJobInput,
} from "@atlasqueue/contract";

export const exampleId = "01920000-0000-7000-8000-000000000000";
/** Another job's. */
export const exampleOther = "01920000-0000-7000-8000-000000000001";
export const exampleToken = "6f2c1f5e-3c52-4c0e-9d0c-0d6a5a0f9b11";
/** A request that may be sent twice has it. */
export const exampleKey = "order-17";
const created_at = "2030-01-31T12:00:00.000Z";
export const exampleLockedUntil = "2030-01-31T12:00:30.000Z";

export const exampleSubmission: SubmitJobInput = {
  type: "mail.send",
  payload: { to: "a@b.c" },
  queue: "mails",
  max_attempts: 3,
};

export const exampleFlow: SubmitBatchInput = {
  jobs: [
    { ref: "fetch", type: "report.fetch", payload: { month: 1 } },
    { ref: "sum", type: "report.sum", depends_on: ["fetch"], on_parent_failure: "cancel" },
  ],
  then: exampleSubmission,
};

export const exampleJob: Job = {
  id: exampleId,
  type: "mail.send",
  queue: "mails",
  status: "queued",
  priority: 0,
  attempts: 0,
  max_attempts: 3,
  payload: { to: "a@b.c" },
  result: null,
  last_error: null,
  run_at: created_at,
  created_at,
  updated_at: created_at,
  started_at: null,
  finished_at: null,
  expires_at: null,
  group: null,
  tags: null,
  worker_id: null,
  locked_until: null,
  progress: null,
  timeout_seconds: null,
  retention_seconds: null,
  result_ttl_seconds: null,
  dead_reason: null,
  waits_for: null,
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: null,
  flow_id: null,
};

/** Of a job that waited for one other. */
export const exampleParents: ParentsOfJob = {
  parents: { fetch: { id: exampleOther, status: "succeeded", result: { rows: 17 } } },
  parent_counts: { scheduled: 0, blocked: 0, queued: 0, running: 0, failed: 0, succeeded: 1, dead: 0, cancelled: 0 },
  parents_complete: true,
};

export const exampleQueue: Queue = {
  queue: "mails",
  paused: false,
  counts: { scheduled: 3, blocked: 0, queued: 12, running: 4, failed: 1, succeeded: 1_530, dead: 2, cancelled: 0 },
  limits: {
    concurrency: 7,
    group_concurrency: null,
    rate: { limit: 100, period_seconds: 60 },
    group_rate: null,
    fair_by: null,
  },
  defaults: {
    max_attempts: 3,
    backoff: null,
    timeout_seconds: 60,
    retention_seconds: null,
    result_ttl_seconds: null,
  },
  oldest_queued_at: created_at,
};

export const exampleOpenQueueSubmission: OpenQueueSubmitInput = {
  queue_name: "mails",
  payload: { to: "a@b.c" },
  max_retries: 3,
};

export const exampleOpenQueueJob: OpenQueueJob = {
  id: exampleId,
  queue_name: "mails",
  status: "pending",
  priority: 0,
  payload: { to: "a@b.c" },
  result: null,
  error_text: null,
  retry_count: 0,
  max_retries: 3,
  created_at,
  updated_at: created_at,
  started_at: null,
  finished_at: null,
};
