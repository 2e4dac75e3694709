/** Why a job is not running now: what the server says, and what a page has words and links for. */
export const explanationCodes = [
  "scheduled",
  "arrived",
  "blocked",
  "queue_paused",
  "queue_full",
  "rate_reached",
  "group_rate_reached",
  "no_worker",
  "waiting_for_worker",
  "jobs_ahead",
  "waiting_for_retry",
  "running",
  "lease_expired",
  "superseded",
  "succeeded",
  "cancelled",
  "dead",
  "attempts_exhausted",
  "not_retryable",
  "lease_lost",
] as const;
export type ExplanationCode = (typeof explanationCodes)[number];
