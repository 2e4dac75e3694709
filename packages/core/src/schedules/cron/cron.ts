import { showValue, type Fault } from "@atlasqueue/contract";
import { Cron } from "croner";
import { wallClock, type Change, type WallClock, type WallTime } from "./wall-clock.ts";

/** A schedule's slots, each an instant. */
export type Slots = {
  /** The first `count` after an instant; fewer when there are no more. */
  after(instant: Date, count: number): Date[];
  /** The last `count` up to and including an instant, oldest first, and none before `from`. */
  upTo(instant: Date, count: number, from?: Date): Date[];
};

/**
 * Read five fields of cron in an IANA time zone. Throws `CronError` for what cannot be read or never happens.
 *
 * Day-of-month and day-of-week: when both are given, either is enough. Daylight saving time is as in Vixie cron:
 * - fixed times, whose minute and hour are numbers, lists or ranges: those the clock skips fire right after the gap,
 * together; those it shows twice fire only the first time;
 * - others, with a `*` or a step in the minute or the hour, fire whenever the clock shows them: not at all or twice.
 * A day that a zone left out (Apia, 30 December 2011) has no slots.
 *
 * @example
 * readCron("30 2 * * *", "Europe/Berlin").after(new Date("2026-03-28T12:00:00Z"), 1); // [2026-03-29T01:00:00.000Z], 03:00 there
 */
export function readCron(cron: string, timezone: string): Slots {
  const dates = parse(cron);
  const clock = clockOf(timezone);
  const fixed = !/[*?/]/.test(cron.trim().split(/\s+/, 2).join(" "));

  /** Apia's clocks left out a whole day: that was not daylight saving time, and nothing is made up for. */
  const isNight = ({ before, after }: Change) => Math.abs(after - before) < day_ms;

  /** When a time named by the fields occurs: not at all, once, or twice. */
  const instantsOf = (wall: WallTime): number[] => {
    const instants = clock.instantsOf(wall);
    if (instants.length > 0) return fixed ? instants.slice(0, 1) : instants;
    const gap = gapAround(wall);
    return fixed && gap && isNight(gap) ? [gap.at] : [];
  };
  const gapAround = (wall: WallTime): Change | undefined => {
    // Whatever the offset, the change is within a day of the time read as UTC.
    for (let from = wall - day_ms; ;) {
      const change = clock.changeBetween(from, wall + day_ms);
      if (!change || (change.before <= wall && wall < change.after)) return change;
      from = change.at;
    }
  };

  const next = (instant: number): number | undefined => {
    const found: number[] = [];
    for (let wall = dates.after(clock.at(instant)); wall !== undefined; wall = dates.after(wall)) {
      const first = instantsOf(wall).find((one) => one > instant);
      if (first !== undefined) {
        found.push(first);
        break;
      }
      const gap = clock.instantsOf(wall).length === 0 ? gapAround(wall) : undefined;
      if (gap) wall = gap.after - 1;
    }
    // Times the clocks have already shown and will show again.
    const change = fixed ? undefined : clock.changeBetween(instant, instant + day_ms);
    if (change && change.after < change.before) {
      const again = dates.after(change.after - 1);
      found.push(...(again === undefined ? [] : instantsOf(again)).filter((one) => one >= change.at));
    }
    return found.length === 0 ? undefined : Math.min(...found);
  };

  const last = (instant: number): number | undefined => {
    const found: number[] = [];
    for (let wall = dates.upTo(clock.at(instant)); wall !== undefined; wall = dates.upTo(wall - 1)) {
      const latest = instantsOf(wall).findLast((one) => one <= instant);
      if (latest !== undefined) {
        found.push(latest);
        break;
      }
      const gap = clock.instantsOf(wall).length === 0 ? gapAround(wall) : undefined;
      if (gap) wall = gap.before;
    }
    // Times the clocks showed before they were put back, later ones than they show now.
    const change = clock.changeBetween(instant - day_ms, instant);
    if (change && change.after < change.before) {
      const shown = dates.upTo(change.before - 1);
      found.push(...(shown === undefined ? [] : instantsOf(shown)).filter((one) => one < change.at));
    }
    return found.length === 0 ? undefined : Math.max(...found);
  };

  return {
    after: (instant, count) => walk(instant.getTime(), count, next, 0),
    upTo: (instant, count, from) => walk(instant.getTime(), count, last, -1, from?.getTime()).reverse(),
  };
}

const day_ms = 86_400_000;

/** A number of steps from an instant, down to `end`; each begins at what the last found, or `apart_ms` from it. */
function walk(
  from: number,
  count: number,
  step: (at: number) => number | undefined,
  apart_ms: number,
  end = -Infinity,
): Date[] {
  const found: Date[] = [];
  for (let at = from; found.length < count;) {
    const one = step(at);
    if (one === undefined || one < end) break;
    found.push(new Date(one));
    at = one + apart_ms;
  }
  return found;
}

/** What is wrong with five fields that look like cron, or undefined when a schedule can use them. */
export function cronFault({ cron, timezone }: { cron: string; timezone: string }): Fault | undefined {
  try {
    readCron(cron, timezone);
    return undefined;
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    const message = `must be five fields of cron that some date fits; got ${showValue(cron)}: ${error.message}`;
    return { pointer: "/cron", message };
  }
}

/** The fields or the zone cannot be read, or no date fits them. */
class CronError extends Error {
  override readonly name = "CronError";
}

function clockOf(timezone: string): WallClock {
  try {
    return wallClock(timezone);
  } catch (error) {
    throw new CronError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The times that five fields of cron name, as clocks show them in any zone: UTC's have neither gaps nor repetitions. */
type Calendar = {
  /** The first after a time; undefined when there is none. */
  after(wall: WallTime): WallTime | undefined;
  /** The last up to and including a time. */
  upTo(wall: WallTime): WallTime | undefined;
};

function parse(cron: string): Calendar {
  let times: Cron;
  try {
    times = new Cron(cron, { utcOffset: 0, mode: "5-part" });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CronError(reason.replace(/^Cron\w+: /, ""), { cause: error });
  }
  if (!times.nextRun(anInstant)) throw new CronError("no date ever fits");
  return {
    after: (wall) => times.nextRun(new Date(wall))?.getTime(),
    // The library's are before a whole second.
    upTo: (wall) => times.previousRuns(1, new Date((Math.floor(wall / 1_000) + 1) * 1_000))[0]?.getTime(),
  };
}

/** Any will do: what fits no date after it fits none at all. */
const anInstant = new Date("2026-01-01T00:00:00Z");
