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
  const dateAfter = parse(cron);
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
    for (let wall = dateAfter(clock.at(instant)); wall !== undefined; wall = dateAfter(wall)) {
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
      const again = dateAfter(change.after - 1);
      found.push(...(again === undefined ? [] : instantsOf(again)).filter((one) => one >= change.at));
    }
    return found.length === 0 ? undefined : Math.min(...found);
  };

  /** The first `count` after an instant, up to another one. */
  const between = (from: number, to: number, count: number): Date[] => {
    const found: Date[] = [];
    let at = next(from);
    while (at !== undefined && at <= to && found.push(new Date(at)) < count) at = next(at);
    return found;
  };

  return {
    after: (instant, count) => between(instant.getTime(), Infinity, count),
    upTo(instant, count, from) {
      const [first, last] = [from ? from.getTime() - 1 : -Infinity, instant.getTime()];
      // From twice as far back each time, so as to look at no more than some times as many.
      for (let back_ms = 60_000; ; back_ms *= 2) {
        const start = Math.max(first, last - back_ms);
        const found = between(start, last, Infinity);
        if (found.length >= count || start === first) return found.slice(-count);
      }
    },
  };
}

const day_ms = 86_400_000;

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

/**
 * The first time after another one that five fields of cron name, as clocks show it in any zone: UTC's have neither gaps
 * nor repetitions. Undefined when there is none.
 */
function parse(cron: string): (wall: WallTime) => WallTime | undefined {
  let times: Cron;
  try {
    times = new Cron(cron, { utcOffset: 0, mode: "5-part" });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CronError(reason.replace(/^Cron\w+: /, ""), { cause: error });
  }
  if (!times.nextRun(anInstant)) throw new CronError("no date ever fits");
  return (wall) => times.nextRun(new Date(wall))?.getTime();
}

/** Any will do: what fits no date after it fits none at all. */
const anInstant = new Date("2026-01-01T00:00:00Z");
