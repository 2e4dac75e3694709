import { showValue, type Fault } from "@atlasqueue/contract";
import { Cron } from "croner";

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
  const times = parse(cron, timezone);
  return {
    after: (instant, count) => times.nextRuns(count, instant),
    upTo(instant, count, from) {
      const found: Date[] = [];
      for (let at = instant.getTime(); found.length < count;) {
        // The library's are before a whole second.
        const [slot] = times.previousRuns(1, new Date((Math.floor(at / 1_000) + 1) * 1_000));
        if (!slot || (from && slot < from)) break;
        found.unshift(slot);
        at = slot.getTime() - 1;
      }
      return found;
    },
  };
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

function parse(cron: string, timezone: string): Cron {
  try {
    const times = new Cron(cron, { timezone, mode: "5-part", fixedTimeRule: "no-wildcard" });
    if (times.nextRun(anInstant)) return times;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CronError(reason.replace(/^Cron\w+: /, ""), { cause: error });
  }
  throw new CronError("no date ever fits");
}

/** Any will do: what fits no date after it fits none at all. */
const anInstant = new Date("2026-01-01T00:00:00Z");
