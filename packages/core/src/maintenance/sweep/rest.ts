import type { Signal } from "../../signal/signal.ts";
import type { DueSummary } from "../due-summary.ts";

/** From one sweep to the next while there are jobs. */
const period_ms = 1_220;
/** So that the processes of a fleet do not all ask for the turn at once. */
const jitter = 0.1;
/** The longest rest: what only a sweep finds runs "within a second or two". */
export const quiet_period_ms = 2_000;
/** To wake up costs a process more than a sweep that finds nothing, so its quiet cells are swept at the same moments. */
const together_ms = 250;

/**
 * Whether a sweep found no job ready, leased or changed, and wake-ups arrive through Redis. Then each process signals what it
 * commits, and sets a timer for what it delays. So the next sweep finds only what a process left as it died, or what was
 * submitted in SQL. An unknown part may have something.
 */
export function isQuiet(
  { lease_check_in_ms, ...found }: Partial<DueSummary>,
  signal: Pick<Signal, "heard" | "marks_only" | "state">,
): boolean {
  if (!signal.heard || signal.marks_only || signal.state() !== "up") return false;
  const { any_queued, any_changes, any_expired, any_overdue_groups, any_outbox } = found;
  const parts = [any_queued, any_changes, any_expired, any_overdue_groups, any_outbox];
  return lease_check_in_ms === null && parts.every((any) => any === false);
}

/**
 * How long to rest after a sweep that ended at `now`, by `performance.now()`.
 *
 * @example
 * await pause(restMs(isQuiet(found, signal), performance.now()), stop);
 */
export function restMs(quiet: boolean, now: number, random = Math.random): number {
  return quiet ? quiet_period_ms - (now % together_ms) : period_ms * (1 + random() * jitter);
}
