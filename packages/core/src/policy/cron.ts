import { showValue, type Fault } from "@atlasqueue/contract";
import { Cron } from "croner";

/** A schedule's times, each an instant: the slots. */
export type Slots = {
  /** The first `count` after an instant; fewer when there are no more. */
  after(instant: Date, count: number): Date[];
  /** The last `count` up to an instant, itself included, oldest first. */
  upTo(instant: Date, count: number): Date[];
};

/**
 * Read five fields of cron in an IANA time zone. Throws `CronError` for what cannot be read or never comes.
 *
 * Day-of-month and day-of-week: when both are given, either is enough. Daylight saving time is as in Vixie cron:
 * - fixed times, whose minute and hour are numbers, lists or ranges: those that the clock skips fire when it has
 *   skipped them, together; those that it shows twice fire the first time only;
 * - others, with a `*` or a step in the minute or the hour, fire whenever the clock shows them: not at all or twice.
 * A day that a zone left out (Apia, 30 December 2011) has no slots.
 *
 * @example
 * readCron("30 2 * * *", "Europe/Berlin").after(new Date("2026-03-28T12:00:00Z"), 1); // [2026-03-29T01:00:00.000Z], 03:00 there
 */
export function readCron(cron: string, timezone: string): Slots {
  const pattern = parse(cron, timezone);
  return {
    after: (instant, count) => pattern.nextRuns(count, instant),
    upTo(instant, count) {
      // The library leaves out the reference itself, and counts in whole seconds.
      const past = new Date(instant.getTime() + 1_000);
      const late = pattern.previousRuns(count + 1, past).filter((slot) => slot <= instant);
      return late.slice(0, count).reverse();
    },
  };
}

/** What is wrong with five fields that look like cron, or undefined when a schedule can have them. */
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
  let pattern: Cron;
  let next: Date | null;
  try {
    pattern = new Cron(cron, { timezone, mode: "5-part", fixedTimeRule: "no-wildcard", paused: true });
    next = pattern.nextRun(anInstant);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CronError(reason.replace(/^Cron\w+: /, ""), { cause: error });
  }
  if (next === null) throw new CronError("no date ever fits");
  return pattern;
}

/** What fits no date after this one fits none at all: the calendar repeats itself after 400 years, the library looks further. */
const anInstant = new Date("2026-01-01T00:00:00Z");
