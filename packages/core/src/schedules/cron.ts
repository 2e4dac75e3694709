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
  const dates = parse(cron, timezone);
  return {
    after: (instant, count) => dates.nextRuns(count, instant),
    upTo(instant, count, from = new Date(0)) {
      const found: Date[] = [];
      // Exclusive, and in whole seconds.
      for (let before = new Date((Math.floor(instant.getTime() / 1_000) + 1) * 1_000); found.length < count;) {
        const [one] = dates.previousRuns(1, before);
        if (one === undefined || one < from) break;
        found.push((before = one));
      }
      return found.reverse();
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
  // Days that must fit both fields may be centuries apart, and the library looks at each one.
  if (cron.includes("+")) throw new CronError("a + is not taken: when both days are given, either is enough");
  let dates: Cron;
  try {
    dates = new Cron(cron, { timezone, mode: "5-part", fixedTimeRule: "no-wildcard", paused: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CronError(reason.replace(/^Cron\w+: /, ""), { cause: error });
  }
  if (dates.nextRun(anInstant) === null) throw new CronError("no date ever fits");
  return dates;
}

/** Any will do: what fits no date after it fits none at all. */
const anInstant = new Date(Date.UTC(2026, 0, 1));
