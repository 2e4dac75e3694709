import pino, { type DestinationStream, type Logger } from "pino";
import type { AtlasEvent, EventName, Observe } from "./events.ts";
import type { LogLevel } from "./log-levels.ts";
import { foldOutages, type Clock } from "./outages.ts";

export type { DestinationStream, Logger } from "pino";

type Level = "debug" | "info" | "warn" | "error";

/** Of the others it is `info`. */
const levels: Partial<Record<EventName, Level>> = {
  idempotency_mismatch: "warn",
  lease_not_acquired: "debug",
  lease_lost: "warn",
  handler_error: "warn",
  job_failed: "warn",
  job_dead: "error",
  job_type_unknown: "warn",
  lease_return_failed: "error",
  orphaned_leases_recovered: "warn",
  lease_expired: "warn",
  jobs_promoted: "debug",
  schedule_slots_missed: "warn",
  schedule_failed: "error",
  groups_advanced: "debug",
  groups_failed: "error",
  children_released: "debug",
  outbox_failed: "error",
  follow_up_failed: "error",
  promotion_failed: "warn",
  stats_write_failed: "warn",
  sweep_complete: "debug",
  signal_failed: "warn",
  redis_shared: "error",
  database_unavailable: "error",
  prepared_statements_disabled: "warn",
  database_url_parameters_ignored: "warn",
  rate_limit_degraded: "warn",
  rate_limited: "debug",
  token_refused: "debug",
  sign_in_throttled: "debug",
  audit_write_failed: "error",
  provision_refused: "warn",
  provision_throttled: "debug",
  process_not_started: "error",
  http_probe: "debug",
};

const levelOf = ({ event }: AtlasEvent): Level => levels[event] ?? "info";

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
    const level = note?.outage === "is_over" ? "info" : levelOf(event);
    if (logger.isLevelEnabled(level)) logger[level](note ? { ...event, ...note } : event, event.event);
  }, clock);
  return (event) => {
    if (logger.isLevelEnabled(levelOf(event))) fold(event);
  };
}
