import pino, { type DestinationStream, type Logger } from "pino";
import type { EventName, Observe } from "./events.ts";
import type { LogLevel } from "./log-levels.ts";
import { foldOutages, type Clock } from "./outages.ts";

export type { DestinationStream, Logger } from "pino";

type Level = "debug" | "info" | "warn" | "error";

const levels: Record<EventName, Level> = {
  job_created: "info",
  idempotent_submission: "info",
  idempotency_mismatch: "warn",
  unique_conflict: "info",
  job_enqueued: "info",
  lease_acquired: "info",
  lease_not_acquired: "debug",
  lease_lost: "warn",
  handler_start: "info",
  handler_done: "info",
  handler_error: "warn",
  handler_output: "info",
  job_succeeded: "info",
  job_failed: "warn",
  job_dead: "error",
  job_released: "info",
  job_type_unknown: "warn",
  job_parked: "info",
  job_signalled: "info",
  lease_return_failed: "error",
  orphaned_leases_recovered: "warn",
  job_cancelled: "info",
  job_retried: "info",
  jobs_replayed: "info",
  operation_changed: "info",
  jobs_purged: "info",
  jobs_deleted: "info",
  lease_expired: "warn",
  jobs_promoted: "debug",
  jobs_resignalled: "info",
  dead_letters_projected: "info",
  queue_paused: "info",
  queue_resumed: "info",
  schedule_changed: "info",
  schedule_fired: "info",
  schedule_slots_missed: "warn",
  schedule_failed: "error",
  queue_limited: "info",
  groups_advanced: "debug",
  groups_failed: "error",
  children_released: "debug",
  children_revived: "info",
  outbox_failed: "error",
  follow_up_failed: "error",
  promotion_failed: "warn",
  stats_write_failed: "warn",
  jobs_pruned: "info",
  results_cleared: "info",
  sweep_complete: "debug",
  signal_failed: "warn",
  redis_shared: "error",
  database_unavailable: "error",
  prepared_statements_disabled: "warn",
  database_url_parameters_ignored: "warn",
  rate_limit_degraded: "warn",
  rate_limited: "debug",
  token_refused: "debug",
  session_opened: "info",
  session_closed: "info",
  sign_in_throttled: "debug",
  audit_write_failed: "error",
  token_created: "info",
  token_rotated: "info",
  token_revoked: "info",
  provision_refused: "warn",
  provision_throttled: "debug",
  tenant_provisioned: "info",
  worker_started: "info",
  process_not_started: "error",
  worker_draining: "info",
  worker_stopped: "info",
  http_request: "info",
  http_probe: "debug",
};

/** JSON leaves them raw: C1 controls, line ends that some viewers obey, and what turns the text's direction around. */
const misleading = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const escaped = (line: string) =>
  line.replace(misleading, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/**
 * A JSON logger: one line per event, times in ISO 8601. Whatever could forge a second line, or act on a terminal, is
 * escaped in it.
 *
 * @example
 * const logger = createLogger("info", "atlasqueue-api");
 */
export function createLogger(level: LogLevel, service: string, destination?: DestinationStream, tap?: LogTap): Logger {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: escaped },
  };
  if (tap) return pino({ ...options, mixin: tap.fields }, tapped(destination ?? pino.destination(1), tap));
  return destination ? pino(options, destination) : pino(options);
}

/** Someone else who gets each line, and what it adds to those written now. */
export type LogTap = { fields(): Record<string, string>; line(text: string): void };

function tapped(to: DestinationStream & { flush?: (done: () => void) => void }, tap: LogTap) {
  return {
    write(text: string) {
      to.write(text);
      tap.line(text);
    },
    flush: (done: () => void) => (to.flush ? to.flush(done) : done()),
  };
}

/**
 * The process' own stdout, bypassing `process.stdout` and anything that replaces it. Written at once; a reader that has
 * left is not an error.
 */
export function logDestination(): DestinationStream {
  return pino.destination({ fd: 1, sync: true });
}

/**
 * Events as log lines; the event's name is both `event` and the message. Events repeated by an outage are one line when
 * it begins, one a minute and one when it is over (`outages.ts`).
 */
export function logEvents(logger: Logger, clock?: Clock): Observe {
  const fold = foldOutages((event, note) => {
    const level = note?.outage === "is_over" ? "info" : levels[event.event];
    if (logger.isLevelEnabled(level)) logger[level](note ? { ...event, ...note } : event, event.event);
  }, clock);
  return (event) => {
    if (logger.isLevelEnabled(levels[event.event])) fold(event);
  };
}
