import { fewNames } from "@atlasqueue/contract";
import { Counter, Gauge, Registry, collectDefaultMetrics } from "prom-client";
import { Durations, type DurationsOptions } from "./durations.ts";
import type { AtlasEvent, Observe } from "./events.ts";

/**
 * A flood of made-up types must not grow the series: beyond this many, or the tenant's share of them, a type is
 * "other".
 */
const job_types_max = 200;

export type Metrics = { registry: Registry; observe: Observe };

/**
 * Prometheus metrics fed by events. Each process makes one; `registry.metrics()` is what `/metrics` shows.
 * `workerSlots`: where there is a worker, how many handlers may run at once.
 *
 * @example
 * const metrics = createMetrics();
 * const observe = observeAll(logEvents(logger), metrics.observe);
 */
export function createMetrics({ workerSlots }: { workerSlots?: number } = {}): Metrics {
  const registry = new Registry();
  // It measures the event loop with a timer, which at the default of 10 ms was most of what an idle process cost. What
  // it calls lag is the time between firings, so 50 ms means "none".
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 });
  const registers = [registry];
  const byType = (name: string, help: string) => {
    const counts = new Map<string, number>();
    const counter = new Counter({
      name: `atlasqueue_${name}`,
      help,
      labelNames: ["job_type"] as const,
      registers: [],
      // Counted in a map and handed over when read: a labelled increment costs as much as a small handler.
      collect() {
        this.reset();
        for (const [job_type, count] of counts) this.inc({ job_type }, count);
      },
    });
    registry.registerMetric(counter);
    return (job_type: string) => void counts.set(job_type, (counts.get(job_type) ?? 0) + 1);
  };
  const durations = <Label extends string>(options: DurationsOptions<Label>) => {
    const one = new Durations(options);
    registry.registerMetric(one);
    return one;
  };
  const plain = (name: string, help: string) => new Counter({ name: `atlasqueue_${name}`, help, registers });

  const submitted = byType("jobs_submitted_total", "Jobs created");
  const idempotent = byType("jobs_idempotent_total", "Submissions answered with the job of an earlier one");
  const succeeded = byType("jobs_succeeded_total", "Jobs that succeeded");
  const failed = byType("jobs_failed_total", "Attempts that failed");
  const dead = byType("jobs_dead_total", "Jobs that became dead letters");
  const retried = plain("jobs_retried_total", "Failed jobs that were made ready again when their delay was over");
  const expired = new Counter({
    name: "atlasqueue_leases_expired_total",
    help: "Leases that ended without a word of their worker, by what became of the job",
    labelNames: ["outcome"] as const,
    registers,
  });
  const sweeps = plain("sweeps_total", "Sweeps by this process: of a fleet's, one about every 1.2 seconds");
  const slotsFired = plain("schedule_slots_fired_total", "Slots of schedules that got their job");
  const schedulesFailed = plain("schedule_failures_total", "Schedules that were due and could not be fired");
  const acquired = plain("lease_acquired_total", "Claims that got the job");
  const rejected = plain("lease_rejected_total", "Claims that found the job taken, finished or gone");
  const lost = new Counter({
    name: "atlasqueue_lease_lost_total",
    help: "Renewals and settlements refused, as the lease was another's by then",
    labelNames: ["during"] as const,
    registers,
  });
  const signalErrors = plain("signal_errors_total", "Calls to Redis that failed");
  const databaseErrors = plain("database_errors_total", "Calls to Postgres that failed because it was away");
  const limited = plain("rate_limited_total", "Requests refused for their tenant's rate limit");
  const tokensRefused = new Counter({
    name: "atlasqueue_tokens_refused_total",
    help: "Requests refused for want of a valid token",
    labelNames: ["reason"] as const,
    registers,
  });
  const active = new Gauge({ name: "atlasqueue_worker_active_jobs", help: "Handlers running now", registers });
  if (workerSlots !== undefined)
    new Gauge({
      name: "atlasqueue_worker_slots",
      help: "Handlers that may run at once",
      registers,
    }).set(workerSlots);
  const jobSeconds = durations({
    name: "atlasqueue_job_duration_seconds",
    help: "Time in the handler",
    labelNames: ["job_type", "outcome"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
  });
  const requestSeconds = durations({
    name: "atlasqueue_http_request_duration_seconds",
    help: "Time to answer an HTTP request",
    labelNames: ["method", "path_template", "status_code"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const requests = new Counter({
    name: "atlasqueue_http_requests_total",
    help: "HTTP requests answered",
    labelNames: ["method", "path_template", "status_code"] as const,
    registers: [],
    collect() {
      this.reset();
      for (const { labels, count } of requestSeconds.totals()) this.inc(labels, count);
    },
  });
  registry.registerMetric(requests);

  const nameOf = fewNames(job_types_max, "other");
  const labelOf = ({ tenant, job_type }: { tenant: string; job_type: string }) => nameOf(tenant, job_type);

  const observe = (event: AtlasEvent): void => {
    switch (event.event) {
      case "job_created":
        return submitted(labelOf(event));
      case "idempotent_submission":
        return idempotent(labelOf(event));
      case "lease_acquired":
        return acquired.inc();
      case "lease_not_acquired":
        return rejected.inc(event.count);
      case "lease_lost":
        return lost.inc({ during: event.during });
      case "handler_start":
        return active.inc();
      case "handler_done":
        active.dec();
        return jobSeconds.add(event.duration_ms / 1_000, labelOf(event), "succeeded");
      case "handler_error":
        active.dec();
        return jobSeconds.add(event.duration_ms / 1_000, labelOf(event), "failed");
      case "job_succeeded":
        return succeeded(labelOf(event));
      case "job_failed":
        return failed(labelOf(event));
      case "job_dead":
        failed(labelOf(event));
        return dead(labelOf(event));
      case "lease_expired":
        return expired.inc({ outcome: event.outcome });
      case "jobs_promoted":
        return retried.inc(event.retried);
      case "sweep_complete":
        return sweeps.inc();
      case "schedule_fired":
        return slotsFired.inc();
      case "schedule_failed":
        return schedulesFailed.inc();
      case "signal_failed":
        return signalErrors.inc();
      case "database_unavailable":
        return databaseErrors.inc();
      case "rate_limited":
        return limited.inc();
      case "token_refused":
        return tokensRefused.inc({ reason: event.reason });
      case "provision_refused":
        return tokensRefused.inc({ reason: "wrong_secret" });
      case "sign_in_throttled":
        return tokensRefused.inc({ reason: "too_many_sign_ins" });
      case "provision_throttled":
        return tokensRefused.inc({ reason: "too_many_secrets" });
      case "http_probe":
      case "http_request":
        return requestSeconds.add(event.duration_ms / 1_000, event.method, event.path_template, event.status_code);
      case "prepared_statements_off":
      case "database_url_parameters_ignored":
      case "idempotency_mismatch":
      case "unique_conflict":
      case "job_enqueued":
      case "job_released":
      case "job_type_unknown":
      case "job_parked":
      case "job_signalled":
      case "handler_output":
      case "lease_return_failed":
      case "leases_adopted":
      case "job_cancelled":
      case "job_retried":
      case "jobs_replayed":
      case "operation_changed":
      case "jobs_purged":
      case "jobs_deleted":
      case "jobs_resignalled":
      case "dead_letters_projected":
      case "queue_paused":
      case "queue_resumed":
      case "schedule_changed":
      case "schedule_slots_missed":
      case "promotion_failed":
      case "queue_limited":
      case "refill_failed":
      case "groups_advanced":
      case "groups_failed":
      case "children_released":
      case "children_revived":
      case "outbox_failed":
      case "follow_up_failed":
      case "figures_unwritten":
      case "jobs_pruned":
      case "results_cleared":
      case "worker_started":
      case "process_not_started":
      case "worker_draining":
      case "worker_stopped":
      case "rate_limit_unshared":
      case "redis_shared":
      case "audit_lost":
      case "session_opened":
      case "session_closed":
      case "token_created":
      case "token_rotated":
      case "token_revoked":
      case "tenant_provisioned":
        return;
      default:
        event satisfies never;
    }
  };
  return { registry, observe };
}
