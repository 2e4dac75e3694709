import type { JobStatus, Operation } from "@atlasqueue/contract";

/** `trace_id` and `span_id`: where it was submitted, if that is known. */
type OfJob = {
  job_id: string;
  job_type: string;
  queue: string;
  tenant: string;
  trace_id?: string;
  span_id?: string;
};
export type OfAttempt = OfJob & { attempt: number; worker_id: string };

type OfRequest = {
  /** The API's own. */
  request_id: string;
  /** The caller's `X-Request-ID`, if it is another one. */
  caller_request_id?: string;
  /** Whose token it showed, even if that was refused. */
  token_id?: string;
  tenant?: string;
  client_address: string;
  method: string;
  path_template: string;
  path: string;
  status_code: number;
  duration_ms: number;
};

type OfSchedule = { tenant: string; schedule: string };
type ScheduleChange = "created" | "replaced" | "paused" | "resumed" | "deleted";

/** Everything worth reporting, once. A transition emits one; observers turn it into log lines and metrics. */
export type AtlasEvent =
  | ({ event: "job_created"; status: JobStatus } & OfJob)
  | ({ event: "idempotent_submission" } & OfJob)
  | ({ event: "idempotency_mismatch" } & Omit<OfJob, "job_id">)
  | ({ event: "unique_conflict"; answer: "returned" | "replaced" | "rejected" } & OfJob)
  | { event: "job_enqueued"; queue: string; count: number }
  | ({ event: "lease_acquired" } & OfAttempt)
  | { event: "lease_not_acquired"; count: number; worker_id: string }
  | ({ event: "lease_lost"; during: "start" | "renewal" | "step" | "settling" } & OfAttempt)
  | ({ event: "handler_start" } & OfAttempt)
  | ({ event: "handler_done"; duration_ms: number } & OfAttempt)
  | ({ event: "handler_error"; duration_ms: number; error: string } & OfAttempt)
  /** A line a handler wrote to stdout or stderr itself. */
  | ({ event: "handler_output"; stream: "stdout" | "stderr"; line: string } & OfAttempt)
  | ({ event: "job_succeeded" } & OfAttempt)
  | ({ event: "job_failed"; error: string; retry_in_ms: number } & OfAttempt)
  | ({ event: "job_dead"; error: string; reason: string } & OfAttempt)
  | ({ event: "job_released" } & OfAttempt)
  | ({ event: "job_type_unknown" } & OfAttempt)
  /** Its handler waits for a signal; the attempt was given back. */
  | ({ event: "job_parked"; waits_for: string; until: string } & OfAttempt)
  /** `woken`: it was parked for this signal, and is queued. */
  | ({ event: "job_signalled"; signal: string; woken: boolean } & OfJob)
  /** They were running without a claim's row, so no sweep would have looked at them. */
  | { event: "orphaned_leases_recovered"; count: number }
  | { event: "lease_return_failed"; error: string }
  | ({ event: "job_cancelled"; was: JobStatus } & OfJob)
  | ({ event: "job_retried"; was: JobStatus } & OfJob)
  | { event: "jobs_replayed" | "jobs_purged" | "jobs_deleted"; tenant: string; count: number }
  | {
      event: "operation_changed";
      change: "created" | "paused" | "resumed" | "cancelled" | "done";
      tenant: string;
      kind: Operation["kind"];
      operation_id: string;
    }
  | ({ event: "lease_expired"; outcome: "requeued" | "dead" } & OfAttempt)
  | { event: "jobs_promoted"; scheduled: number; retried: number }
  | { event: "jobs_resignalled"; queue: string; count: number }
  | { event: "queue_paused"; tenant: string; queue: string }
  | { event: "queue_resumed"; tenant: string; queue: string }
  | ({ event: "schedule_changed"; change: ScheduleChange } & OfSchedule)
  | ({ event: "schedule_fired"; slot: string; late_ms: number; job_id: string } & OfSchedule)
  /** The slots from `since` up to the next one fired are given up. */
  | ({ event: "schedule_slots_missed"; since: string } & OfSchedule)
  | ({ event: "schedule_failed"; error: string } & OfSchedule)
  | { event: "queue_limited"; tenant: string; queue: string }
  | { event: "queue_defaults_set"; tenant: string; queue: string }
  | { event: "groups_advanced"; count: number }
  | { event: "groups_failed"; error: string }
  /** What they waited for is over. */
  | { event: "children_released"; count: number }
  /** A parent they were cancelled for was replayed. */
  | { event: "children_revived"; count: number }
  | { event: "outbox_failed"; error: string }
  | { event: "follow_up_failed"; error: string }
  | { event: "promotion_failed"; error: string }
  /** Figures over time could not be written, and are lost. */
  | { event: "stats_write_failed"; error: string }
  | { event: "results_cleared"; jobs: number }
  | { event: "jobs_pruned"; jobs: number; keys: number }
  | { event: "dead_letters_projected"; added: number; removed: number }
  | {
      event: "sweep_complete";
      promoted: number;
      fired: number;
      recovered: number;
      resignalled: number;
      duration_ms: number;
    }
  | { event: "signal_failed"; during: string; error: string }
  /** Another database uses this Redis with the same keys. `refused`: it had Redis first, so this one stops using it. */
  | { event: "redis_shared"; reason: string }
  | { event: "database_unavailable"; during: string; error: string }
  /** A pooler between us and the server lost one: from now on this process sends none. */
  | { event: "prepared_statements_disabled" }
  | { event: "database_url_parameters_ignored"; parameters: string[] }
  /** Redis is away, so each process counts on its own until it is back: reported once per outage. */
  | { event: "rate_limit_degraded"; error: string }
  | { event: "rate_limited"; tenant: string }
  /** A caller was refused: `too_many` unknown tokens were looked up a moment ago. */
  | { event: "token_refused"; reason: "missing" | "malformed" | "unknown" | "ended" | "other" }
  | { event: "session_opened" | "session_closed"; tenant: string; token_id: string }
  /** Something was done, and could not be stored in the audit trail: this line is all there is of it. */
  | {
      event: "audit_write_failed";
      tenant: string;
      by: string;
      token_id: string | null;
      action: string;
      target: string | null;
      changed: number | null;
      request_id: string | null;
      address: string | null;
      refused: number | null;
      reason: string;
    }
  | { event: "sign_in_throttled"; network: string }
  | { event: "token_created" | "token_rotated" | "token_revoked"; tenant: string; token_id: string }
  /** A call to /admin/provision had a wrong secret; `throttled`: too many calls, so it was not checked. */
  | { event: "provision_refused" | "provision_throttled"; network: string }
  | { event: "tenant_provisioned"; tenant: string; created: boolean }
  | { event: "worker_started"; worker_id: string; queues: string[]; handlers: string[]; concurrency: number }
  /** The system let it start none for handlers with `isolate`; their jobs go back, with no attempt spent. */
  | { event: "process_not_started"; error: string; retry_in_ms: number }
  | { event: "worker_draining"; worker_id: string; running: number; deadline_ms: number }
  | { event: "worker_stopped"; worker_id: string; released: number }
  | ({ event: "http_request" } & OfRequest)
  /** A health check, or a look at the metrics, that was answered well. */
  | ({ event: "http_probe" } & OfRequest);

export type EventName = AtlasEvent["event"];

/** Takes an event and must not throw: observing never changes what happens to a job. */
export type Observe = (event: AtlasEvent) => void;

/** @example const observe = observeAll(logEvents(logger), metrics.observe); */
export function observeAll(...observers: Observe[]): Observe {
  return (event) => {
    for (const observe of observers) observe(event);
  };
}
