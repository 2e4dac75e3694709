import type { RunningJobs } from "./running-jobs.ts";

export type ConsumeWatch = ReturnType<typeof watchConsuming>;

/** A step that overruns its time by this much is presumed never to end. */
const late_ms_max = 10_000;

/**
 * Notices a consumer that does not move. Its loop turns after each wait, after each claim, and each second while handlers
 * fill its slots. Claims that keep failing count too, until one is answered, or until a whole turn has gone by without
 * another: others may have taken all jobs.
 */
export function watchConsuming(
  running: Pick<RunningJobs, "concurrency" | "handling">,
  poll_timeout_seconds: number,
  now: () => number = () => performance.now(),
) {
  const turn_ms_max = poll_timeout_seconds * 1_000 + late_ms_max;
  let turned_at = now();
  let failing: { since: number; last: number } | undefined;
  /** Of failures that each came within a turn after the one before. */
  const failingSince = () => (failing && now() - failing.last <= turn_ms_max ? failing.since : undefined);

  return {
    /** The consumer's loop turns. */
    turned: () => void (turned_at = now()),
    /** A claim was answered. */
    claimed: () => void (failing = undefined),
    /** PostgreSQL was unavailable to a claim, or to a look for jobs. */
    failed: () => void (failing = { since: failingSince() ?? now(), last: now() }),
    /** How long it has taken no jobs although it should; 0 while all is well. */
    stuckForMs(): number {
      const keeps_failing = failing !== undefined && failing.last - failing.since > late_ms_max;
      const failing_ms = keeps_failing ? now() - (failingSince() ?? now()) : 0;
      const still_ms = running.handling() < running.concurrency ? now() - turned_at : 0;
      return Math.max(failing_ms, still_ms > turn_ms_max ? still_ms : 0);
    },
  };
}
