import { fewNames } from "@atlasqueue/contract";
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { AtlasEvent, EventName, Observe } from "./events.ts";

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
  // It measures the event loop with a timer, which at the default of 10 ms was most of what an idle process cost, and at
  // 50 ms a third. What it calls lag is the time between firings, so 250 ms means "none".
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 250 });
  const registers = [registry];
  const counter = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `atlasqueue_${name}`, help, labelNames, registers });
  const byType = (name: string, help: string) => {
    const one = counter(name, help, "job_type");
    return (job_type: string) => one.inc({ job_type });
  };

  const submitted = byType("jobs_submitted_total", "Jobs created");
  const idempotent = byType("jobs_idempotent_total", "Submissions answered with the job of an earlier one");
  const succeeded = byType("jobs_succeeded_total", "Jobs that succeeded");
  const failed = byType("jobs_failed_total", "Attempts that failed");
  const dead = byType("jobs_dead_total", "Jobs that became dead letters");
  const retried = counter("jobs_retried_total", "Failed jobs that were made ready again when their delay was over");
  const expired = counter("leases_expired_total", "Leases that expired, by what became of the job", "outcome");
  const sweeps = counter("sweeps_total", "Sweeps by this process: of a fleet's, one every 1.2 to 2 seconds");
  const slotsFired = counter("schedule_slots_fired_total", "Slots of schedules that got their job");
  const schedulesFailed = counter("schedule_failures_total", "Schedules that were due and could not be fired");
  const acquired = counter("lease_acquired_total", "Claims that got the job");
  const rejected = counter("lease_rejected_total", "Claims that found the job taken, finished or gone");
  const lost = counter(
    "lease_lost_total",
    "Renewals and settlements refused, as the lease was another's by then",
    "during",
  );
  const signalErrors = counter("signal_errors_total", "Calls to Redis that failed");
  const databaseErrors = counter("database_errors_total", "Calls to Postgres that failed because it was away");
  const limited = counter("rate_limited_total", "Requests refused for their tenant's rate limit");
  const tokensRefused = counter("tokens_refused_total", "Requests refused for want of a valid token", "reason");
  const active = new Gauge({ name: "atlasqueue_worker_active_jobs", help: "Handlers running now", registers });
  if (workerSlots !== undefined)
    new Gauge({
      name: "atlasqueue_worker_slots",
      help: "Handlers that may run at once",
      registers,
    }).set(workerSlots);
  const jobSeconds = new Histogram({
    name: "atlasqueue_job_duration_seconds",
    help: "Time in the handler",
    labelNames: ["job_type", "outcome"] as const,
    registers,
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
  });
  const requestSeconds = new Histogram({
    name: "atlasqueue_http_request_duration_seconds",
    help: "Time to answer an HTTP request",
    labelNames: ["method", "path_template", "status_code"] as const,
    registers,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const requests = counter("http_requests_total", "HTTP requests answered", "method", "path_template", "status_code");

  type Request = Extract<AtlasEvent, { event: "http_request" }>;
  function request({ duration_ms, method, path_template, status_code }: Omit<Request, "event">): void {
    requestSeconds.observe({ method, path_template, status_code }, duration_ms / 1_000);
    requests.inc({ method, path_template, status_code });
  }

  const nameOf = fewNames(job_types_max, "other");
  const labelOf = ({ tenant, job_type }: { tenant: string; job_type: string }) => nameOf(tenant, job_type);

  const counted: { [Name in EventName]?: (event: Extract<AtlasEvent, { event: Name }>) => void } = {
    job_created: (event) => submitted(labelOf(event)),
    idempotent_submission: (event) => idempotent(labelOf(event)),
    lease_acquired: () => acquired.inc(),
    lease_not_acquired: ({ count }) => rejected.inc(count),
    lease_lost: ({ during }) => lost.inc({ during }),
    handler_start: () => active.inc(),
    handler_done(event) {
      active.dec();
      jobSeconds.observe({ job_type: labelOf(event), outcome: "succeeded" }, event.duration_ms / 1_000);
    },
    handler_error(event) {
      active.dec();
      jobSeconds.observe({ job_type: labelOf(event), outcome: "failed" }, event.duration_ms / 1_000);
    },
    job_succeeded: (event) => succeeded(labelOf(event)),
    job_failed: (event) => failed(labelOf(event)),
    job_dead(event) {
      failed(labelOf(event));
      dead(labelOf(event));
    },
    lease_expired: ({ outcome }) => expired.inc({ outcome }),
    jobs_promoted: (event) => retried.inc(event.retried),
    sweep_complete: () => sweeps.inc(),
    schedule_fired: () => slotsFired.inc(),
    schedule_failed: () => schedulesFailed.inc(),
    signal_failed: () => signalErrors.inc(),
    database_unavailable: () => databaseErrors.inc(),
    rate_limited: () => limited.inc(),
    token_refused: ({ reason }) => tokensRefused.inc({ reason }),
    provision_refused: () => tokensRefused.inc({ reason: "wrong_secret" }),
    sign_in_throttled: () => tokensRefused.inc({ reason: "too_many_sign_ins" }),
    provision_throttled: () => tokensRefused.inc({ reason: "too_many_secrets" }),
    http_probe: request,
    http_request: request,
  };
  const observe = (event: AtlasEvent): void => (counted[event.event] as Observe | undefined)?.(event);
  return { registry, observe };
}

/**
 * The metrics pages of several processes as one: each metric is explained once, and has the lines of all of them, which
 * must differ in a label. Pages are as `registry.metrics()` writes them.
 *
 * @example
 * const page = mergeMetrics([await one.metrics(), await other.metrics()]);
 */
export function mergeMetrics(pages: readonly string[]): string {
  const all = new Map<string, string[]>();
  for (const block of pages.flatMap((page) => page.split("\n\n"))) {
    const [help = "", type = "", ...lines] = block.trim().split("\n");
    const known = all.get(type);
    if (known) known.push(...lines);
    else if (help !== "") all.set(type, [help, type, ...lines]);
  }
  return `${[...all.values()].map((lines) => lines.join("\n")).join("\n\n")}\n`;
}
