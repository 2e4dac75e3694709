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
/** This many queues and types are written before their time. */
const cells_max = 2_000;
/** One statement should stay small. */
const rows_max = 4_000;

/**
 * The figures over time: added up in memory as jobs are submitted and settled, and written every few seconds. Nothing
 * waits for it, and while nothing happens there is no timer. Figures that could not be written are lost: a repetition
 * could count them twice.
 * See decisions/2026-11-21-figures.md.
 *
 * @example
 * const rollups = createRollups(deps);
 * rollups.submitted({ tenant: "default", queue: "mails", type: "mail.send" });
 */
export function createRollups(deps: Deps): Rollups {
  const tally = createTally();
  let timer: NodeJS.Timeout | undefined;
  let timer_set_at = 0;
  let flushing: Promise<void> | undefined;

  const write = async (): Promise<void> => {
    const rollups = tally.take();
    for (let from = 0; from < rollups.length; from += rows_max)
      // They are counted in the minute that was halfway.
      await writeRollups(deps, rollups.slice(from, from + rows_max), (performance.now() - timer_set_at) / 2).catch(
        (error: unknown) => deps.observe({ event: "stats_write_failed", error: String(error) }),
      );
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
    timer_set_at = performance.now();
    timer = setTimeout(() => void flush(), flush_ms).unref();
  };
  // Figures that come during a flush wait for the next one.
  const noted = (): void => {
    if (flushing) return;
    if (timer === undefined) later();
    else if (tally.size() >= cells_max) void flush();
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
