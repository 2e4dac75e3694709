import type { AtlasEvent, EventName, Observe } from "./events.ts";

/** Milliseconds of a clock that never goes back, and timers that use it. */
export type Clock = { now(): number; after(delay_ms: number, call: () => void): void };

/** Added to an outage's lines after the first; `count` is of all its events so far. */
export type OutageNote = {
  outage: "goes_on" | "is_over";
  count: number;
  lasted_ms: number;
  /** How many events came from each activity, where they name one. */
  counts: Record<string, number>;
};

/** After this long without such an event, the outage is over. */
const quiet_ms = 10_000;
const repeat_ms = 60_000;
const activities_max = 50;

/** Events that may come thousands of times a minute: of calls that fail while a server is away, or of a type without a handler. */
const ofOutages: ReadonlySet<EventName> = new Set<EventName>([
  "signal_failed",
  "database_unavailable",
  "rate_limit_degraded",
  "groups_failed",
  "outbox_failed",
  "follow_up_failed",
  "promotion_failed",
  "stats_write_failed",
  "job_type_unknown",
]);

const systemClock: Clock = {
  now: () => performance.now(),
  after: (delay_ms, call) => void setTimeout(call, delay_ms).unref(),
};

type Outage = { began_at: number; last_at: number; told_at: number; last: AtlasEvent } & Pick<
  OutageNote,
  "count" | "counts"
>;

/**
 * Passes events on to `tell`, but of those repeated by an outage only the first, then one a minute with the count, and
 * one when there were none for ten seconds. Each event name has its own outage.
 *
 * @example
 * const observe = foldOutages((event, note) => logger.warn({ ...event, ...note }, event.event));
 */
export function foldOutages(tell: (event: AtlasEvent, note?: OutageNote) => void, clock: Clock = systemClock): Observe {
  const outages = new Map<EventName, Outage>();

  const look = (outage: Outage): void => {
    const now = clock.now();
    const over = now - outage.last_at >= quiet_ms;
    if (over || now - outage.told_at >= repeat_ms) {
      const { count, counts, began_at, last_at, last } = outage;
      tell(last, { outage: over ? "is_over" : "goes_on", count, lasted_ms: Math.round(last_at - began_at), counts });
      outage.told_at = now;
    }
    if (over) outages.delete(outage.last.event);
    else lookLater(outage, now);
  };
  const lookLater = (outage: Outage, now: number): void => {
    const at = Math.min(outage.last_at + quiet_ms, outage.told_at + repeat_ms);
    clock.after(Math.max(1, at - now), () => look(outage));
  };

  return (event) => {
    if (!ofOutages.has(event.event)) return tell(event);
    const now = clock.now();
    const known = outages.get(event.event);
    const outage = known ?? { began_at: now, last_at: now, told_at: now, last: event, count: 0, counts: {} };
    outage.count += 1;
    outage.last = event;
    outage.last_at = now;
    if ("during" in event) addTo(outage.counts, event.during);
    if (known) return;
    outages.set(event.event, outage);
    tell(event);
    lookLater(outage, now);
  };
}

function addTo(counts: Record<string, number>, activity: string): void {
  const name = activity in counts || Object.keys(counts).length < activities_max ? activity : "other";
  counts[name] = (counts[name] ?? 0) + 1;
}
