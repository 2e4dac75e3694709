import { outcomeUnknown } from "../database/errors.ts";
import type { Deps } from "../deps.ts";
import { createTally, type Became, type OfType } from "./tally.ts";
import { writeRollups } from "./write.ts";

export type Rollups = {
  submitted(job: OfType, count?: number): void;
  /** An attempt ended. Its times are NaN where they are not known. */
  ended(job: OfType, became: Became, waited_ms?: number, ran_ms?: number): void;
  /** Writes what is left. Never rejects. */
  stop(): Promise<void>;
};

/** How long figures are kept in memory: at most what a crash of the process loses. */
const flush_ms = 5_000;
/** So many queues and types are written sooner, and at most so many by one statement, which should stay small. */
const cells_max = 2_000;

/**
 * The figures over time: added up in memory by whoever submits and settles, and written every few seconds, those of
 * up to 2,000 queues and types in one statement. Nothing waits for it, and while nothing happens there is no timer. What
 * certainly failed is tried again with the next flush; a statement whose outcome is unknown is given up, as its figures may
 * be there already.
 *
 * @example
 * const rollups = createRollups(deps);
 * rollups.submitted({ tenant: "default", queue: "mails", type: "mail.send" });
 */
export function createRollups(deps: Deps): Rollups {
  const tally = createTally();
  /** When the first of what the tally holds came. */
  let since: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  /** Then what is left waits for the next flush, however much comes to it. */
  let failed = false;

  // What came meanwhile waits for the next flush.
  const write = async (): Promise<void> => {
    const from = since ?? performance.now();
    since = undefined;
    failed = false;
    for (let left = tally.size(); left > 0 && tally.size() > 0 && !failed; left -= cells_max) await writePart(from);
    if (failed) since = from;
  };
  const writePart = async (from: number): Promise<void> => {
    const rollups = tally.take(cells_max);
    try {
      // They are counted in the minute that was halfway.
      await writeRollups(deps, rollups, (performance.now() - from) / 2);
    } catch (error) {
      failed = true;
      const lost = outcomeUnknown(error);
      if (!lost) tally.putBack(rollups);
      deps.observe({ event: "figures_unwritten", lost, error: String(error) });
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    flushing ??= write().finally(() => {
      flushing = undefined;
      if (tally.size() > 0) later();
    });
    return flushing;
  };
  const later = (): void => {
    since ??= performance.now();
    timer = setTimeout(() => void flush(), flush_ms).unref();
  };
  const noted = (): void => {
    if (flushing) return;
    if (timer === undefined) later();
    else if (!failed && tally.size() >= cells_max) void flush();
  };

  return {
    submitted(job, count) {
      tally.submitted(job, count);
      noted();
    },
    ended(job, became, waited_ms, ran_ms) {
      tally.ended(job, became, waited_ms, ran_ms);
      noted();
    },
    async stop() {
      await flushing;
      if (tally.size() > 0) await flush();
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
