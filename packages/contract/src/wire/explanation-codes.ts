/** What a code means, and what a person can do about it. */
export type ExplanationText = { meaning: string; fix: string };

/** Why a job is not running now, by the code that the API returns. */
export const explanations = {
  scheduled: {
    meaning: "The job waits for its `run_at`, or was released for later.",
    fix: "Wait, or submit it without `run_at` and `delay_seconds`.",
  },
  pending_commit: {
    meaning: "The job was submitted inside a transaction and is not queued yet.",
    fix: "Wait two seconds. If it stays, check that an API or a worker runs.",
  },
  blocked: {
    meaning: "Another job of the same group must finish first.",
    fix: "Look at that job. Retry, cancel or wait for it.",
  },
  waiting_for_parents: {
    meaning: "The job depends on jobs that have not finished.",
    fix: "Retry or cancel the parents that failed.",
  },
  queue_paused: { meaning: "The queue is paused.", fix: "Resume the queue." },
  queue_full: {
    meaning: "The queue runs as many jobs at once as its `concurrency` allows.",
    fix: "Wait for a job to finish, or raise `concurrency`.",
  },
  rate_reached: {
    meaning: "The queue has started as many jobs in this period as its `rate` allows.",
    fix: "Wait for the period to end, or raise `rate`.",
  },
  group_rate_reached: {
    meaning: "The group has started as many jobs in this period as `group_rate` allows.",
    fix: "Wait for the period to end, or raise `group_rate`.",
  },
  no_worker: {
    meaning: "No running worker takes jobs of this queue and type. HTTP workers aren't listed.",
    fix: "Start a worker with the queue in `WORKER_QUEUES` and a handler for the type.",
  },
  waiting_for_worker: {
    meaning: "The job is next, and no worker has leased it yet.",
    fix: "Start more workers, or raise their `WORKER_CONCURRENCY`.",
  },
  waiting_in_queue: {
    meaning: "Other jobs of the queue come first.",
    fix: "Wait, start more workers, or submit urgent jobs with a higher `priority`.",
  },
  waiting_for_retry: {
    meaning: "An attempt failed, and the next one is due later.",
    fix: "Read the error. Retry the job to run it now.",
  },
  waiting_for_signal: {
    meaning: "The handler waits for a signal.",
    fix: "Send the signal, or wait for its timeout.",
  },
  running: { meaning: "A worker runs the job.", fix: "Nothing to do." },
  lease_expired: {
    meaning: "The worker stopped renewing its lease. The sweep takes the job back within seconds.",
    fix: "Check the worker's log if it happens often.",
  },
  expired: {
    meaning: "No attempt began within the job's `expires_in`, so it was cancelled.",
    fix: "Retry it to run it after all. Start more workers if it happens often.",
  },
  superseded: {
    meaning: "Another job with the same key took its place, so it never ran.",
    fix: "Look at the job that `last_error` names.",
  },
  parent_failed: {
    meaning: "A job that it depends on failed or was cancelled, so it was cancelled too.",
    fix: "Retry the flow.",
  },
  succeeded: { meaning: "The job has succeeded.", fix: "Nothing to do." },
  cancelled: { meaning: "The job was cancelled.", fix: "Retry it to run it after all." },
  dead: { meaning: "The job failed for good.", fix: "Read the error, fix the cause, and retry the job." },
  attempts_exhausted: {
    meaning: "Every attempt failed.",
    fix: "Read the error, fix the cause, and retry the job.",
  },
  not_retryable: {
    meaning: "The handler reported that a retry is pointless.",
    fix: "Change the payload or the handler, and retry the job.",
  },
  lease_lost: {
    meaning: "The last attempt's lease expired: its worker crashed, froze or was cut off.",
    fix: "Check the worker's memory and logs, and retry the job.",
  },
} as const satisfies Record<string, ExplanationText>;
export type ExplanationCode = keyof typeof explanations;
export const explanationCodes = Object.keys(explanations) as ExplanationCode[];

/** Where the documentation explains a code, on the API's own server. */
export const explanationLink = (code: string): string => `/guide/reference/explain-codes#${code}`;
